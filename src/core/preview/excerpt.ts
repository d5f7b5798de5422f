/**
 * Content of values inside previews of the extended format: quoted, escaped and bounded. No content
 * can leave its quotes, and invisible and bidirectional characters are shown as escapes. A cut
 * falls between graphemes and is marked by `…` after the closing quote. The answer depends on the
 * shipped Unicode tables alone.
 */
import { codePointSet } from './code-point-set.ts'
import { EXTENDING_RANGE_DELTAS, INVISIBLE_RANGE_DELTAS } from './unicode-ranges.ts'

/** Stands outside of quotes wherever something was left out. Takes {@link MARK_BYTES}. */
export const MARK = '…'
export const MARK_BYTES = 3
const QUOTES_BYTES = 2
/** An end shorter than this says nothing. */
const LEAST_END_BYTES = 16
const RADIX_OF_ESCAPES = 16
const JOINER = 0x200d
const FIRST_NON_ASCII = 0x80
const PLAIN_ASCII = /^[ !#-[\]-~]*$/
/** A name that can stand bare: it holds nothing that structure is made of. */
const BARE_NAME = /^[A-Za-z_$][\w$-]*$/
const SHORT_ESCAPES: ReadonlyMap<number, string> = new Map([
  [0x09, '\\t'],
  [0x0a, '\\n'],
  [0x0d, '\\r'],
  [0x22, '\\"'],
  [0x5c, '\\\\'],
])

const isInvisible = codePointSet(INVISIBLE_RANGE_DELTAS)
const isExtending = codePointSet(EXTENDING_RANGE_DELTAS)

export interface Excerpt {
  /** In quotes; with {@link MARK} behind it when it was cut. */
  readonly text: string
  /** Nothing of the text was left out. */
  readonly whole: boolean
}

/**
 * `text` in double quotes, of at most `maxBytes` bytes of UTF-8 with quotes and mark. `isAll:
 * false` says that the text goes on after what was given. Lone surrogates count as U+FFFD. A budget
 * too small for anything gives `""…`.
 */
export function excerpt(text: string, maxBytes: number, isAll = true): Excerpt {
  if (isAll && text.length + QUOTES_BYTES <= maxBytes && PLAIN_ASCII.test(text)) {
    return { text: `"${text}"`, whole: true }
  }
  const room = maxBytes - QUOTES_BYTES
  const { escaped, whole } = fitting(text.toWellFormed(), room, isAll)
  return whole ? { text: `"${escaped}"`, whole } : { text: `"${escaped}"${MARK}`, whole }
}

/**
 * As {@link excerpt}, but of a text that does not fit both ends are shown: `"head"…"tail"`. For
 * names, paths and the like, whose end tells as much as their start.
 */
export function endsExcerpt(text: string, maxBytes: number): Excerpt {
  const whole = excerpt(text, maxBytes)
  const half = Math.floor((maxBytes - MARK_BYTES) / 2)
  if (whole.whole || half < LEAST_END_BYTES) return whole
  const head = excerpt(text, half + MARK_BYTES)
  return { text: head.text + quotedTail(text.toWellFormed(), half - QUOTES_BYTES), whole: false }
}

/** The end of `text` in quotes, whose inside takes at most `room` bytes. Begins with a grapheme. */
function quotedTail(text: string, room: number): string {
  const graphemes = clusters(text.slice(-room))
  let tail = ''
  let bytes = 0
  // The first may be a part of a longer one.
  for (const grapheme of graphemes.slice(1).reverse()) {
    const shown = Array.from(grapheme, (one) => escapeCharacter(one, one.codePointAt(0) ?? 0)).join(
      '',
    )
    bytes += Buffer.byteLength(shown)
    if (bytes > room) break
    tail = shown + tail
  }
  return `"${tail}"`
}

function clusters(text: string): string[] {
  const found: string[] = []
  let previous = 0
  for (const character of text.toWellFormed()) {
    const code = character.codePointAt(0) ?? 0
    const joins = found.length > 0 && (isExtending(code) || previous === JOINER)
    if (joins) found.push(`${found.pop() ?? ''}${character}`)
    else found.push(character)
    previous = code
  }
  return found
}

/** A member name: bare where it is a plain word, else an {@link excerpt}. */
export function nameExcerpt(name: string, maxBytes: number): Excerpt {
  return name.length <= maxBytes && BARE_NAME.test(name)
    ? { text: name, whole: true }
    : excerpt(name, maxBytes)
}

/** Whether a member name can stand bare, in a path too. */
export function isBareName(name: string): boolean {
  return BARE_NAME.test(name)
}

function fitting(text: string, room: number, isAll: boolean): { escaped: string; whole: boolean } {
  let escaped = ''
  let bytes = 0
  // Ends of the last grapheme boundary that leaves room for the mark.
  let kept = 0
  let previous = 0
  for (const character of text) {
    const code = character.codePointAt(0) ?? 0
    const isBoundary = !isExtending(code) && previous !== JOINER
    if (isBoundary && bytes + MARK_BYTES <= room) kept = escaped.length
    const shown = escapeCharacter(character, code)
    bytes += shownBytes(shown, code)
    if (bytes > room) return { escaped: escaped.slice(0, kept), whole: false }
    escaped += shown
    previous = code
  }
  if (isAll) return { escaped, whole: true }
  // The text goes on, so the last grapheme may be longer.
  return { escaped: escaped.slice(0, kept), whole: false }
}

function escapeCharacter(character: string, code: number): string {
  const short = SHORT_ESCAPES.get(code)
  if (short !== undefined) return short
  return isInvisible(code) ? `\\u{${code.toString(RADIX_OF_ESCAPES)}}` : character
}

function shownBytes(shown: string, code: number): number {
  return code < FIRST_NON_ASCII || shown.startsWith('\\') ? shown.length : Buffer.byteLength(shown)
}
