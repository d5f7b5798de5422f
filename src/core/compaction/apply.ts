/**
 * Applies a compaction: replaces the summarized messages by their summary.
 *
 * The new transcript holds the instructions at the start, the kept user turns, the summary as a
 * user message, and the tail. Kept messages are the caller's bytes, without the member
 * `compaction_summary`, which no provider knows. The summary is a message with a string as its
 * content, which every provider takes. Rough counts leave tool results out, as the reference does
 * (vectors: compaction_apply); `estimateMessages` counts them.
 */
import { CoatcheckError } from '../errors.ts'
import { JsonSlice, type Member, membersOf } from '../json/slice.ts'
import { sliceOf, spliceJson } from '../json/splice.ts'
import { decodeRaw, decodeText } from '../json/strings.ts'
import { SUMMARY_FILES, SUMMARY_PREVIEW_CHARS } from '../limits.ts'
import { firstChars } from '../text.ts'
import { type Cut, findCut } from './cut.ts'
import { approxTokens } from './estimate.ts'
import { extractFacts } from './facts.ts'
import { kindOf, type Message, readMessages } from './messages.ts'
import {
  filesOfRendered,
  parseSummary,
  readSummary,
  renderSummary,
  type Summary,
} from './summary.ts'

const OUR_MEMBER = 'compaction_summary'
const OPEN = Buffer.from('{')
const COMMA = Buffer.from(',')
const CLOSE = Buffer.from('}')

/** Source of a message in the new transcript. */
export type TranscriptEntry =
  | { readonly original_index: number }
  | { readonly summary: string; readonly files_touched: readonly string[] }

/** Answer to an applied compaction. */
export interface AppliedCompaction {
  /** False when there was nothing to summarize: the transcript stays as it was. */
  readonly compacted: boolean
  /** Messages that are ready to send, without members of ours. */
  readonly messages: JsonSlice
  readonly transcript: readonly TranscriptEntry[]
  /** Messages that the summary replaces, kept user turns among them included. */
  readonly replaced_items: number
  /** Messages kept before and after the summarized range. */
  readonly preserved_items: number
  readonly preserved_user_turns: number
  readonly split_turn: boolean
  readonly approx_tokens_before: number
  readonly approx_tokens_after: number
  /** The first 200 code points of the summary; null without one. */
  readonly summary_preview: string | null
}

/**
 * Applies a summary: a model's answer as text or JSON string, or the summary object. Throws
 * `invalid_request` when `messages` is no transcript, or the object is no summary.
 *
 * @example applyCompaction(json('[{"role":"user","content":"a"}]'), 0, 'b').compacted // false
 */
export function applyCompaction(
  messages: JsonSlice,
  preserveTokens: number,
  summary: string | JsonSlice,
): AppliedCompaction {
  const read = readMessages(messages)
  const given = summaryFrom(summary)
  const cut = findCut(read, preserveTokens)
  const before = sum(read.map(tokensOf))
  if (cut === undefined) return unchanged(messages, read, before)
  const files = filesTouched(read, cut)
  const text = renderSummary({ ...given, files_touched: files })
  const indices = [...read.keys()]
  const front = [...indices.slice(0, cut.start), ...cut.preserved]
  const tail = indices.slice(cut.end)
  const at = (index: number): Message => read[index] as Message
  return {
    compacted: true,
    messages: sliceOf([
      ...front.map((index) => ready(at(index))),
      { role: 'user', content: text },
      ...tail.map((index) => ready(at(index))),
    ]),
    transcript: [...front.map(entry), { summary: text, files_touched: files }, ...tail.map(entry)],
    replaced_items: cut.end - cut.start,
    preserved_items: cut.start + tail.length,
    preserved_user_turns: cut.preserved.length,
    split_turn: cut.splitTurn,
    approx_tokens_before: before,
    approx_tokens_after:
      sum([...front, ...tail].map((index) => tokensOf(at(index)))) + approxTokens(text),
    summary_preview: firstChars(text, SUMMARY_PREVIEW_CHARS),
  }
}

function unchanged(
  messages: JsonSlice,
  read: readonly Message[],
  tokens: number,
): AppliedCompaction {
  const same = read.every((message) => ready(message) === message.json)
  return {
    compacted: false,
    messages: same ? messages : sliceOf(read.map(ready)),
    transcript: [...read.keys()].map(entry),
    replaced_items: 0,
    preserved_items: read.length,
    preserved_user_turns: 0,
    split_turn: false,
    approx_tokens_before: tokens,
    approx_tokens_after: tokens,
    summary_preview: null,
  }
}

function summaryFrom(summary: string | JsonSlice): Summary {
  if (typeof summary === 'string') return parseSummary(summary)
  if (summary.kind === 'string') return parseSummary(decodeText(summary))
  const read = readSummary(summary)
  if (read !== undefined) return read
  throw new CoatcheckError(
    'invalid_request',
    'summary is neither text nor an object with strings "goal" and "progress" and lists of strings; send the answer of the model as it came.',
  )
}

/** Files of the newest earlier summary, then files that the summarized messages name. */
function filesTouched(messages: readonly Message[], cut: Cut): readonly string[] {
  const earlier = messages.findLast((message) => kindOf(message) === 'summary')
  const carried = earlier?.summary?.files_touched ?? filesOfRendered(earlier?.text ?? '')
  const found = extractFacts(messages.slice(cut.start, cut.end)).files_touched
  return [...new Set([...carried, ...found])].slice(-SUMMARY_FILES)
}

/**
 * A message as a provider takes it: without our member, whose text becomes the content if that is
 * empty.
 */
function ready(message: Message): JsonSlice {
  const members = [...membersOf(message.json)]
  const others = members.filter((member) => decodeRaw(member.key) !== OUR_MEMBER)
  if (others.length === members.length) return message.json
  if (message.text !== '' || message.summary === undefined) return objectOf(others.map(sourceOf))
  const content = spliceJson({ content: renderSummary(message.summary) }).subarray(1, -1)
  const rest = others.filter((member) => decodeRaw(member.key) !== 'content')
  return objectOf([...rest.map(sourceOf), content])
}

function sourceOf({ key, value }: Member): Buffer {
  return key.bytes.subarray(key.start, value.end)
}

function objectOf(members: readonly Buffer[]): JsonSlice {
  const separated = members.flatMap((member, i) => (i === 0 ? [member] : [COMMA, member]))
  return new JsonSlice(Buffer.concat([OPEN, ...separated, CLOSE]))
}

function tokensOf({ text, summary }: Message): number {
  return approxTokens(text === '' && summary !== undefined ? renderSummary(summary) : text)
}

const sum = (numbers: readonly number[]): number => numbers.reduce((total, n) => total + n, 0)

const entry = (index: number): TranscriptEntry => ({ original_index: index })
