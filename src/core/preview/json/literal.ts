/**
 * A JSON value written in a line of a preview: compact, strings quoted and escaped, cut with marks
 * where it does not fit.
 */
import { elementsOf, type JsonSlice, membersOf } from '../../json/slice.ts'
import { headBytes } from '../../json/string-ends.ts'
import { decodeRaw } from '../../json/strings.ts'
import { type Excerpt, endsExcerpt, excerpt, MARK, MARK_BYTES, nameExcerpt } from '../excerpt.ts'

/** A name longer than this is cut. */
const NAME_BYTES = 64
const SHORT_TOKEN_BYTES = 512
const SEPARATOR_BYTES = 2
const BRACKETS_BYTES = 2
/** With less room than this, strings are cut to leave some for what follows. */
const AMPLE_BYTES = 240
const LEAST_STRING_BYTES = 32
/** Fewest bytes in which a value is shown. */
const LEAST_BYTES = 8

/** `value` in at most `maxBytes` bytes, or in `…` where there is no room for more. */
export function literal(value: JsonSlice, maxBytes: number): Excerpt {
  switch (value.kind) {
    case 'object':
      return list(membersLiteral(value), '{}', maxBytes)
    case 'array':
      return list(elementsLiteral(value), '[]', maxBytes)
    case 'string':
      return stringLiteral(value, maxBytes)
    default:
      return tokenLiteral(value, maxBytes)
  }
}

/** The text of a string token, quoted; both ends of one that is a little too long. */
export function stringLiteral(token: JsonSlice, maxBytes: number): Excerpt {
  if (token.end - token.start <= SHORT_TOKEN_BYTES) return endsExcerpt(decodeRaw(token), maxBytes)
  const head = headBytes(token, maxBytes)
  const isAll = head.length <= maxBytes
  // A torn end is outside of what can be shown.
  return excerpt(
    head.toString('utf8', 0, isAll ? head.length : maxBytes + MARK_BYTES),
    maxBytes,
    isAll,
  )
}

/** A number, `true`, `false` or `null`; a long number is cut. */
function tokenLiteral(token: JsonSlice, maxBytes: number): Excerpt {
  const source = token.source
  if (source.length <= maxBytes) return { text: source.toString('latin1'), whole: true }
  const room = Math.max(0, maxBytes - MARK_BYTES)
  return { text: source.toString('latin1', 0, room) + MARK, whole: false }
}

/** Writes an entry into the room that is left; undefined where it has none. */
type Entry = (room: number) => Excerpt | undefined

function* membersLiteral(object: JsonSlice): Generator<Entry> {
  for (const { key, value } of membersOf(object)) {
    yield (room) => {
      const name = nameExcerpt(decodeKey(key), Math.min(NAME_BYTES, room))
      const rest = room - Buffer.byteLength(name.text) - SEPARATOR_BYTES
      if (rest < LEAST_BYTES) return undefined
      const shown = literal(value, value.kind === 'string' ? memberRoom(rest) : rest)
      return { text: `${name.text}: ${shown.text}`, whole: name.whole && shown.whole }
    }
  }
}

/**
 * One long string must not hide the members after it; a budget that holds the whole value is not
 * cut.
 */
const memberRoom = (room: number): number =>
  room > AMPLE_BYTES ? room : Math.max(LEAST_STRING_BYTES, room / 2)

function* elementsLiteral(array: JsonSlice): Generator<Entry> {
  for (const value of elementsOf(array)) {
    yield (room) => (room < LEAST_BYTES ? undefined : literal(value, room))
  }
}

/** A name for showing: no more of it is decoded than is shown. */
function decodeKey(key: JsonSlice): string {
  const head = headBytes(key, NAME_BYTES)
  return head.length <= NAME_BYTES ? decodeRaw(key).toWellFormed() : head.toString()
}

function list(
  entries: Iterable<Entry>,
  [open = '', close = '']: string,
  maxBytes: number,
): Excerpt {
  const parts: string[] = []
  // The mark and its separator are paid for in advance.
  let room = maxBytes - BRACKETS_BYTES - SEPARATOR_BYTES - MARK_BYTES
  let whole = true
  for (const entry of entries) {
    const shown = entry(parts.length === 0 ? room : room - SEPARATOR_BYTES)
    const bytes = shown === undefined ? 0 : Buffer.byteLength(shown.text)
    if (shown === undefined || bytes > room) {
      parts.push(MARK)
      whole = false
      break
    }
    parts.push(shown.text)
    whole &&= shown.whole
    room -= bytes + SEPARATOR_BYTES
  }
  return { text: open + parts.join(', ') + close, whole }
}
