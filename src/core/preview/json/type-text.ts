/**
 * A shape in words, as exact as a budget of bytes allows: `int 1..20`, `"rain"×641, "sun"×640`,
 * `array(len=0..3) of string`, `map(keys=176: a, b, …) of {id: string, name: string}`.
 */
import { JsonSlice } from '../../json/slice.ts'
import { decodeRaw } from '../../json/strings.ts'
import { endsExcerpt, MARK, nameExcerpt } from '../excerpt.ts'
import { humanBytes } from '../preview.ts'
import { literal, stringLiteral } from './literal.ts'
import { becomeMap } from './merge.ts'
import { DISTINCT_STRING_BYTES, type Distinct, type Extent, type Shape } from './shape.ts'

const NAME_BYTES = 40
const SAMPLE_BYTES = 48
const TOKEN_BYTES = 40
/** Longer strings are told with their size. */
const LONG_STRING_BYTES = 200
/** An object with so many members that are alike is a map. */
const MAP_FROM_MEMBERS = 9
const ALIKE_SHARE = 0.8
/** Objects are maps when each name is in fewer of them than this share. */
const MAP_SHARED_SHARE = 0.5
const MAP_VALUES_SHARE = 0.5
const LEAST_BYTES = 24

/** How exactly a shape is told. */
const DETAILS = ['full', 'ranges', 'kinds'] as const
type Detail = (typeof DETAILS)[number]

/**
 * The text of `shape`, whose tokens are in `bytes`; at most `maxBytes` bytes but for the bare names
 * of its kinds.
 */
export function typeText(bytes: Buffer, shape: Shape, maxBytes: number): string {
  for (const detail of DETAILS) {
    const text = kindTexts({ bytes, maxBytes, detail }, shape)
    if (Buffer.byteLength(text) <= maxBytes) return text
  }
  return kindTexts({ bytes, maxBytes: 0, detail: 'kinds' }, shape)
}

interface Telling {
  readonly bytes: Buffer
  readonly maxBytes: number
  readonly detail: Detail
}

function kindTexts(telling: Telling, shape: Shape): string {
  const { nulls, trues, falses, numbers, strings, arrays, objects, count } = shape
  const texts: string[] = []
  if (strings > 0) texts.push(stringText(telling, shape))
  if (numbers > 0) texts.push(numberText(telling, shape))
  if (trues + falses > 0) texts.push(boolText(telling, shape))
  if (arrays > 0) texts.push(arrayText(telling, shape))
  if (objects > 0) texts.push(objectText(telling, shape))
  if (nulls > 0) texts.push(times('null', nulls, count))
  return texts.join('|')
}

const times = (text: string, count: number, of: number): string =>
  of === 1 ? text : `${text}×${count}`

function boolText({ detail }: Telling, { trues, falses, count }: Shape): string {
  if (detail === 'kinds') return 'bool'
  const texts: string[] = []
  if (trues > 0) texts.push(times('true', trues, count))
  if (falses > 0) texts.push(times('false', falses, count))
  return texts.join('|')
}

function numberText({ bytes, detail }: Telling, shape: Shape): string {
  const { min, max, numbers, integers, count } = shape
  const kind = integers === numbers ? 'int' : 'number'
  if (min === undefined || max === undefined || detail === 'kinds') return kind
  const [low, high] = [numberToken(bytes, min), numberToken(bytes, max)]
  if (count === 1) return low
  return low === high ? `${kind} ${low}` : `${kind} ${low} to ${high}`
}

function numberToken(bytes: Buffer, { start, end }: Extent): string {
  return literal(new JsonSlice(bytes, start, end), TOKEN_BYTES).text
}

