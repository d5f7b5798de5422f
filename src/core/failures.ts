/**
 * Failures as a model reads them. A long message keeps its two ends. A repeated failure is replaced
 * by a short note. The full message stays in the ledger.
 */
import { FAILURE_HEAD_CHARS, FAILURE_TAIL_CHARS, FAILURE_WHOLE_CHARS } from './limits.ts'
import { charsOf, firstChars, lastChars } from './text.ts'

/** Outcome of a call, for {@link collapseFailures}. */
export type FailureEvent =
  | { readonly tool: string; readonly message: string }
  | { readonly success: true }

/**
 * The message. One of more than 512 code points is cut to its first 320 and last 128, around a
 * count of the rest.
 */
export function compactFailure(message: string): string {
  const text = message.toWellFormed()
  const chars = charsOf(text)
  if (chars <= FAILURE_WHOLE_CHARS) return text
  const head = firstChars(text, FAILURE_HEAD_CHARS)
  const tail = lastChars(text, FAILURE_TAIL_CHARS)
  return `${head} [... ${chars - FAILURE_HEAD_CHARS - FAILURE_TAIL_CHARS} chars elided ...] ${tail}`
}

/** Note for the `times`-th equal failure of a tool in a row; `times` is at least 2. */
export function repeatedFailure(tool: string | undefined, times: number): string {
  const subject = tool === undefined ? 'the tool' : `tool \`${tool.toWellFormed()}\``
  return `${subject} has failed ${times} consecutive times with the same error; the full error is recorded in the run log`
}

/**
 * For each event the text for the model; null for a success. A failure repeats when its tool and
 * full message equal those of the event before it.
 *
 * @example collapseFailures([{ tool: 't', message: 'm' }, { success: true }]) // ['m', null]
 */
export function collapseFailures(events: readonly FailureEvent[]): readonly (string | null)[] {
  let last: { readonly tool: string; readonly message: string } | undefined
  let times = 0
  return events.map((event) => {
    if ('success' in event) {
      last = undefined
      return null
    }
    const repeats = last?.tool === event.tool && last.message === event.message
    times = repeats ? times + 1 : 1
    last = event
    return repeats ? repeatedFailure(event.tool, times) : compactFailure(event.message)
  })
}
