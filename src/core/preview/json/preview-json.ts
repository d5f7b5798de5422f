/**
 * The preview of a JSON value in the extended format: the whole value where it fits, else what it
 * is, the shapes of its places from the top down, and rows from the head, the tail and the odd ones
 * out. See `docs/reference/previews.md` for the grammar.
 */
import { outlineOf } from '../../json/scan.ts'
import { elementsOf, JsonSlice, membersOf } from '../../json/slice.ts'
import { decodeRaw } from '../../json/strings.ts'
import { composeLines, headerOf, type PreviewLine, type PreviewParts } from '../lines.ts'
import { literal } from './literal.ts'
import { ANY, type PlacePath, placeLabel } from './place.ts'
import type { Extent, Shape } from './shape.ts'
import { surveyJson, surveyRows } from './survey.ts'
import { asMap, type MapShape, names, typeText } from './type-text.ts'

/** A value whose source is so many times longer than the limit cannot be shown whole. */
const WHOLE_FACTOR = 8
const LABEL_BYTES = 80
const EQUALS_BYTES = 3
const TYPE_SHARE = 0.25
/** Columns of rows have one line for all of them. */
const COLUMNS_SHARE = 0.5
const ROW_SHARE = 0.16
const NAMES_SHARE = 0.4
const LEAST_LINE_BYTES = 40
/** A value that is alone at its place and so short stands as it is. */
const SHORT_VALUE_BYTES = 100
const ODD_ROWS = 3
/** Rows, or values of a column, are odd when they are at most this share of all. */
const ODD_SHARE = 0.02
const LEVELS = 4
/** Down to this level, arrays show some of their elements. */
const ROW_LEVELS = 2
const RANK_PER_LEVEL = 1_000
const RANK_ODD_ROW = 200
const RANK_FIRST_ROW = 250
const RANK_RUN_ROW = 300
const RANK_LAST_ROW = 350
/** Rows that are shown where nothing better is left. */
const RANK_FILL = 100_000

/**
 * The preview after its handle, of at most `limitBytes` bytes. `limitBytes` is at least 100.
 *
 * @example previewExtended(json('{"a": 1}'), 1000) // ' = json(keys=1, bytes=8) {a: 1}'
 */
export function previewExtended(value: JsonSlice, limitBytes: number): string {
  const header = headOf(value)
  if (header === undefined) return ` = ${literal(value, limitBytes - EQUALS_BYTES).text}`
  const whole = wholeLine(value, limitBytes - Buffer.byteLength(headerOf(header, limitBytes)) - 1)
  if (whole !== undefined) return `${headerOf(header, limitBytes)} ${whole}`
  const lines = describeJson(value, limitBytes)
  return composeLines({ ...header, lines, whole: false }, limitBytes)
}

/** Lines for the places of a value. */
export function describeJson(value: JsonSlice, limitBytes: number): readonly PreviewLine[] {
  const lines = new Lines(value, { limitBytes, label: (path) => placeLabel(path, LABEL_BYTES) })
  lines.add(surveyJson(value), [], 0)
  return lines.inPlace()
}

/**
 * Lines for records that are values in the same bytes. `nameOf` says what a record is called: `line
 * 3`.
 */
export function describeRows(
  bytes: Buffer,
  rows: readonly JsonSlice[],
  { limitBytes, nameOf }: { readonly limitBytes: number; readonly nameOf: (row: number) => string },
): readonly PreviewLine[] {
  const label = ([row = ANY, ...path]: PlacePath): string =>
    (row === ANY ? 'record' : nameOf(Number(row))) + placeLabel(path, LABEL_BYTES)
  const lines = new Lines(new JsonSlice(bytes), { limitBytes, label, rows })
  lines.add(surveyRows(bytes, rows), [], 0)
  return lines.inPlace()
}

/** Kind and size of an array or object; undefined for other values, which are shown as they are. */
function headOf(value: JsonSlice): Pick<PreviewParts, 'kind' | 'facts'> | undefined {
  const bytes = `bytes=${value.end - value.start}`
  switch (value.kind) {
    case 'array':
      return { kind: 'array', facts: [`len=${outlineOf(value).entries}`, bytes] }
    case 'object':
      return { kind: 'json', facts: [`keys=${outlineOf(value).size}`, bytes] }
    default:
      return undefined
  }
}

/** The whole value in at most `room` bytes, or undefined. */
export function wholeLine(value: JsonSlice, room: number): string | undefined {
  if (value.end - value.start > room * WHOLE_FACTOR) return undefined
  const { text, whole } = literal(value, room)
  return whole && Buffer.byteLength(text) <= room ? text : undefined
}

interface Placed extends PreviewLine {
  /** Sort key: the order of places in the document, level by level. */
  readonly order: readonly number[]
}

