/**
 * Failures as a model reads them: a long message keeps its two ends, and a failure that repeats says so instead of
 * filling the transcript again. The full message stays in the ledger; nothing here touches it.
 */
import { FAILURE_HEAD_CHARS, FAILURE_TAIL_CHARS, FAILURE_WHOLE_CHARS } from './limits.ts'
import { charsOf, firstChars, lastChars } from './text.ts'

export type FailureEvent =
  | { readonly tool: string; readonly message: string }
  | { readonly success: true }

/** The message, or its first 320 and last 128 code points around a count of the rest when it has more than 512. */
export function compactFailure(message: string): string {
  const text = message.toWellFormed()
  const chars = charsOf(text)
  if (chars <= FAILURE_WHOLE_CHARS) return text
  const head = firstChars(text, FAILURE_HEAD_CHARS)
  const tail = lastChars(text, FAILURE_TAIL_CHARS)
  return `${head} [... ${chars - FAILURE_HEAD_CHARS - FAILURE_TAIL_CHARS} chars elided ...] ${tail}`
}

/** What stands for the `times`-th failure in a row of one tool with one message; for `times` >= 2. */
export function repeatedFailure(tool: string | undefined, times: number): string {
  const subject = tool === undefined ? 'the tool' : `tool \`${tool.toWellFormed()}\``
  return `${subject} has failed ${times} consecutive times with the same error; the full error is recorded in the run log`
}

/**
 * Per event the text for the model, null for a success. A failure repeats when tool and full message equal those of the
 * event right before it; a success ends the row.
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
