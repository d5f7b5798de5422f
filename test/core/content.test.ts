import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  type ContentPlan,
  composeContent,
  type HintKind,
  planShown,
  type ResultNames,
  shownChars,
} from '../../src/core/content.ts'
import { repeatedFailure } from '../../src/core/failures.ts'
import { FAILURE_WHOLE_CHARS } from '../../src/core/limits.ts'
import { charsOf } from '../../src/core/text.ts'
import { planWindow } from '../../src/core/window/window.ts'

const SEED = 20_260_102
const text = fc.string({ unit: 'binary', maxLength: 40 })
const hint = fc.constantFrom<HintKind>('reference', 'raw_read', 'recall')
const names: fc.Arbitrary<ResultNames> = fc.record({
  number: fc.integer({ min: 1, max: 2_000 }),
  recallName: fc.oneof(text, fc.constantFrom('r1', '"\\\n', '\ud800', '🦊')),
  repeats: fc.oneof(fc.constant(1), fc.integer({ min: 2, max: 12 })),
})

/** Lines of which some are longer than a window shows of one. */
const windowed: fc.Arbitrary<ContentPlan> = fc
  .tuple(
    fc.array(fc.tuple(text, fc.constantFrom(1, 1, 1, 900)), { minLength: 1, maxLength: 60 }),
    fc.constantFrom(400, 12_000),
  )
  .map(([parts, limitChars]): ContentPlan => {
    const lines = parts.map(([line, times]) => line.replaceAll('\n', ' ').repeat(times))
    const bytes = Buffer.from(lines.join('\n'))
    const window = planWindow(bytes, { limitChars })
    return window === undefined
      ? { rendering: 'verbatim', text: bytes.toString() }
      : { rendering: 'window', window }
  })

const tool = fc.oneof(text, fc.constant('search'))
const failed: fc.Arbitrary<ContentPlan> = fc
  .record({ tool, message: text, times: fc.constantFrom(1, 90), note: fc.nat(12) })
  .map(({ tool, message, times, note }) => ({
    rendering: 'compacted',
    tool,
    // now and then what a repeat would say
    message: note > 1 && times === 1 ? repeatedFailure(tool, note) : message.repeat(times),
  }))

const plan: fc.Arbitrary<ContentPlan> = fc.oneof(
  text.map((text): ContentPlan => ({ rendering: 'verbatim', text })),
  fc.constantFrom<ContentPlan>({ rendering: 'preview' }, { rendering: 'none' }),
  windowed,
  failed,
)

describe('a content', () => {
  const names: ResultNames = { number: 7, recallName: 'a"b', repeats: 1 }
  const compose = (plan: ContentPlan, hint: HintKind = 'reference', repeats = 1) =>
    composeContent(plan, { names: { ...names, repeats }, preview: ' = P', hint })

  it('of a preview says how to get the whole', () => {
    const texts = (['reference', 'raw_read', 'recall'] as const).map(
      (hint) => compose({ rendering: 'preview' }, hint).content,
    )
    expect(texts).toEqual([
      'r7 = P\n[full value retained this run — pass "$r7" as a tool argument to operate on all of it, or "$r7.<field>" for one field]',
      'r7 = P\n[all bytes kept — a tool argument cannot hold them; GET …/results/r7/value reads them]',
      'r7 = P\n[recall {"id": "a\\"b"} returns it whole]',
    ])
  })

  it('of a window says how to get the rest of its shortened lines', () => {
    const [head, tail] = [
      { text: 'x', lines: 1, chars: 1 },
      { text: 'y', lines: 1, chars: 1 },
    ]
    const window = { head, tail, omitted: null }
    const cut = { lines: 1, start: 5, end: 90 }
    expect(compose({ rendering: 'window', window: { ...window, cut } })).toEqual({
      content:
        'x\n[1 line is cut; recall {"id": "a\\"b", "chars": {"start": 5, "end": 90}} returns the rest]\ny',
      rendering: 'window',
      omitted: null,
    })
    const both = compose({ rendering: 'window', window: { ...window, cut: { ...cut, lines: 2 } } })
    expect(both.content).toContain('\n[2 lines are cut; recall ')
  })

  it('of a failure is its message, or a shorter one and how to get the whole', () => {
    const failed = (message: string, repeats = 1) =>
      compose({ rendering: 'compacted', tool: 't', message }, 'reference', repeats)
    expect(failed('short')).toEqual({ content: 'short', rendering: 'verbatim', omitted: null })
    const note = '\n[recall {"id": "a\\"b"} returns the whole error]'
    for (const shortened of [failed('x'.repeat(600)), failed('short', 2)]) {
      expect(shortened.rendering).toBe('compacted')
      expect(shortened.content?.endsWith(note)).toBe(true)
    }
  })
})

describe('the characters that a content shows', () => {
  it('are counted from the little that is kept of its plan as from the content itself', () => {
    const seen = new Set<string>()
    fc.assert(
      fc.property(plan, names, text, hint, (plan, names, preview, hint) => {
        const { content, rendering } = composeContent(plan, { names, preview, hint })
        seen.add(`${plan.rendering} ${rendering} ${names.repeats > 1}`)
        const shown = planShown(plan, { preview, hint })
        if (shown.rendering === 'window') seen.add(`window with ${shown.recalls} notes`)
        expect(shownChars(shown, names)).toBe(content === null ? 0 : charsOf(content))
      }),
      { numRuns: 4_000, seed: SEED },
    )
    const cases = [
      'verbatim verbatim false',
      'preview preview false',
      'none none false',
      'window with 1 notes',
      'window with 2 notes',
      'compacted verbatim false',
      'compacted verbatim true',
      'compacted compacted false',
      'compacted compacted true',
    ]
    for (const one of cases) expect([...seen]).toContain(one)
  })

  it('take the same few bytes to count however long the content is', () => {
    const long = 'x'.repeat(1_000_000)
    const window = planWindow(Buffer.from(`${long}\n`.repeat(3)), { limitChars: 30_000 })
    const plans: readonly ContentPlan[] = [
      { rendering: 'verbatim', text: long },
      { rendering: 'compacted', tool: 'search', message: long },
      { rendering: 'window', window: window as NonNullable<typeof window> },
    ]
    for (const plan of plans) {
      const shown = planShown(plan, { preview: '', hint: 'recall' })
      expect(JSON.stringify(shown).length).toBeLessThan(FAILURE_WHOLE_CHARS)
    }
  })
})
