/**
 * Reads a whole validated JSON value once and says its {@link Shape}. Time is linear in the value's
 * bytes; memory is bounded. Values deeper than {@link SURVEY_LEVELS} are skipped: a preview has no
 * room for them.
 */
import { JsonSlice, nextItem, skipString, skipValue, valueAfter } from '../../json/slice.ts'
import { TokenReader } from '../../json/strings.ts'
import { readNumber, readString } from './leaves.ts'
import { becomeMap } from './merge.ts'
import { SHAPE_MEMBERS, Shape, SIGNATURES } from './shape.ts'

/** Levels of arrays and objects whose shape is told. */
const SURVEY_LEVELS = 8
/** Most places that are told apart. */
const SURVEY_SHAPES = 4_096
const NO_ROW = -1
const QUOTE = 0x22
const OPEN_OBJECT = 0x7b
const CLOSE_OBJECT = 0x7d
const OPEN_ARRAY = 0x5b
const CLOSE_ARRAY = 0x5d
const LOWER_T = 0x74
const LOWER_F = 0x66
const LOWER_N = 0x6e
const TRUE_BYTES = 4
const FALSE_BYTES = 5
const NULL_BYTES = 4
const MAP_NAMES = SHAPE_MEMBERS
const HASH_FACTOR = 31
const KIND_BITS = 3

/** The shape of `value`. */
export function surveyJson(value: JsonSlice): Shape {
  const survey = new Survey(value)
  const root = survey.newShape()
  survey.read(value.start, root, { level: 0, row: NO_ROW, inRows: false })
  return root
}

/** The shape of an array that holds `rows`, which are values in the same bytes. */
export function surveyRows(bytes: Buffer, rows: readonly JsonSlice[]): Shape {
  const survey = new Survey(new JsonSlice(bytes))
  const root = survey.newShape()
  root.items = survey.newShape()
  root.arrays = 1
  root.count = 1
  root.minLength = rows.length
  root.maxLength = rows.length
  for (const [row, { start }] of rows.entries()) {
    survey.read(start, root.items, { level: 1, row, inRows: true })
  }
  return root
}

/** Where a value stands. */
interface Place {
  readonly level: number
  /** Index of the element of the one array that it is in; -1 without, or in more than one. */
  readonly row: number
  /** It is inside an array. */
  readonly inRows: boolean
}

class Survey {
  readonly #bytes: Buffer
  readonly #end: number
  readonly #names: TokenReader
  #shapes = 0
  #rest: Shape | undefined

  constructor({ bytes, end }: JsonSlice) {
    this.#bytes = bytes
    this.#end = end
    this.#names = new TokenReader(bytes)
  }

