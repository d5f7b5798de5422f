/**
 * Composes JSON from slices. Callers' JSON is copied as bytes; only our own members are encoded. A
 * value too large for memory stays a source that is read while the document is sent. The length of
 * the document is known before.
 */
import { JsonSlice } from './slice.ts'

/** Bytes that are read on demand. */
export interface Source {
  readonly totalBytes: number
  read(): AsyncIterable<Buffer>
}

/** A part of a document: bytes in memory, or a source of bytes. */
export type Part = Buffer | Source

/** One JSON value as a list of parts, in order. */
export class JsonParts {
  readonly parts: readonly Part[]

  constructor(parts: readonly Part[]) {
    this.parts = parts
  }
}

/**
 * A JSON document to be composed: slices stay bytes; everything else is encoded by
 * `JSON.stringify`.
 */
export type Splice<Value = JsonSlice> =
  | Value
  | string
  | number
  | boolean
  | null
  | readonly Splice<Value>[]
  | { readonly [name: string]: Splice<Value> | undefined }

/**
 * The bytes of `value`. Undefined members are left out.
 *
 * @example spliceJson({ a: 1, b: undefined }).toString() // '{"a":1}'
 */
export function spliceJson(value: Splice): Buffer {
  return Buffer.concat(spliceParts(value) as readonly Buffer[])
}

/**
 * As {@link spliceJson}, as a list of parts. All parts are bytes when no {@link JsonParts} is in
 * `value`.
 *
 * @example spliceParts([json('1.0')]).map(String) // ['[', '1.0', ']']
 */
export function spliceParts(value: Splice<JsonSlice | JsonParts>): readonly Part[] {
  const parts: Part[] = []
  let text = ''
  const flush = (): void => {
    if (text !== '') parts.push(Buffer.from(text))
    text = ''
  }
  const write = (node: Splice<JsonSlice | JsonParts>): void => {
    if (node instanceof JsonSlice) {
      flush()
      parts.push(node.source)
    } else if (node instanceof JsonParts) {
      flush()
      for (const part of node.parts) parts.push(part)
    } else if (node === null || typeof node !== 'object') {
      text += JSON.stringify(node)
    } else if (isList(node)) {
      text += '['
      node.forEach((item, i) => {
        if (i > 0) text += ','
        write(item)
      })
      text += ']'
    } else {
      writeMembers(node)
    }
  }
  const writeMembers = (node: Members): void => {
    let separator = '{'
    for (const [name, member] of Object.entries(node)) {
      if (member === undefined) continue
      text += `${separator}${JSON.stringify(name)}:`
      separator = ','
      write(member)
    }
    text += separator === '{' ? '{}' : '}'
  }
  write(value)
  flush()
  return parts
}

interface Members {
  readonly [name: string]: Splice<JsonSlice | JsonParts> | undefined
}

/**
 * Bytes of a part.
 *
 * @example partBytes(bytes('ab')) // 2
 */
export function partBytes(part: Part): number {
  return Buffer.isBuffer(part) ? part.length : part.totalBytes
}

/**
 * Reads all parts into one buffer.
 *
 * @example joinParts([bytes('a'), bytes('b')]).then(String) // 'ab'
 */
export async function joinParts(parts: readonly Part[]): Promise<Buffer> {
  const pieces: Buffer[] = []
  for await (const piece of readParts(parts)) pieces.push(piece)
  return pieces.length === 1 ? (pieces[0] as Buffer) : Buffer.concat(pieces)
}

/**
 * The bytes of parts, in order.
 *
 * @example Array.fromAsync(readParts([bytes('a')]), String) // ['a']
 */
export async function* readParts(parts: readonly Part[]): AsyncGenerator<Buffer> {
  for (const part of parts) {
    if (Buffer.isBuffer(part)) yield part
    else yield* part.read()
  }
}

/**
 * Encodes a value as a slice.
 *
 * @example sliceOf({ a: null }).toString() // '{"a":null}'
 */
export function sliceOf(value: Splice): JsonSlice {
  return new JsonSlice(spliceJson(value))
}

/** Replacement of the bytes `[start, end)`. */
export interface Edit<Bytes = Buffer> {
  readonly start: number
  readonly end: number
  readonly bytes: Bytes
}

/**
 * `value` with the ranges of `edits` replaced. Ranges are positions in its buffer, ascending, not
 * overlapping.
 */
export function editSlice(value: JsonSlice, edits: readonly Edit[]): JsonSlice {
  if (edits.length === 0) return value
  return new JsonSlice(Buffer.concat(editParts(value, edits).parts as readonly Buffer[]))
}

/** As {@link editSlice}, as a list of parts. */
export function editParts(value: JsonSlice, edits: readonly Edit<Part>[]): JsonParts {
  const parts: Part[] = []
  let pos = value.start
  for (const edit of edits) {
    parts.push(value.bytes.subarray(pos, edit.start), edit.bytes)
    pos = edit.end
  }
  parts.push(value.bytes.subarray(pos, value.end))
  return new JsonParts(parts)
}

const isList = (node: object): node is readonly Splice<JsonSlice | JsonParts>[] =>
  Array.isArray(node)
