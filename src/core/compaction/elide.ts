/**
 * Elision: replaces the contents of old tool results by one line each, which names the tool. Every
 * other byte of the messages stays the caller's.
 *
 * The line depends on the name of the call alone. So eliding again changes nothing, and elided
 * results stay the same while results are appended. That does not hold for ids used twice: as in
 * the reference, the last call of an id names all its results.
 */
import type { JsonSlice } from '../json/slice.ts'
import { type Edit, editSlice } from '../json/splice.ts'
import { decodeText, encodeString } from '../json/strings.ts'
import { ELIDE_WHOLE_BYTES } from '../limits.ts'
import { charsOf } from '../text.ts'
import { contentSize, messagesChars, tokensOf } from './estimate.ts'
import { readMessages, toolNameOf, toolNames } from './messages.ts'

/** An elided tool result. */
export interface ElidedResult {
  /** String token of its call's id; null when it had none. */
  readonly tool_use_id: JsonSlice | null
  readonly tool_name: string
  /** Bytes of the content before: of a text, or of compact JSON, images included. */
  readonly bytes: number
}

/** Answer to an elision. */
export interface Elision {
  readonly messages: JsonSlice
  readonly elided: readonly ElidedResult[]
  readonly estimated_tokens: { readonly before: number; readonly after: number }
}

/**
 * Elides all but the `keep` newest tool results. Results of at most 100 bytes stay, and count as
 * kept. `keep: null` keeps all. Throws `invalid_request` when `messages` is no transcript.
 *
 * @example elide(json('[]'), null).elided // []
 */
export function elide(messages: JsonSlice, keep: number | null): Elision {
  const read = readMessages(messages)
  const names = toolNames(read)
  const results = read.flatMap((message) => message.results)
  const old = keep === null ? 0 : Math.max(0, results.length - keep)
  const edits: Edit[] = []
  const elided: ElidedResult[] = []
  /** Code points of compact JSON. */
  let saved = 0
  for (const result of results.slice(0, old)) {
    const { id, content } = result
    if (content === undefined) continue
    const { bytes, compactChars } = contentSize(content)
    if (bytes <= ELIDE_WHOLE_BYTES) continue
    const name = toolNameOf(result, names)
    const marker = `[Previous: used ${name}]`
    // The marker of a long tool name is itself longer than the limit.
    if (bytes === Buffer.byteLength(marker) && isText(content, marker)) continue
    const token = encodeString(marker)
    edits.push({ start: content.start, end: content.end, bytes: Buffer.from(token) })
    saved += compactChars - charsOf(token)
    elided.push({ tool_use_id: id ?? null, tool_name: name, bytes })
  }
  const projected = editSlice(messages, edits)
  const chars = messagesChars(messages)
  const tokens = { before: tokensOf(chars), after: tokensOf(chars - saved) }
  return { messages: projected, elided, estimated_tokens: tokens }
}

const isText = (content: JsonSlice, text: string): boolean =>
  content.kind === 'string' && decodeText(content) === text
