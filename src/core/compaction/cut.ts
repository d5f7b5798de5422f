/**
 * Decides where a compaction cuts: which messages a summary replaces, and which of them are kept
 * beside it.
 *
 * A tool call is never separated from its results. The reference assumes that one message of
 * results follows each call. Here the kept tail starts at or before the call of every result in it,
 * since OpenAI's parallel results are separate messages. A call that still waits for results is not
 * summarized. Instructions at the start stay in front.
 */
import { decodeRaw } from '../json/strings.ts'
import { approxTokens } from './estimate.ts'
import { kindOf, type Message } from './messages.ts'

/** A cut of a transcript. All numbers are indices of messages. */
export interface Cut {
  /** Summarized messages: `[start, end)`. Messages before `start` are instructions. */
  readonly start: number
  /** Start of the kept tail; the number of messages when none is kept. */
  readonly end: number
  /** User turns of the summarized range that are kept, ascending. */
  readonly preserved: readonly number[]
  /**
   * True when everything was summarized, because nothing comes before the last call and its
   * results.
   */
  readonly splitTurn: boolean
}

/**
 * Finds the cut. `preserveTokens` bounds the kept user turns. Undefined when there is nothing to
 * summarize.
 */
export function findCut(messages: readonly Message[], preserveTokens: number): Cut | undefined {
  const firstOther = messages.findIndex((message) => kindOf(message) !== 'instructions')
  if (firstOther < 0) return undefined
  const tail = tailStart(messages, firstOther)
  const splitTurn = tail === firstOther
  if (splitTurn && !endsComplete(messages)) return undefined
  const end = splitTurn ? messages.length : tail
  const preserved = preservedTurns(messages, { start: firstOther, end, preserveTokens })
  return { start: firstOther, end, preserved, splitTurn }
}

function tailStart(messages: readonly Message[], first: number): number {
  const last = messages.length - 1
  const pair = isKind(messages, last, 'exchange') && isKind(messages, last - 1, 'assistant')
  const owners = ownersOf(messages)
  let tail = pair ? last - 1 : last
  for (let i = last; i >= tail; i--) tail = Math.min(tail, owners[i] as number)
  return Math.max(first, tail)
}

/** For each message, the earliest message with a call that it answers, or its own index. */
function ownersOf(messages: readonly Message[]): readonly number[] {
  const callers = new Map<string, number>()
  return messages.map(({ calls, results }, index) => {
    const answered = results.map(({ id }) => (id && callers.get(decodeRaw(id))) ?? index)
    for (const { id } of calls) if (id !== undefined) callers.set(id, index)
    return answered.reduce((earliest, caller) => Math.min(earliest, caller), index)
  })
}

/** Whether the transcript ends with tool results and none is missing. */
function endsComplete(messages: readonly Message[]): boolean {
  if (!isKind(messages, messages.length - 1, 'exchange')) return false
  const caller = messages.findLastIndex((message) => kindOf(message) === 'assistant')
  const answered = new Set<string>()
  for (const { results } of messages.slice(caller + 1)) {
    for (const { id } of results) if (id !== undefined) answered.add(decodeRaw(id))
  }
  const calls = messages[caller]?.calls ?? []
  return calls.every(({ id }) => id === undefined || answered.has(id))
}

/**
 * User turns to keep: newest first while they fit. The newest is always kept; none after the budget
 * is spent.
 */
function preservedTurns(
  messages: readonly Message[],
  range: { readonly start: number; readonly end: number; readonly preserveTokens: number },
): readonly number[] {
  const kept: number[] = []
  let left = range.preserveTokens
  for (let i = range.end - 1; i >= range.start; i--) {
    const message = messages[i] as Message
    if (!isTurn(message)) continue
    const tokens = approxTokens(message.text)
    if (kept.length > 0 && tokens > left) break
    kept.push(i)
    left -= tokens
    if (left <= 0) break
  }
  return kept.reverse()
}

/** Whether a message counts as a user turn. Instructions in the middle of a transcript do. */
function isTurn(message: Message): boolean {
  const kind = kindOf(message)
  return kind === 'user' || kind === 'instructions'
}

function isKind(messages: readonly Message[], index: number, kind: string): boolean {
  const message = messages[index]
  return message !== undefined && kindOf(message) === kind
}
