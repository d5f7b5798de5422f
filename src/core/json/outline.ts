/**
 * What a scan notes of a value on its way, so that no later step has to walk it again: where it can be cut into chunks, how
 * large its views are, and where its first and last entries stand. All positions are from the value's own start.
 */

import { CHUNK_BYTES, CHUNK_VIEW_BYTES } from '../limits.ts'

/** A place where a value can be cut, with how many line ends and bytes of the indented view come before it. */
export interface ViewCut {
  readonly pos: number
  /** The formatter's state, packed (`indent.ts`). */
  readonly state: number
  readonly lines: number
  readonly viewBytes: number
}

/** An element of an array, or a member of an object with its name. */
export interface Entry {
  /** Where the element, or the member's name, starts. */
  readonly start: number
  readonly valueStart: number
  readonly end: number
  /** Of an array its elements, of an object its distinct members; else 0. */
  readonly size: number
}

/** How large a chunk becomes: bytes of the value, and bytes of an indented view. */
export interface ChunkSizes {
  readonly chunkBytes: number
  readonly chunkViewBytes: number
}

export const CHUNK_SIZES: ChunkSizes = { chunkBytes: CHUNK_BYTES, chunkViewBytes: CHUNK_VIEW_BYTES }

/** Figures of compact JSON are of the document as `canonical.ts` writes it: of a repeated name the last member alone. */
export interface Outline {
  /** The value's own bytes. */
  readonly bytes: number
  /** After every chunk but the last. */
  readonly cuts: readonly ViewCut[]
  /** Line ends and bytes of the indented view. */
  readonly viewLines: number
  readonly viewBytes: number
  readonly compactBytes: number
  /** By how much the code points that escapes stand for are fewer than their bytes. */
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

/** More than any preview shows of a start, so that it can tell that there are more. */
export const HEAD_ENTRIES = 32
