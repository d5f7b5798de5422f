import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { sumText } from '../../../src/core/text.ts'
import { type ChunkSizes, viewPart } from '../../../src/core/view/view.ts'
import type { ViewSeek } from '../../../src/core/window/take-lines.ts'
import { planWindow, type WindowPlan, windowSteps } from '../../../src/core/window/window.ts'
import type { Chunk } from '../../../src/ledger/ledger.ts'
import { compact, docs, holds, indented, stringInside } from '../../support/json.ts'
import { chunkAt, type Kept, keep } from '../../support/rendered.ts'

/** The window of a value in chunks, and what was asked for to make it. */
function windowOf(
  kept: Kept,
  limitChars: number,
): { readonly plan: WindowPlan | undefined; readonly seeks: readonly ViewSeek[] } {
  const seeks: ViewSeek[] = []
  const steps = windowSteps(kept.plan.view, { limitChars })
  let step = steps.next()
  while (!step.done) {
    seeks.push(step.value)
    const chunk = kept.chunks[chunkAt(kept, step.value)] as Chunk
    step = steps.next(viewPart(chunk, kept.source))
  }
  return { plan: step.value, seeks }
}

const lineText = fc.oneof(
  { weight: 5, arbitrary: fc.constantFrom('', 'a', 'some words', '€😀', '\r', 'a\rb', '\u2028') },
  {
    weight: 2,
    arbitrary: fc
      .tuple(fc.constantFrom('x', '😀', 'é\r'), fc.integer({ min: 900, max: 2_100 }))
      .map(([unit, times]) => unit.repeat(times)),
  },
)
const texts = fc
  .tuple(
    fc.array(fc.tuple(lineText, fc.constantFrom('\n', '\r\n')), { maxLength: 25 }),
    fc.oneof(fc.constant(''), lineText),
  )
  .map(([lines, last]) => lines.flat().join('') + last)
const limits = fc.oneof(fc.nat({ max: 200 }), fc.nat({ max: 9_000 }))
const sizes: fc.Arbitrary<ChunkSizes> = fc.record({
  chunkBytes: fc.oneof(fc.integer({ min: 1, max: 40 }), fc.integer({ min: 100, max: 5_000 })),
  chunkViewBytes: fc.integer({ min: 1, max: 5_000 }),
})

describe('the window of a value in chunks', () => {
  it('is that of its text, however it is cut', () => {
    holds(
      fc.property(texts, limits, sizes, (text, limitChars, small) => {
        const value = Buffer.from(text)
        const kept = keep(value, { form: 'text', start: 0, end: value.length }, small)
        expect(windowOf(kept, limitChars).plan).toEqual(planWindow(value, { limitChars }))
      }),
      600,
    )
  })

  it('is that of its view: of a string, which is decoded, and of JSON, which is indented', () => {
    const inside = fc
      .array(
        fc.oneof(stringInside, fc.constantFrom('\\r\\n', '\\n', '\\u000d\\u000A', 'x'.repeat(700))),
        { maxLength: 20 },
      )
      .map((parts) => parts.join(''))
    holds(
      fc.property(inside, docs(), limits, sizes, (token, doc, limitChars, small) => {
        const string = Buffer.from(`{"message":"${token}","attempts":1}`)
        const source = { form: 'string', start: 12, end: 12 + Buffer.byteLength(token) } as const
        const decoded = (JSON.parse(`"${token}"`) as string).toWellFormed()
        const json = Buffer.from(compact(doc))
        const all = { form: 'json', start: 0, end: json.length } as const
        for (const [kept, view] of [
          [keep(string, source, small), decoded],
          [keep(json, all, small), indented(doc)],
        ] as const) {
          const whole = planWindow(Buffer.from(view), { limitChars })
          expect(windowOf(kept, limitChars).plan).toEqual(whole)
        }
      }),
      600,
    )
  })

  it('asks for no more parts of a text that is a thousand times as long', () => {
    const long = `${'y'.repeat(300_000)}\r\n`
    for (const lines of [5, 5_000]) {
      const value = Buffer.from(`start\n${long}${'a line of text\n'.repeat(lines * 80)}${long}end`)
      const kept = keep(value, { form: 'text', start: 0, end: value.length })
      const { plan, seeks } = windowOf(kept, 30_000)
      expect(plan?.cut).toMatchObject({ lines: 2, start: 2_006 })
      expect(seeks.length).toBeLessThan(12)
      expect(seeks[0]).toEqual({ char: 0 })
    }
  })
})

describe('a part of a view', () => {
  it('never ends between CR and LF, so that sums of parts are those of the whole', () => {
    const value = Buffer.from('\r\n'.repeat(50))
    const token = Buffer.from(`"${'\\r\\n\\u000D\\u000a'.repeat(25)}"`)
    for (const chunkBytes of [1, 3, 4, 7]) {
      for (const kept of [
        keep(value, { form: 'text', start: 0, end: 100 }, { chunkBytes, chunkViewBytes: 1 }),
        keep(
          token,
          { form: 'string', start: 1, end: token.length - 1 },
          { chunkBytes, chunkViewBytes: 1 },
        ),
      ]) {
        const parts = kept.chunks.map((chunk) => viewPart(chunk, kept.source))
        for (const [i, { before }] of parts.entries()) {
          expect(before).toEqual(parts[i - 1]?.after ?? { chars: 0, newlines: 0, crlfs: 0 })
        }
        expect(parts.at(-1)?.after).toEqual(sumText(value))
      }
    }
  })
})
