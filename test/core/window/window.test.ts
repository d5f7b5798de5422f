import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  composeWindow,
  planWindow,
  type WindowLines,
  type WindowPlan,
} from '../../../src/core/window/window.ts'
import { holds, linesOf, shifted } from '../../support/json.ts'
import { member, NumberToken, sameText, type Tree, text, vectors } from '../../vectors.ts'

const LINE_CHARS = 2_000

function numberOf(tree: Tree): number {
  if (!(tree instanceof NumberToken)) throw new TypeError('not a number')
  return Number(tree.text)
}

/** The window of `content` as text, null when it fits. */
function windowOf(content: string, recallId: string | null, firstLine: number): string | null {
  const plan = planWindow(Buffer.from(content), { firstLine })
  return plan === undefined ? null : composeWindow(plan, recallId)
}

describe('the golden vectors', () => {
  it('of window are met', () => {
    const wrong = [...vectors('window')]
      .filter(({ input, expected }) => {
        const id = member(input, 'recall_id')
        const firstLine = numberOf(member(input, 'first_line'))
        const got = windowOf(
          text(member(input, 'content')),
          id === null ? null : text(id),
          firstLine,
        )
        return expected === null ? got !== null : !sameText(expected, got)
      })
      .map(({ name }) => name)
    expect(wrong).toEqual([])
  })

  it('of bounded are met', () => {
    const wrong = [...vectors('bounded')]
      .filter(({ input, expected }) => {
        const content = text(member(input, 'content'))
        return !sameText(expected, windowOf(content, null, 1) ?? content)
      })
      .map(({ name }) => name)
    expect(wrong).toEqual([])
  })
})

const count = (line: string): number => [...line].length

/** A line as a window must show it. */
function shown(line: string): string {
  const points = [...line]
  if (points.length <= LINE_CHARS) return line
  const rest = points.length - LINE_CHARS
  return `${points.slice(0, LINE_CHARS).join('')} [line continues for ${rest} more chars]`
}

const cost = (lines: readonly string[]): number =>
  lines.reduce((sum, line) => sum + count(shown(line)) + 1, 0)

const line = fc.oneof(
  { weight: 6, arbitrary: fc.constantFrom('', 'a', 'some words', '€😀', '\r', 'a\rb', '\u2028') },
  {
    weight: 1,
    arbitrary: fc
      .tuple(fc.constantFrom('x', '😀', 'é\r'), fc.integer({ min: 900, max: 2_100 }))
      .map(([unit, times]) => unit.repeat(times)),
  },
)
const long = fc
  .array(fc.tuple(line, fc.constantFrom('\n', '\n', '\r\n')), { maxLength: 40 })
  .map((lines) => lines.flat().join(''))
const longTexts = fc.tuple(long, line).map(([start, last]) => start + last)
const limits = fc.oneof(fc.nat({ max: 200 }), fc.nat({ max: 9_000 }))

/** Runs `test` on texts that do not fit, with their plan. */
function holdsForWindows(test: (text: string, plan: WindowPlan, limitChars: number) => void): void {
  holds(
    fc.property(longTexts, limits, fc.nat({ max: 3 }), (content, limitChars, shift) => {
      const plan = planWindow(shifted(Buffer.from(content), shift), { limitChars })
      expect(plan === undefined).toBe(count(content) <= limitChars)
      if (plan !== undefined) test(content, plan, limitChars)
    }),
    600,
  )
}

/** How many of these lines fit in a budget, from the first on. */
function fitting(lines: readonly string[], budgetChars: number): number {
  const end = lines.findIndex((_, i) => cost(lines.slice(0, i + 1)) > budgetChars)
  return end < 0 ? lines.length : end
}

const linesShown = ({ text, lines, chars }: WindowLines): readonly string[] => {
  const shown = lines === 0 ? [] : text.split('\n')
  expect(shown).toHaveLength(lines)
  expect(count(text)).toBe(chars)
  return shown
}

