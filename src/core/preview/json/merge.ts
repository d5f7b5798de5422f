/**
 * Merges shapes, as if the values of both stood at one place. Rows are forgotten: they are no rows
 * of the merged place.
 */
import { compareNumbers } from './numbers.ts'
import { DISTINCT_STRINGS, type Distinct, type Extent, SHAPE_MEMBERS, Shape } from './shape.ts'

/** Adds `from` to `into`. Both are of the document in `bytes`. */
function mergeShape(bytes: Buffer, into: Shape, from: Shape): void {
  addCounts(into, from)
  into.first ??= from.first
  into.firstString ??= from.firstString
  into.firstArray ??= from.firstArray
  into.firstObject ??= from.firstObject
  into.longest = pick(into.longest, from.longest, (a, b) => a.end - a.start >= b.end - b.start)
  into.lowest = pick(into.lowest, from.lowest, (a, b) => compareTokens(bytes, a, b) <= 0)
  into.highest = pick(into.highest, from.highest, (a, b) => compareTokens(bytes, a, b) >= 0)
  into.min = pick(into.min, from.min, (a, b) => compareNumbers(bytes, a, b) <= 0)
  into.max = pick(into.max, from.max, (a, b) => compareNumbers(bytes, a, b) >= 0)
  into.distinct = mergeDistinct(bytes, into.distinct, from.distinct)
  into.runs = undefined
  into.signatures = undefined
  if (from.items !== undefined) {
    into.items ??= new Shape(from.items.id)
    mergeShape(bytes, into.items, from.items)
  }
  mergeMembers(bytes, into, from)
}

function addCounts(into: Shape, from: Shape): void {
  into.count += from.count
  into.bytes += from.bytes
  into.nulls += from.nulls
  into.trues += from.trues
  into.falses += from.falses
  into.numbers += from.numbers
  into.integers += from.integers
  into.strings += from.strings
  into.stringBytes += from.stringBytes
  into.dates += from.dates
  into.arrays += from.arrays
  into.objects += from.objects
  into.minLength = Math.min(into.minLength, from.minLength)
  into.maxLength = Math.max(into.maxLength, from.maxLength)
  into.minSize = Math.min(into.minSize, from.minSize)
  into.maxSize = Math.max(into.maxSize, from.maxSize)
}

function pick<T>(
  a: T | undefined,
  b: T | undefined,
  isFirst: (a: T, b: T) => boolean,
): T | undefined {
  if (a === undefined || b === undefined) return a ?? b
  return isFirst(a, b) ? a : b
}

function compareTokens(bytes: Buffer, a: Extent, b: Extent): number {
  return bytes.compare(bytes, b.start, b.end, a.start, a.end)
}

function mergeDistinct(
  bytes: Buffer,
  a: readonly Distinct[] | undefined,
  b: readonly Distinct[] | undefined,
): Distinct[] | undefined {
  if (a === undefined || b === undefined) return undefined
  const merged = a.map((one) => ({ ...one }))
  for (const one of b) {
    const known = merged.find((other) => compareTokens(bytes, one, other) === 0)
    if (known !== undefined) known.count += one.count
    else if (merged.length === DISTINCT_STRINGS) return undefined
    else merged.push({ ...one, row: -1 })
  }
  return merged
}

function mergeMembers(bytes: Buffer, into: Shape, from: Shape): void {
  into.hasMore ||= from.hasMore
  if (into.values !== undefined || from.values !== undefined) mergeMaps(bytes, into, from)
  else for (const [name, member] of from.members ?? []) mergeMember(bytes, into, { name, member })
}

function mergeMaps(bytes: Buffer, into: Shape, from: Shape): void {
  becomeMap(bytes, into)
  const { values } = into
  if (values === undefined) return
  if (from.values !== undefined) mergeShape(bytes, values, from.values)
  for (const member of from.members?.values() ?? []) mergeShape(bytes, values, member)
}

function mergeMember(
  bytes: Buffer,
  into: Shape,
  { name, member }: { readonly name: string; readonly member: Shape },
): void {
  into.members ??= new Map()
  const known = into.members.get(name)
  if (known !== undefined) mergeShape(bytes, known, member)
  else if (into.members.size < SHAPE_MEMBERS) {
    const copy = new Shape(member.id)
    mergeShape(bytes, copy, member)
    into.members.set(name, copy)
  } else into.hasMore = true
}

/** Forgets which members an object has: its values are of one shape from now on. */
export function becomeMap(bytes: Buffer, shape: Shape): void {
  if (shape.values !== undefined) return
  const values = new Shape(shape.id)
  for (const [name, member] of shape.members ?? []) {
    shape.names.push(name)
    mergeShape(bytes, values, member)
  }
  shape.members = undefined
  shape.values = values
}
