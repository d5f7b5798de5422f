/**
 * Composing JSON from slices: what callers sent is copied as bytes, only what is ours is encoded. What is too large to be
 * held stays a source, to be read when the document is sent; how long the document is is known before.
 */
import { JsonSlice } from './slice.ts'

/** Bytes that are read when they are needed. */
export interface Source {
  readonly totalBytes: number
  read(): AsyncIterable<Buffer>
}

export type Part = Buffer | Source

/** One JSON value as the parts that make it up, in order. */
export class JsonParts {
  readonly parts: readonly Part[]

  constructor(parts: readonly Part[]) {
    this.parts = parts
  }
}

/** A JSON document in the making: slices stay bytes; everything else is encoded by `JSON.stringify`. */
export type Splice<Value = JsonSlice> =
  | Value
  | string
  | number
  | boolean
  | null
  | readonly Splice<Value>[]
  | { readonly [name: string]: Splice<Value> | undefined }

/** The bytes of `value`; members that are undefined are left out. */
export function spliceJson(value: Splice): Buffer {
  return Buffer.concat(spliceParts(value) as readonly Buffer[])
}

/** The same with values that come in parts; without any, all parts are bytes. */
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

export function partBytes(part: Part): number {
  return Buffer.isBuffer(part) ? part.length : part.totalBytes
}

/** One buffer of all that `parts` hold. */
export async function joinParts(parts: readonly Part[]): Promise<Buffer> {
  const pieces: Buffer[] = []
  for await (const piece of readParts(parts)) pieces.push(piece)
  return pieces.length === 1 ? (pieces[0] as Buffer) : Buffer.concat(pieces)
}

/** The bytes of parts, in order. */
export async function* readParts(parts: readonly Part[]): AsyncGenerator<Buffer> {
  for (const part of parts) {
    if (Buffer.isBuffer(part)) yield part
    else yield* part.read()
  }
}

/** A value of ours as a slice, where a slice is expected. */
export function sliceOf(value: Splice): JsonSlice {
  return new JsonSlice(spliceJson(value))
}

export interface Edit<Bytes = Buffer> {
  readonly start: number
  readonly end: number
  readonly bytes: Bytes
}

/** `value` with the ranges of `edits` (absolute, ascending, not overlapping) replaced. */
export function editSlice(value: JsonSlice, edits: readonly Edit[]): JsonSlice {
  if (edits.length === 0) return value
  return new JsonSlice(Buffer.concat(editParts(value, edits).parts as readonly Buffer[]))
}

/** The same, without joining what it is made of. */
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
