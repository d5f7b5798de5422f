/**
 * The outline of a value, which a scan notes so that later steps need not walk it again: its cuts
 * into chunks, the sizes of its views, and its first and last entries. All positions count from the
 * start of the value.
 */

import { CHUNK_BYTES, CHUNK_VIEW_BYTES } from '../limits.ts'

/**
 * A position where a value can be cut, with the line ends and bytes of the indented view before it.
 */
export interface ViewCut {
  readonly pos: number
  /** The formatter's state, packed (`indent.ts`). */
  readonly state: number
  readonly lines: number
  readonly viewBytes: number
}

/** An element of an array, or a member of an object with its name. */
export interface Entry {
  /** Start of the element, or of the member's name. */
  readonly start: number
  readonly valueStart: number
  readonly end: number
  /** Of an array its elements, of an object its distinct members; else 0. */
  readonly size: number
}

/** Largest size of a chunk: bytes of the value, and bytes of its indented view. */
export interface ChunkSizes {
  readonly chunkBytes: number
  readonly chunkViewBytes: number
}

/** Sizes that the ledger uses. */
export const CHUNK_SIZES: ChunkSizes = { chunkBytes: CHUNK_BYTES, chunkViewBytes: CHUNK_VIEW_BYTES }

/**
 * Figures of compact JSON count the document as `canonical.ts` writes it, where a repeated name
 * stands once.
 */
export interface Outline {
  /** The value's own bytes. */
  readonly bytes: number
  /** After every chunk but the last. */
  readonly cuts: readonly ViewCut[]
  /** Line ends and bytes of the indented view. */
  readonly viewLines: number
  readonly viewBytes: number
  readonly compactBytes: number
  /** Bytes minus code points of the characters that escapes stand for. */
  readonly escapedTails: number
  /** Whether any object in it repeats a name. */
  readonly hasRepeats: boolean
  /** Entries as they stand, repeated names included. */
  readonly entries: number
  /** Of an array its elements, of an object its distinct members; else 0. */
  readonly size: number
  /** The first entries, at most {@link HEAD_ENTRIES}. */
  readonly head: readonly Entry[]
  /** The last two, or fewer. */
  readonly tail: readonly Entry[]
}

/** More entries than any preview shows, so that it can tell that there are more. */
export const HEAD_ENTRIES = 32