interface LineOptions {
  readonly limitBytes: number
  readonly label: (path: PlacePath) => string
  /** Elements of the outermost array, where they do not stand in one. */
  readonly rows?: readonly JsonSlice[]
}

/** Collects the lines of a value, place by place. */
class Lines {
  readonly #value: JsonSlice
  readonly #limitBytes: number
  readonly #label: (path: PlacePath) => string
  readonly #rows: readonly JsonSlice[] | undefined
  readonly #lines: Placed[] = []

  constructor(value: JsonSlice, { limitBytes, label, rows }: LineOptions) {
    this.#value = value
    this.#limitBytes = limitBytes
    this.#label = label
    this.#rows = rows
  }

  /** All lines in the order in which they stand. */
  inPlace(): readonly PreviewLine[] {
    return this.#lines.toSorted((a, b) => compareOrders(a.order, b.order))
  }

  /** The lines of all places below `path`, whose shape is given. */
  add(shape: Shape, path: PlacePath, level: number, order: readonly number[] = []): void {
    if (level >= LEVELS) return
    if (shape.arrays > 0 && shape.items !== undefined) this.#addItems(shape, path, level, order)
    if (shape.objects > 0) this.#addMembers(shape, path, level, order)
  }

  #addItems(shape: Shape, path: PlacePath, level: number, order: readonly number[]): void {
    const { items } = shape
    if (items === undefined || items.count === 0) return
    const inside = [...path, ANY]
    if (items.objects > 0 || path.length === 0) {
      this.#addType(items, inside, { level, share: COLUMNS_SHARE, order: [...order, 0] })
    }
    if (shape.arrays === 1 && level <= ROW_LEVELS && (items.objects > 0 || items.strings > 0)) {
      this.#addRows(shape, path, level, order)
    }
    this.add(items, inside, level + 1, [...order, 2])
  }

  #addMembers(shape: Shape, path: PlacePath, level: number, order: readonly number[]): void {
    const map = asMap(this.#value.bytes, shape)
    if (map !== undefined) {
      this.#addMap(shape, map, { path, level, order })
      return
    }
    const isMany = shape.objects > 1
    for (const [index, [name, member]] of [...(shape.members ?? [])].entries()) {
      if (!isMany) continue
      // The line of the objects has told their members; what few of them have is no place to plan
      // with.
      if (member.count * 2 >= shape.objects)
        this.add(member, [...path, name], level, [...order, index])
    }
    if (isMany) return
    for (const [index, [name, member]] of [...(shape.members ?? [])].entries()) {
      const inside = [...path, name]
      const place = [...order, index]
      const isLeaf = member.objects + member.arrays === 0
      // The line of the object has told its leaves.
      if (isLeaf && path.length > 0) continue
      if (this.#addShort(member, inside, level, place)) continue
      this.#addType(member, inside, { level, share: TYPE_SHARE, order: place })
      this.add(member, inside, level + 1, place)
    }
  }

  /** A map: its names, some of its entries, the places inside of them. */
  #addMap(shape: Shape, { names: all, values }: MapShape, { path, level, order }: Located): void {
    if (path.length === 0)
      this.#addType(shape, [], { level, share: COLUMNS_SHARE, order: [...order, 0] })
    const { firstObject: first } = shape
    if (shape.objects === 1 && first !== undefined && level <= ROW_LEVELS) {
      const last = shape.maxSize - 1
      const rows = new Set([0, Math.floor(last / 2), last])
      for (const [row, { name, value }] of entriesOf(this.#slice(first), rows)) {
        const { text } = literal(value, this.#rowBytes())
        const label = this.#label([...path, name])
        const rank = level * RANK_PER_LEVEL + (row === 0 ? RANK_FIRST_ROW : RANK_FILL + row)
        this.#push(`${label}: ${text}`, rank, [...order, 1, row])
      }
      const listed = names(all, this.#limitBytes * NAMES_SHARE, shape.maxSize)
      const label = this.#label([...path, ANY])
      this.#push(`${label}: keys ${listed}`, level * RANK_PER_LEVEL + RANK_FIRST_ROW + 1, [
        ...order,
        0,
      ])
    }
    this.add(values, [...path, ANY], level + 1, [...order, 2])
  }

  #rowBytes(): number {
    return Math.max(LEAST_LINE_BYTES, this.#limitBytes * ROW_SHARE)
  }

  /** Adds a single value that is short, as it stands. */
  #addShort(shape: Shape, path: PlacePath, level: number, order: readonly number[]): boolean {
    const { first } = shape
    if (shape.count !== 1 || first === undefined || first.end - first.start > 2 * SHORT_VALUE_BYTES)
      return false
    const { text, whole } = literal(this.#slice(first), SHORT_VALUE_BYTES)
    if (whole) this.#push(`${this.#label(path)}: ${text}`, level * RANK_PER_LEVEL, order)
    return whole
  }

  #addType(shape: Shape, path: PlacePath, { level, share, order }: TypeLine): void {
    const text = typeText(
      this.#value.bytes,
      shape,
      Math.max(LEAST_LINE_BYTES, this.#limitBytes * share),
    )
    const label = path.length === 0 ? text : `${this.#label(path)}: ${text}`
    const size = 1 - shape.bytes / (this.#value.end - this.#value.start + 1)
    this.#push(label, level * RANK_PER_LEVEL + size, order)
  }

  /**
   * Rows that tell most: odd ones, the first, the last; then others from the head, the tail and
   * between, to fill up.
   */
  #addRows(shape: Shape, path: PlacePath, level: number, order: readonly number[]): void {
    const { items } = shape
    if (items === undefined) return
    const last = shape.maxLength - 1
    const odd = oddRows(items)
    const runs = runRows(items)
    const fill = [
      1,
      2,
      last - 1,
      Math.floor(last / 2),
      Math.floor(last / 4),
      Math.floor((3 * last) / 4),
    ]
    const rankOf = (row: number): number => {
      const base = level * RANK_PER_LEVEL
      if (odd.includes(row)) return base + RANK_ODD_ROW + odd.indexOf(row)
      if (row === 0) return base + RANK_FIRST_ROW
      if (runs.includes(row)) return base + RANK_RUN_ROW + runs.indexOf(row)
      return row === last ? base + RANK_LAST_ROW : RANK_FILL + fill.indexOf(row)
    }
    const rows = new Set(
      [...odd, 0, ...runs, last, ...fill].filter((row) => row >= 0 && row <= last),
    )
    for (const [row, value] of this.#elements(shape, rows)) {
      const { text } = literal(value, this.#rowBytes())
      this.#push(`${this.#label([...path, `${row}`])}: ${text}`, rankOf(row), [...order, 1, row])
    }
  }

  #elements(shape: Shape, rows: ReadonlySet<number>): Iterable<readonly [number, JsonSlice]> {
    if (shape.firstArray !== undefined) return rowsOf(this.#slice(shape.firstArray), rows)
    return [...(this.#rows ?? []).entries()].filter(([row]) => rows.has(row))
  }

  #slice({ start, end }: Extent): JsonSlice {
    return new JsonSlice(this.#value.bytes, start, end)
  }

  #push(text: string, rank: number, order: readonly number[]): void {
    this.#lines.push({ text, rank, order })
  }
}

interface Located {
  readonly path: PlacePath
  readonly level: number
  readonly order: readonly number[]
}

interface TypeLine {
  readonly level: number
  /** Of the whole preview. */
  readonly share: number
  readonly order: readonly number[]
}

/** Rows with rare members or rare values, the rarest first. */
function oddRows(items: Shape): readonly number[] {
  const most = Math.max(1, items.count * ODD_SHARE)
  const rare = [...(items.signatures?.values() ?? [])]
  const values = [items, ...(items.members?.values() ?? [])].flatMap(
    ({ distinct }) => distinct ?? [],
  )
  const rows = [...rare, ...values]
    .filter(({ count, row }) => row > 0 && count <= most)
    .toSorted((a, b) => a.count - b.count)
    .map(({ row }) => row)
  return [...new Set(rows)].slice(0, ODD_ROWS)
}

/** The first rows of each run of equal values in a column, but for the very first. */
function runRows(items: Shape): readonly number[] {
  const runs = [...(items.members?.values() ?? [])].flatMap(({ runs: found }) => found ?? [])
  const starts = runs.map(({ from }) => from).filter((row) => row > 0)
  return [...new Set(starts)].slice(0, ODD_ROWS)
}

function rowsOf(array: JsonSlice, rows: ReadonlySet<number>): ReadonlyMap<number, JsonSlice> {
  const found = new Map<number, JsonSlice>()
  let row = 0
  for (const value of elementsOf(array)) {
    if (rows.has(row)) found.set(row, value)
    if (found.size === rows.size) break
    row++
  }
  return found
}

function entriesOf(
  object: JsonSlice,
  rows: ReadonlySet<number>,
): ReadonlyMap<number, { readonly name: string; readonly value: JsonSlice }> {
  const found = new Map<number, { readonly name: string; readonly value: JsonSlice }>()
  let row = 0
  for (const { key, value } of membersOf(object)) {
    if (rows.has(row)) found.set(row, { name: decodeRaw(key), value })
    if (found.size === rows.size) break
    row++
  }
  return found
}

function compareOrders(a: readonly number[], b: readonly number[]): number {
  for (let at = 0; at < Math.min(a.length, b.length); at++) {
    const difference = (a[at] ?? 0) - (b[at] ?? 0)
    if (difference !== 0) return difference
  }
  return a.length - b.length
}
