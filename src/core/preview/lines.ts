/**
 * A preview of the extended format, put together from lines under one hard bound. The header always
 * stands. Further lines are taken by rank until nothing more fits, and stand in the order of their
 * places. `…` at the end of the header says that something of the value is in no line.
 */
import { MARK, MARK_BYTES } from './excerpt.ts'

const INDENT = '\n  '
const HEADER_MARK = ` ${MARK}`

export interface PreviewLine {
  /** Structure and quoted content: no line end, at most a few hundred bytes. */
  readonly text: string
  /** Lines of a lower rank are taken first. Of one rank, the earlier in the list. */
  readonly rank: number
}

export interface PreviewParts {
  /** Noun for the value: `array`. */
  readonly kind: string
  /**
   * Facts in brackets after it: `len=3`. The first come first where not all fit; one always
   * stands.
   */
  readonly facts: readonly string[]
  /** In the order in which they are to stand. */
  readonly lines: readonly PreviewLine[]
  /** Header and lines together show the whole value. */
  readonly whole: boolean
}

/**
 * The preview after the handle, of at most `limitBytes` bytes of UTF-8, which must have room for
 * one fact.
 */
export function composeLines(parts: PreviewParts, limitBytes: number): string {
  const { lines, whole } = parts
  const header = headerOf(parts, limitBytes - HEADER_MARK.length - MARK_BYTES)
  const all = header + lines.map(({ text }) => INDENT + text).join('')
  if (whole && Buffer.byteLength(all) <= limitBytes) return all
  let room = limitBytes - Buffer.byteLength(header) - 1 - MARK_BYTES
  const taken = new Set<PreviewLine>()
  for (const line of byRank(lines)) {
    const bytes = Buffer.byteLength(line.text) + INDENT.length
    if (bytes > room) continue
    taken.add(line)
    room -= bytes
  }
  const shown = lines.filter((line) => taken.has(line))
  return header + HEADER_MARK + shown.map(({ text }) => INDENT + text).join('')
}

/** ` = array(len=3, bytes=20)`, in at most `maxBytes` bytes. */
export function headerOf(
  { kind, facts }: Pick<PreviewParts, 'kind' | 'facts'>,
  maxBytes: number,
): string {
  for (let count = facts.length; count > 1; count--) {
    const header = ` = ${kind}(${facts.slice(0, count).join(', ')})`
    if (Buffer.byteLength(header) <= maxBytes) return header
  }
  return ` = ${kind}(${facts[0] ?? ''})`
}

function byRank(lines: readonly PreviewLine[]): readonly PreviewLine[] {
  return lines.toSorted((a, b) => a.rank - b.rank)
}