  /**
   * A new shape, or one for all that has no place in the preview once there are {@link
   * SURVEY_SHAPES}.
   */
  newShape(): Shape {
    if (this.#shapes < SURVEY_SHAPES) return new Shape(this.#shapes++)
    this.#rest ??= new Shape(SURVEY_SHAPES)
    return this.#rest
  }

  /** Reads the value at `start` into `shape`. Returns its end. */
  read(start: number, shape: Shape, place: Place): number {
    const end = this.#readKind(start, shape, place)
    shape.count++
    shape.bytes += end - start
    shape.first ??= { start, end }
    return end
  }

  #readKind(start: number, shape: Shape, place: Place): number {
    const bytes = this.#bytes
    if (shape === this.#rest) return skipValue(bytes, start, this.#end)
    switch (bytes[start]) {
      case QUOTE: {
        const end = skipString(bytes, start)
        readString(bytes, { start, end }, shape, place.row)
        return end
      }
      case OPEN_OBJECT: {
        const end = this.#readObject(start, shape, place)
        shape.firstObject ??= { start, end }
        return end
      }
      case OPEN_ARRAY: {
        const end = this.#readArray(start, shape, place)
        shape.firstArray ??= { start, end }
        return end
      }
      case LOWER_T:
        shape.trues++
        return start + TRUE_BYTES
      case LOWER_F:
        shape.falses++
        return start + FALSE_BYTES
      case LOWER_N:
        shape.nulls++
        return start + NULL_BYTES
      default: {
        const end = skipValue(bytes, start, this.#end)
        readNumber(bytes, { start, end, row: place.row }, shape)
        return end
      }
    }
  }

  #readArray(start: number, shape: Shape, { level, inRows }: Place): number {
    const bytes = this.#bytes
    const end = this.#end
    shape.arrays++
    if (level >= SURVEY_LEVELS) {
      const past = skipValue(bytes, start, end)
      shape.maxLength = Math.max(shape.maxLength, past - start > 2 ? 1 : 0)
      return past
    }
    shape.items ??= this.newShape()
    const items = shape.items
    let length = 0
    let pos = nextItem(bytes, start + 1, end)
    while (bytes[pos] !== CLOSE_ARRAY) {
      const row = inRows ? NO_ROW : length
      const past = this.read(pos, items, { level: level + 1, row, inRows: true })
      length++
      pos = nextItem(bytes, past, end)
    }
    shape.minLength = Math.min(shape.minLength, length)
    shape.maxLength = Math.max(shape.maxLength, length)
    return pos + 1
  }

  #readObject(start: number, shape: Shape, place: Place): number {
    const bytes = this.#bytes
    const end = this.#end
    shape.objects++
    if (place.level >= SURVEY_LEVELS) return skipValue(bytes, start, end)
    const inside: Place = { ...place, level: place.level + 1 }
    let size = 0
    let signature = 0
    let pos = nextItem(bytes, start + 1, end)
    while (bytes[pos] !== CLOSE_OBJECT) {
      const keyEnd = skipString(bytes, pos)
      const name = this.#names.decode(new JsonSlice(bytes, pos, keyEnd))
      const valueStart = valueAfter(bytes, keyEnd, end)
      const member = this.#memberOf(shape, name)
      const past = this.read(valueStart, member, inside)
      signature = Math.imul(signature, HASH_FACTOR) + signatureOf(member, bytes[valueStart] ?? 0)
      size++
      pos = nextItem(bytes, past, end)
    }
    shape.minSize = Math.min(shape.minSize, size)
    shape.maxSize = Math.max(shape.maxSize, size)
    if (place.row !== NO_ROW) noteSignature(shape, signature | 0, place.row)
    return pos + 1
  }

  #memberOf(shape: Shape, name: string): Shape {
    if (shape.values !== undefined) {
      if (shape.names.length < MAP_NAMES) shape.names.push(name)
      return shape.values
    }
    shape.members ??= new Map()
    const known = shape.members.get(name)
    if (known !== undefined) return known
    if (shape.members.size === SHAPE_MEMBERS) {
      if (shape.objects === 1) {
        becomeMap(this.#bytes, shape)
        return this.#memberOf(shape, name)
      }
      shape.hasMore = true
      this.#rest ??= new Shape(SURVEY_SHAPES)
      return this.#rest
    }
    const member = this.newShape()
    shape.members.set(name, member)
    return member
  }
}

/**
 * Kind of the value that begins with `byte`; strings, numbers, brackets and words differ in these
 * bits.
 */
function signatureOf(member: Shape, byte: number): number {
  return (member.id << KIND_BITS) ^ kindOfByte(byte)
}

function kindOfByte(byte: number): number {
  switch (byte) {
    case QUOTE:
      return 1
    case OPEN_OBJECT:
      return 2
    case OPEN_ARRAY:
      return 3
    case LOWER_N:
      return 4
    case LOWER_T:
    case LOWER_F:
      return 5
    default:
      return 6
  }
}

function noteSignature(shape: Shape, signature: number, row: number): void {
  const { signatures } = shape
  if (signatures === undefined) return
  const known = signatures.get(signature)
  if (known !== undefined) known.count++
  else if (signatures.size === SIGNATURES) shape.signatures = undefined
  else signatures.set(signature, { count: 1, row })
}
