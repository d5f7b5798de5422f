/**
 * How a kind of text is recognized and told. A kind looks at the start of a text, counts over all
 * of it as it streams by, and in the end says facts and lines for the preview. Everything takes
 * linear time and bounded memory.
 */
import type { PreviewLine } from '../lines.ts'

/** Bytes of a text's start that are looked at in detail; the rest is counted. */
export const DETAIL_BYTES = 262_144
/** Bytes of a text's end that are kept for the preview. */
export const TAIL_BYTES = 8_192

/** Characters of a line that patterns look at, so that no line makes them slow. */
export const PATTERN_CHARS = 200

/** The start of a text. */
export interface TextHead {
  /**
   * At most {@link DETAIL_BYTES}; ends after a line end unless it is all there is, or one line is
   * longer.
   */
  readonly bytes: Buffer
  /** Its lines without their ends; of the output of a terminal as that shows them. */
  readonly lines: readonly string[]
  /** The first {@link PATTERN_CHARS} characters of each of its lines: for patterns. */
  readonly starts: readonly string[]
  /** It is the output of a terminal. */
  readonly isTerminal: boolean
  /** It is the whole text. */
  readonly isWhole: boolean
}

/** Totals and both ends of a text that has gone by. */
export interface TextWhole {
  readonly head: TextHead
  /** The last lines; the first of them is whole. Those of the whole text where it is short. */
  readonly tail: readonly string[]
  /** Number of the first line in `tail`, from 1. */
  readonly tailFrom: number
  readonly bytes: number
  readonly lines: number
  /** Most bytes of the preview. */
  readonly limitBytes: number
}

/** Facts for the header (`records=3`), and lines with their ranks. */
export interface Reading {
  readonly facts: readonly string[]
  readonly lines: readonly PreviewLine[]
}

/** Counts over a text of a kind. */
export interface KindSurvey {
  /** The next bytes, in order from the start of the text, valid UTF-8 when joined. */
  push(piece: Buffer): void
  end(whole: TextWhole): Reading
}

export interface Kind {
  /** As the preview names it: `kind=csv`. */
  readonly name: string
  /** A survey for a text that begins so, or undefined when it is not of this kind. */
  recognize(head: TextHead): KindSurvey | undefined
}