function stringText({ bytes, maxBytes, detail }: Telling, shape: Shape): string {
  const { strings, dates, lowest, highest, longest, firstString, count } = shape
  if (longest === undefined || firstString === undefined || detail === 'kinds') return 'string'
  const size = longest.end - longest.start - 2
  if (count === 1 && size <= LONG_STRING_BYTES) return quoted(bytes, firstString, maxBytes)
  if (detail === 'full') {
    const list = distinctText(bytes, shape)
    if (list !== undefined && Buffer.byteLength(list) <= maxBytes) return list
  }
  if (dates === strings && lowest !== undefined && highest !== undefined) {
    return `date ${quoted(bytes, lowest, SAMPLE_BYTES)} to ${quoted(bytes, highest, SAMPLE_BYTES)}`
  }
  const limit = strings === 1 ? '' : '≤'
  const kind = size > LONG_STRING_BYTES ? `string(${limit}${humanBytes(size)})` : 'string'
  return detail === 'full' ? `${kind} ${quoted(bytes, firstString, SAMPLE_BYTES)}, ${MARK}` : kind
}

/** Every distinct string with its count and, where few runs of rows hold them, the rows. */
function distinctText(bytes: Buffer, { distinct, strings, runs }: Shape): string | undefined {
  if (distinct === undefined || (distinct.length === strings && strings > 3)) return undefined
  const rowsOf = (value: Distinct): string => {
    if (runs === undefined || runs.length < 2) return ''
    const own = runs.filter((run) => run.value === value)
    return ` at ${own.map(({ from, to }) => (from === to ? `${from}` : `${from}..${to}`)).join('+')}`
  }
  return distinct
    .toSorted((a, b) => b.count - a.count)
    .map((value) => times(quoted(bytes, value, SAMPLE_BYTES), value.count, strings) + rowsOf(value))
    .join('|')
}

function quoted(bytes: Buffer, { start, end }: Extent, maxBytes: number): string {
  const token = new JsonSlice(bytes, start, end)
  if (end - start > DISTINCT_STRING_BYTES) return stringLiteral(token, maxBytes).text
  return endsExcerpt(decodeRaw(token), maxBytes).text
}

function arrayText(telling: Telling, { minLength, maxLength, items }: Shape): string {
  const length = minLength === maxLength ? `${maxLength}` : `${minLength}..${maxLength}`
  const text = `array(len=${length})`
  if (items === undefined || items.count === 0) return text
  const inside = { ...telling, detail: lower(telling.detail) }
  return telling.detail === 'kinds' ? text : `${text} of ${kindTexts(inside, items)}`
}

const lower = (detail: Detail): Detail => (detail === 'full' ? 'ranges' : 'kinds')

function objectText(telling: Telling, shape: Shape): string {
  const { bytes, maxBytes, detail } = telling
  if (detail === 'kinds') return maxBytes === 0 ? 'json' : `{${memberNames(shape, maxBytes / 2)}}`
  const map = asMap(bytes, shape)
  if (map !== undefined) {
    const { minSize, maxSize } = shape
    const size = minSize === maxSize ? `${maxSize}` : `${minSize}..${maxSize}`
    const values = typeText(bytes, map.values, maxBytes * MAP_VALUES_SHARE)
    const room = maxBytes - Buffer.byteLength(values) - LEAST_BYTES
    return `map(keys=${size}: ${names(map.names, room, maxSize)}) of ${values}`
  }
  return columnsText(telling, shape)
}

function memberNames({ members, names: mapNames, maxSize }: Shape, maxBytes: number): string {
  if (members === undefined) return names(mapNames, maxBytes, maxSize)
  return names([...members.keys()], maxBytes, members.size)
}

/**
 * `{id: int 1..20, name: string}`: every member with its kind, the first and most telling ones in
 * detail as far as that fits.
 */
