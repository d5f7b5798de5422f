/**
 * Where a compaction cuts: which messages a summary takes the place of, and which of them are kept beside it.
 *
 * A tool call and its results are never torn apart. Beyond the reference, which assumes one message of results after each
 * call, the kept tail reaches back to the call of every result in it (OpenAI's parallel results are messages each), a call
 * that still waits for results is not summarized, and instructions at the start stay in front.
 */
import { decodeRaw } from '../json/strings.ts'
import { approxTokens } from './estimate.ts'
import { kindOf, type Message } from './messages.ts'

export interface Cut {
  /** The messages summarized: `[start, end)`. What is before `start` are instructions. */
  readonly start: number
  /** Where the kept tail starts; the number of messages when none is kept. */
  readonly end: number
  /** The user turns of that range that are kept as they are, ascending. */
  readonly preserved: readonly number[]
  /** True when all was summarized, because there is nothing before the last call and its results. */
  readonly splitTurn: boolean
}

/** Undefined when there is nothing to summarize. */
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

/** Per message the earliest message with a call that it answers, or its own index. */
function ownersOf(messages: readonly Message[]): readonly number[] {
  const callers = new Map<string, number>()
  return messages.map(({ calls, results }, index) => {
    const answered = results.map(({ id }) => (id && callers.get(decodeRaw(id))) ?? index)
    for (const { id } of calls) if (id !== undefined) callers.set(id, index)
    return answered.reduce((earliest, caller) => Math.min(earliest, caller), index)
  })
}

/** Whether the transcript ends with tool results, and none is missing. */
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

/** Newest first while they fit; the newest always, and none after the budget is spent. */
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

/** Instructions in the middle of a transcript are kept as a user's turns are. */
function isTurn(message: Message): boolean {
  const kind = kindOf(message)
  return kind === 'user' || kind === 'instructions'
}

function isKind(messages: readonly Message[], index: number, kind: string): boolean {
  const message = messages[index]
  return message !== undefined && kindOf(message) === kind
}