describe('a window', () => {
  it('is head, omitted lines and tail: every line once, whole or shortened', () => {
    holdsForWindows((content, { head, tail, omitted }) => {
      const lines = linesOf(content)
      const rest = lines.slice(head.lines, lines.length - tail.lines)
      expect(linesShown(head)).toEqual(lines.slice(0, head.lines).map(shown))
      expect(linesShown(tail)).toEqual(lines.slice(lines.length - tail.lines).map(shown))
      expect(omitted).toEqual(
        rest.length === 0
          ? null
          : {
              start_line: head.lines + 1,
              end_line: head.lines + rest.length,
              chars: rest.reduce((sum, l) => sum + count(l) + 1, 0),
            },
      )
    })
  })

  it('holds as many lines as fit two fifths at its head, then three fifths at its tail', () => {
    holdsForWindows((content, { head, tail, omitted }, limitChars) => {
      const lines = linesOf(content)
      const headBudget = Math.floor((limitChars * 2) / 5)
      const headLines = fitting(lines, headBudget)
      const rest = lines.slice(headLines).reverse()
      const tailLines = fitting(rest, limitChars - headBudget)
      expect(head.lines + tail.lines).toBe(headLines + tailLines)
      if (omitted !== null) expect(head.lines).toBe(headLines)
    })
  })

  it('tells the chars from the first that a shortened line hides to the last', () => {
    holdsForWindows((content, { head, tail, omitted, cut }) => {
      const lines = linesOf(content)
      const hidden = lines
        .map((l, i) => ({ l, i }))
        .filter(({ l, i }) => {
          return count(l) > LINE_CHARS && (i < head.lines || i >= lines.length - tail.lines)
        })
      const [first, last] = [hidden[0], hidden.at(-1)]
      if (first === undefined || last === undefined) {
        expect(cut).toBeNull()
        return
      }
      expect(cut?.lines).toBe(hidden.length)
      // the note follows the last shortened line
      if (omitted === null) expect(head.lines).toBe(last.i + 1)
      const rest = [...content].slice(cut?.start, cut?.end).join('')
      expect(rest.startsWith([...first.l].slice(LINE_CHARS).join(''))).toBe(true)
      expect(rest.endsWith([...last.l].slice(LINE_CHARS).join(''))).toBe(true)
      expect(linesOf(rest)).toHaveLength(last.i - first.i + 1)
    })
  })

  it('of a single long line omits it when it does not fit, and cuts it when it does', () => {
    const omits = planWindow(Buffer.from('x'.repeat(300)), { limitChars: 200 })
    expect(omits).toEqual({
      head: { text: '', lines: 0, chars: 0 },
      tail: { text: '', lines: 0, chars: 0 },
      omitted: { start_line: 1, end_line: 1, chars: 301 },
      cut: null,
    })
    const cuts = planWindow(Buffer.from('é'.repeat(40_000)))
    expect(cuts?.omitted).toBeNull()
    expect(cuts?.cut).toEqual({ lines: 1, start: 2_000, end: 40_000 })
  })

  it('counts the line end of CRLF as one char, as that of LF', () => {
    const lines = Array.from({ length: 100 }, (_, i) => `row ${i}`)
    const lf = planWindow(Buffer.from(lines.join('\n')), { limitChars: 100 })
    const crlf = planWindow(Buffer.from(lines.join('\r\n')), { limitChars: 100 })
    expect(crlf).toEqual(lf)
    expect(lf?.omitted).toMatchObject({ start_line: 7, end_line: 92 })
  })

  // Fault: each CRLF was looked for by a search of its own.
  it('of five million lines that end with CRLF tells its omitted chars exactly', () => {
    const [lines, limitChars] = [5_000_000, 30_000]
    const plan = planWindow(Buffer.from('x\r\n'.repeat(lines)), { limitChars })
    // each line is two chars: two fifths of the limit at the head, the rest at the tail
    const [head, tail] = [6_000, 9_000]
    expect(plan?.omitted).toEqual({
      start_line: head + 1,
      end_line: lines - tail,
      chars: 2 * (lines - head - tail),
    })
    expect([plan?.head.lines, plan?.tail.lines]).toEqual([head, tail])
  })

  it('numbers its lines within the evidence; a first line of 0 counts as 1', () => {
    const content = Buffer.from('row\n'.repeat(100))
    const plan = planWindow(content, { limitChars: 100, firstLine: 101 })
    expect(plan?.omitted).toEqual({ start_line: 111, end_line: 185, chars: 300 })
    expect(planWindow(content, { limitChars: 100, firstLine: 0 })).toEqual(
      planWindow(content, { limitChars: 100 }),
    )
  })
})

describe('the note', () => {
  const linesOfText = (...lines: string[]): WindowLines => ({
    text: lines.join('\n'),
    lines: lines.length,
    chars: lines.join('\n').length,
  })
  const plan = (start: number, end: number): WindowPlan => ({
    head: linesOfText('a'),
    tail: linesOfText('b', ''),
    omitted: { start_line: start, end_line: end, chars: 12 },
    cut: null,
  })

  it('names the lines that were left out and the call that returns them', () => {
    expect(composeWindow(plan(2, 4), 'call-1')).toBe(
      'a\n[lines 2–4 omitted (12 chars); recall {"id": "call-1", "range": {"start": 2, "end": 4}} returns them]\nb\n',
    )
    expect(composeWindow(plan(2, 2), null)).toBe('a\n[line 2 omitted (12 chars)]\nb\n')
  })

  it('on shortened lines stands with that on omitted ones, or without one in its place', () => {
    const cut = { lines: 1, start: 5, end: 9 }
    expect(composeWindow({ ...plan(2, 2), cut }, null, '[cut]')).toBe(
      'a\n[line 2 omitted (12 chars)]\n[cut]\nb\n',
    )
    const all = { head: linesOfText('a', 'b'), tail: linesOfText('c'), omitted: null, cut }
    expect(composeWindow(all, null, '[cut]')).toBe('a\nb\n[cut]\nc')
    const end = { ...all, tail: linesOfText() }
    expect(composeWindow(end, null, '[cut]')).toBe('a\nb\n[cut]')
    expect(composeWindow(all, null)).toBe('a\nb\nc')
  })

  it('is left out when no line was, but an empty first or last line is not', () => {
    const plan = { head: linesOfText(''), tail: linesOfText(''), omitted: null, cut: null }
    expect(composeWindow(plan, 'x')).toBe('\n')
  })
})
