/**
 * The shape of many JSON values at once: which kinds occur at a place, the range of numbers, the
 * distinct strings, the members of objects and the elements of arrays, merged. Values are kept as
 * ranges of the document's bytes, so that every token prints as written. A shape takes bounded
 * memory, however many values it has seen.
 */

/** A token in the bytes of the document. */
export interface Extent {
  readonly start: number
  readonly end: number
}

/** A string that occurs at a place. */
export interface Distinct extends Extent {
  count: number
  /** Row of its first occurrence; -1 outside of rows. */
  readonly row: number
}

/** A run of neighbouring rows that hold the same string at a place. */
export interface RowRun {
  readonly value: Distinct
  readonly from: number
  to: number
}

/** A number, with the row that holds it; -1 outside of rows. */
export interface NumberAt extends Extent {
  readonly row: number
}

/** Rows whose members have the same names and kinds. */
export interface Signature {
  count: number
  readonly row: number
}

/** Most distinct strings that are told apart at one place. */
export const DISTINCT_STRINGS = 12
/** Longest string that is compared, in bytes of its token. */
export const DISTINCT_STRING_BYTES = 256
/** Most runs of rows that are noted. */
export const ROW_RUNS = 6
/** Most member names that are told apart at one place. One object with more is a map. */
export const SHAPE_MEMBERS = 128
/** Most signatures of rows that are told apart. */
export const SIGNATURES = 64

/** Counts and bounds of the values at one place. Sizes are bytes of the document. */
export class Shape {
  count = 0
  /** Bytes of all values at this place, as they stand. */
  bytes = 0
  nulls = 0
  trues = 0
  falses = 0
  numbers = 0
  integers = 0
  min: NumberAt | undefined
  max: NumberAt | undefined
  strings = 0
  stringBytes = 0
  /** Strings that begin like an ISO 8601 date. */
  dates = 0
  firstString: Extent | undefined
  longest: Extent | undefined
  lowest: Extent | undefined
  highest: Extent | undefined
  /** Undefined once there are more than {@link DISTINCT_STRINGS}, or one is too long to compare. */
  distinct: Distinct[] | undefined = []
  /** Undefined once there are more than {@link ROW_RUNS}. */
  runs: RowRun[] | undefined = []
  arrays = 0
  minLength = Number.POSITIVE_INFINITY
  maxLength = 0
  items: Shape | undefined
  firstArray: Extent | undefined
  objects = 0
  minSize = Number.POSITIVE_INFINITY
  maxSize = 0
  firstObject: Extent | undefined
  /** Members by name, in the order of their first occurrence. Undefined for a map. */
  members: Map<string, Shape> | undefined
  /** There are members beyond {@link SHAPE_MEMBERS}. */
  hasMore = false
  /** Values of a map, merged. */
  values: Shape | undefined
  /** The first names of a map. */
  names: string[] = []
  /**
   * Rows by their signature, where this is the element of the rows' array. Undefined once there are
   * too many.
   */
  signatures: Map<number, Signature> | undefined = new Map()
  /** First value at this place. */
  first: Extent | undefined
  /** Stands for the place in signatures. */
  readonly id: number

  constructor(id: number) {
    this.id = id
  }
}
