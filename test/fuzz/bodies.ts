// Bodies for an operation: of the types that it takes, and now and then of another, cut, flipped, compressed, or none.
import { gzipSync, zstdCompressSync } from 'node:zlib'
import fc from 'fast-check'
import type { Operation } from '../../src/http/docs/openapi-document.ts'
import type { SchemaNode, SchemaTexts } from './from-schema.ts'
import { hostileText } from './hostile.ts'
import { oneIn, seldom } from './odds.ts'

export interface Body {
  readonly type: string | undefined
  readonly encoding: string | undefined
  readonly pieces: readonly Buffer[]
}

export function bodyOf(
  { requestBody }: Operation,
  texts: SchemaTexts,
): fc.Arbitrary<Body | undefined> {
  const contents = Object.entries(requestBody?.content ?? {})
  const none = fc.constant(undefined)
  if (contents.length === 0) return seldom<Body | undefined>(30, sentBody('{}', 'text/plain'), none)
  const bodies = contents.map(([type, { schema }]) =>
    type === 'application/json'
      ? { weight: 3, arbitrary: json(texts.of(schema as SchemaNode)) }
      : { weight: 1, arbitrary: rawBody(type) },
  )
  return seldom<Body | undefined>(40, none, fc.oneof(...bodies))
}

function json(text: fc.Arbitrary<string>): fc.Arbitrary<Body> {
  return fc
    .record({ text, type: seldom(40, otherType, fc.constant('application/json')) })
    .chain(({ text, type }) => sentBody(text, type))
}

const otherType = fc.constantFrom(
  'text/plain',
  'application/vnd.a+json',
  'image/png',
  'text',
  '*/*',
)

/** The last but one is taken in pieces, the last is too much. */
const RAW_LINES = [1, 10, 10, 10, 10, 2_000, 2_000, 5_000, 100_000, 200_000]
const rawText = fc.oneof(
  hostileText,
  fc.constantFrom(...RAW_LINES).map((lines) => 'a line of it\r\n'.repeat(lines)),
  fc.uint8Array({ maxLength: 200 }).map((bytes) => Buffer.from(bytes).toString('latin1')),
)
const rawBody = (type: string): fc.Arbitrary<Body> =>
  fc
    .tuple(rawText, seldom(8, otherType, fc.constant(type)))
    .chain(([text, type]) => sentBody(text, type))

type Change = (bytes: Buffer) => Buffer

const cut = fc.nat(1_000).map(
  (promille): Change =>
    (bytes) =>
      bytes.subarray(0, Math.floor((bytes.length * promille) / 1_000)),
)
const flipped = fc.tuple(fc.nat(1_000), fc.nat(255)).map(
  ([promille, byte]): Change =>
    (bytes) => {
      const changed = Buffer.from(bytes)
      changed[Math.floor((bytes.length * promille) / 1_001)] = byte
      return changed
    },
)
const same = fc.constant<Change>((bytes) => bytes)

interface Coding {
  readonly encoding: string | undefined
  readonly encode: Change
}
const PLAIN: Coding = { encoding: undefined, encode: (bytes) => bytes }
const CODINGS: readonly Coding[] = [
  { encoding: 'gzip', encode: (bytes) => gzipSync(bytes) },
  { encoding: 'zstd', encode: (bytes) => zstdCompressSync(bytes) },
  { encoding: 'gzip', encode: (bytes) => bytes },
  { encoding: 'zstd', encode: (bytes) => Buffer.concat([zstdCompressSync(bytes), bytes]) },
]

/** The text as a body: now and then cut, flipped or compressed; whole, or in pieces without a length. */
function sentBody(text: string, type: string): fc.Arbitrary<Body> {
  return fc
    .record({
      change: seldom(30, fc.oneof(cut, flipped), same),
      coding: seldom(12, fc.constantFrom(...CODINGS), fc.constant(PLAIN)),
      spoilt: seldom(40, fc.oneof(cut, flipped), same),
      inPieces: oneIn(6),
      hasType: oneIn(60).map((isBare) => !isBare),
    })
    .map(({ change, coding: { encoding, encode }, spoilt, inPieces, hasType }) => {
      const bytes = spoilt(encode(change(Buffer.from(text))))
      const middle = Math.floor(bytes.length / 2)
      return {
        type: hasType ? type : undefined,
        encoding,
        pieces: inPieces ? [bytes.subarray(0, middle), bytes.subarray(middle)] : [bytes],
      }
    })
}
