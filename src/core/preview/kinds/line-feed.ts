/** Cuts a text that comes in pieces into lines. Of a long line only the start is kept. */

import { cleanLine } from './terminal.ts'

/** Characters of a line that are handed on; what counts lines needs no more. */
const FEED_LINE_CHARS = 400
const LF = 0x0a
/** Most bytes of one character. */
const CHARACTER_BYTES = 4

/** Hands on lines, numbered from 1, in constant memory. */
export class LineFeed {
  readonly #take: (line: string, number: number) => void
  #rest = ''
  #number = 0

  /**
   * `take` gets each line without its end, its first {@link FEED_LINE_CHARS} characters, and its
   * number from 1.
   */
  constructor(take: (line: string, number: number) => void) {
    this.#take = take
  }

  push(piece: Buffer): void {
    const end = piece.lastIndexOf(LF) + 1
    if (end > 0) {
      const text = this.#rest + piece.toString('latin1', 0, end)
      this.#rest = ''
      let from = 0
      for (let at = text.indexOf('\n'); at >= 0; at = text.indexOf('\n', from)) {
        this.#hand(text.slice(from, Math.min(at, from + FEED_LINE_CHARS * CHARACTER_BYTES)))
        from = at + 1
      }
    }
    const room = FEED_LINE_CHARS * CHARACTER_BYTES - this.#rest.length
    if (room > 0) this.#rest += piece.toString('latin1', end, end + room)
  }

  /** Hands on the last line, which has no end. */
  end(): void {
    if (this.#rest !== '') this.#hand(this.#rest)
    this.#rest = ''
  }

  #hand(latin1: string): void {
    this.#number++
    const text = isAscii(latin1) ? latin1 : Buffer.from(latin1, 'latin1').toString()
    const line = text.endsWith('\r') ? text.slice(0, -1) : text
    this.#take(cleanLine(line).slice(0, FEED_LINE_CHARS), this.#number)
  }
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: all of ASCII, controls too
const NON_ASCII = /[^\x00-\x7f]/
const isAscii = (text: string): boolean => !NON_ASCII.test(text)