function columnsText({ bytes, maxBytes, detail }: Telling, shape: Shape): string {
  const members = commonFirst(shape).map(([name, member]) => ({
    name: nameExcerpt(name, NAME_BYTES).text,
    member,
    text: optional(kindTexts({ bytes, maxBytes: 0, detail: 'kinds' }, member), member, shape),
  }))
  const size = (): number =>
    members.reduce(
      (sum, { name, text }) => sum + Buffer.byteLength(name) + Buffer.byteLength(text) + 4,
      2,
    )
  let isCut = shape.hasMore
  while (members.length > 1 && size() > maxBytes - LEAST_BYTES) {
    if (!isCut && objectsDiffer(shape) === false)
      return `{${memberNames(shape, maxBytes - LEAST_BYTES)}}`
    members.pop()
    isCut = true
  }
  let room = maxBytes - size() - LEAST_BYTES
  for (const column of members.toSorted((a, b) => usefulness(a.member) - usefulness(b.member))) {
    const better = optional(
      kindTexts({ bytes, maxBytes: Math.max(LEAST_BYTES, room / 2), detail }, column.member),
      column.member,
      shape,
    )
    const more = Buffer.byteLength(better) - Buffer.byteLength(column.text)
    if (more > room) continue
    column.text = better
    room -= more
  }
  const more = isCut ? [MARK] : []
  return `{${[...members.map(({ name, text }) => `${name}: ${text}`), ...more].join(', ')}}`
}

/** Whether some objects lack members that others have. */
function objectsDiffer({ members, objects }: Shape): boolean {
  return [...(members?.values() ?? [])].some(({ count }) => count < objects)
}

/** In their own order, but members that few of many objects have come last. */
function commonFirst({ members, objects }: Shape): readonly (readonly [string, Shape])[] {
  const isRare = ([, { count }]: readonly [string, Shape]): boolean => count * 2 < objects
  const all = [...(members ?? [])]
  return [...all.filter((member) => !isRare(member)), ...all.filter(isRare)]
}

/** A member that is not in all objects says in how many it is. */
function optional(text: string, member: Shape, parent: Shape): string {
  return member.count < parent.objects ? `${text} in ${member.count}` : text
}

/**
 * Lower for places that tell more: few distinct values, nulls among others, then the rest, then
 * constants.
 */
function usefulness({ distinct, nulls, count, trues, falses, strings }: Shape): number {
  if (nulls === count) return 4
  if (strings > 0 && distinct !== undefined && distinct.length < strings)
    return distinct.length === 1 ? 3 : 0
  if (nulls > 0 || (trues > 0 && falses > 0)) return 1
  return 2
}

/** The first names that fit, and a mark when there are more. */
export function names(all: readonly string[], maxBytes: number, total: number): string {
  const shown: string[] = []
  let room = maxBytes
  for (const name of all) {
    const { text } = nameExcerpt(name, NAME_BYTES)
    room -= Buffer.byteLength(text) + 2
    if (room < 0 && shown.length > 0) break
    shown.push(text)
  }
  if (shown.length < total) shown.push(MARK)
  return shown.join(', ')
}

/** Objects of which each name leads to a value of one shape. */
export interface MapShape {
  /** The first names, at most `SHAPE_MEMBERS`. */
  readonly names: readonly string[]
  readonly values: Shape
}

/**
 * The shape as a map: its names and the shape of its values. Undefined for objects whose members
 * differ.
 */
export function asMap(bytes: Buffer, shape: Shape): MapShape | undefined {
  const { members } = shape
  if (members !== undefined && members.size >= MAP_FROM_MEMBERS && isMapLike(shape)) {
    becomeMap(bytes, shape)
  }
  return shape.values === undefined ? undefined : { names: shape.names, values: shape.values }
}

function isMapLike({ members, objects, hasMore }: Shape): boolean {
  const all = [...(members?.values() ?? [])]
  const containers = Math.max(
    all.filter((member) => member.objects > 0).length,
    all.filter((member) => member.arrays > 0).length,
  )
  if (objects === 1) return containers >= all.length * ALIKE_SHARE
  return hasMore && all.every(({ count }) => count < objects * MAP_SHARED_SHARE)
}
