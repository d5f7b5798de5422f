/**
 * Composing JSON from slices: what callers sent is copied as bytes, only what is ours is encoded.
 */
import { JsonSlice } from './slice.ts'

/** A JSON document in the making: slices stay bytes; everything else is encoded by `JSON.stringify`. */
export type Splice =
  | JsonSlice
  | string
  | number
  | boolean
  | null
  | readonly Splice[]
  | { readonly [name: string]: Splice | undefined }

/** The bytes of `value`; members that are undefined are left out. */
export function spliceJson(value: Splice): Buffer {
  const parts: Buffer[] = []
  let text = ''
  const flush = (): void => {
    if (text !== '') parts.push(Buffer.from(text))
    text = ''
  }
  const write = (node: Splice): void => {
    if (node instanceof JsonSlice) {
      flush()
      parts.push(node.source)
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
  const writeMembers = (node: { readonly [name: string]: Splice | undefined }): void => {
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
  return Buffer.concat(parts)
}

/** A value of ours as a slice, where a slice is expected. */
export function sliceOf(value: Splice): JsonSlice {
  return new JsonSlice(spliceJson(value))
}

export interface Edit {
  readonly start: number
  readonly end: number
  readonly bytes: Buffer
}

/** `value` with the ranges of `edits` (absolute, ascending, not overlapping) replaced. */
export function editSlice(value: JsonSlice, edits: readonly Edit[]): JsonSlice {
  if (edits.length === 0) return value
  const parts: Buffer[] = []
  let pos = value.start
  for (const edit of edits) {
    parts.push(value.bytes.subarray(pos, edit.start), edit.bytes)
    pos = edit.end
  }
  parts.push(value.bytes.subarray(pos, value.end))
  return new JsonSlice(Buffer.concat(parts))
}

const isList = (node: object): node is readonly Splice[] => Array.isArray(node)
