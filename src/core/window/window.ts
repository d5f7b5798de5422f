/**
 * The window of an over-long text: whole lines from its start and its end, and one line that says
 * which lines were left out and the recall call that returns them. Works on bytes and decodes only
 * what it shows; see `take-lines.ts`.
 *
 * Line ends inside a window are `\n`, and the final one is dropped; the ledger keeps the text as it
 * came. Parity: window.rs, `vectors/window.jsonl.gz`.
 */
import { VERBATIM_CHARS, WINDOW_FIFTHS, WINDOW_HEAD_FIFTHS } from '../limits.ts'
import { sumText } from '../text.ts'
import {
  linesIn,
  type Shown,
  type Steps,
  type Taken,
  takeHead,
  takeTail,
  type ViewPart,
  type ViewSize,
} from './take-lines.ts'

const LF = 0x0a

/**
 * Lines left out: 1-based and inclusive; `chars` counts their characters and one for each line end.
 */
export interface Omitted {
  readonly start_line: number
  readonly end_line: number
  readonly chars: number
}

/**
 * From the first character that a shortened line does not show to the end of the last shortened
 * line; half-open.
 */
export interface CutLines {
  readonly lines: number
  readonly start: number
  readonly end: number
}

/** Lines as they are shown, joined by `\n`. */
export interface WindowLines {
  readonly text: string
  readonly lines: number
  /** Of the text. */
  readonly chars: number
}

/**
 * Notes stand between `head` and `tail`: in place of the omitted lines or, when there are none,
 * after the last shortened one.
 */
export interface WindowPlan {
  readonly head: WindowLines
  readonly tail: WindowLines
  readonly omitted: Omitted | null
  readonly cut: CutLines | null
}

export interface WindowOptions {
  /** Most characters of a text that is not windowed, and the budget of a window. */
  readonly limitChars?: number
  /** The 1-based number of the text's first line within its evidence; 0 counts as 1. */
  readonly firstLine?: number
}

/**
 * The window of `text` (valid UTF-8), or undefined when it fits whole.
 *
 * @example planWindow(bytes('short')) // undefined
 */
export function planWindow(text: Buffer, options: WindowOptions = {}): WindowPlan | undefined {
  const after = sumText(text)
  const lines = text.at(-1) === LF ? after.newlines : after.newlines + 1
  const whole: ViewPart = { bytes: text, before: { chars: 0, newlines: 0, crlfs: 0 }, after }
  const steps = windowSteps({ chars: after.chars, lines }, options)
  let step = steps.next()
  while (!step.done) step = steps.next(whole)
  return step.value
}

/**
 * Plans the window of a view whose size is known. It asks for the parts that it needs.
 *
 * @example windowSteps({ chars: 5, lines: 1 }, { limitChars: 5 }).next().done // true
 */
export function* windowSteps(
  size: ViewSize,
  { limitChars = VERBATIM_CHARS, firstLine = 1 }: WindowOptions = {},
): Steps<WindowPlan | undefined> {
  if (size.chars <= limitChars) return undefined
  const headBudget = Math.floor((limitChars * WINDOW_HEAD_FIFTHS) / WINDOW_FIFTHS)
  const head = yield* takeHead(size, headBudget)
  const tail = yield* takeTail(size, head.lines, limitChars - headBudget)
  const shown = [...head.shown, ...tail.shown]
  const omitted = omittedLines(size, { head, tail }, Math.max(1, firstLine))
  const notesAt =
    omitted === null ? shown.findLastIndex(({ cut }) => cut !== null) + 1 : head.shown.length
  return {
    head: together(shown.slice(0, notesAt)),
    tail: together(shown.slice(notesAt)),
    omitted,
    cut: cutLines(shown),
  }
}

function together(shown: readonly Shown[]): WindowLines {
  const text = shown.map(({ text }) => text).join('\n')
  // each costs its characters and one, which is the line end that joins it to the next
  const cost = shown.reduce((sum, { cost }) => sum + cost, 0)
  return { text, lines: linesIn(shown), chars: Math.max(0, cost - 1) }
}

/**
 * The window as text. `recallId` is pasted as it is (escape it first); null leaves the recall call
 * out. `cutNote` is a line about shortened lines, which stands with the omission note.
 *
 * @example composeWindow(planWindow(bytes('a\nb\nc\nd'), { limitChars: 5 }), 't').split('\n').length // 3
 */
export function composeWindow(
  { head, tail, omitted }: WindowPlan,
  recallId: string | null,
  cutNote: string | null = null,
): string {
  return [
    ...(head.lines === 0 ? [] : [head.text]),
    ...(omitted === null ? [] : [omissionNote(omitted, recallId)]),
    ...(cutNote === null ? [] : [cutNote]),
    ...(tail.lines === 0 ? [] : [tail.text]),
  ].join('\n')
}

function omissionNote(
  { start_line: start, end_line: end, chars }: Omitted,
  recallId: string | null,
): string {
  const span = start === end ? `line ${start}` : `lines ${start}\u2013${end}`
  const recall =
    recallId === null
      ? ''
      : `; recall {"id": "${recallId}", "range": {"start": ${start}, "end": ${end}}} returns them`
  return `[${span} omitted (${chars} chars)${recall}]`
}

function omittedLines(
  size: ViewSize,
  { head, tail }: { readonly head: Taken; readonly tail: Taken },
  firstLine: number,
): Omitted | null {
  const lines = size.lines - head.lines - tail.lines
  if (lines === 0) return null
  const between = (count: 'chars' | 'newlines' | 'crlfs'): number =>
    tail.edge[count] - head.edge[count]
  const start = firstLine + head.lines
  return {
    start_line: start,
    end_line: start + lines - 1,
    chars: between('chars') - between('newlines') - between('crlfs') + lines,
  }
}

function cutLines(shown: readonly Shown[]): CutLines | null {
  const cuts = shown.flatMap(({ cut }) => (cut === null ? [] : [cut]))
  const [first, last] = [cuts[0], cuts.at(-1)]
  if (first === undefined || last === undefined) return null
  return { lines: cuts.length, start: first.start, end: last.end }
}
