/** Values of a soak: every kind and many sizes, drawn from a seed. */
import { hash } from 'node:crypto'

/** Draws the next number, from 0 up to but not including 1. */
export type Draw = () => number

/** Draws numbers from 0 up to but not including 1, the same for the same seed (mulberry32). */
export function drawing(seed: number): Draw {
  let state = seed
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 0x100000000
  }
}

/** A value to put. */
export interface Value {
  readonly type: string
  readonly body: Buffer
  /** Digest of the bytes that a raw read answers. Undefined when these are not the body. */
  readonly digest: string | undefined
}

const RAW_TYPES = ['text/plain', 'application/x-ndjson', 'application/vnd.x+json', 'image/x-noise']

/** Draws a size: mostly some KB, and in one of a hundred cases up to `mostBytes`. */
export function drawSize(draw: Draw, mostBytes: number): number {
  const top = draw() < 0.01 ? mostBytes : 10 ** (1 + 4 * draw())
  return 1 + Math.floor(draw() * top)
}

/** Draws a value of at most about `bytes`. */
export function drawValue(draw: Draw, bytes: number): Value {
  const kind = Math.floor(draw() * (RAW_TYPES.length + 3))
  const type = RAW_TYPES[kind]
  if (type !== undefined) {
    const body = rawBody(type, draw, bytes)
    return { type, body, digest: hash('sha256', body) }
  }
  const text = lines(draw, Math.min(bytes, 100_000))
  const envelope = [
    { output: { text, n: draw() } },
    { failure: { message: text, kind: 'handler' } },
    { suspension: { reason: text, input_schema: { type: 'object' } } },
  ][kind - RAW_TYPES.length]
  return {
    type: 'application/json',
    body: Buffer.from(JSON.stringify(envelope)),
    digest: undefined,
  }
}

function rawBody(type: string, draw: Draw, bytes: number): Buffer {
  if (type === 'image/x-noise') {
    return Buffer.from(Uint8Array.from({ length: Math.min(bytes, 500_000) }, () => 256 * draw()))
  }
  const text = lines(draw, bytes)
  if (type === 'text/plain') return Buffer.from(text)
  const rows = text.split('\n').map((line, n) => JSON.stringify({ n, line }))
  return Buffer.from(type.endsWith('ndjson') ? rows.join('\n') : `[${rows.join(',')}]`)
}

/** Equal lines that no other value has, with characters of one to four bytes. */
function lines(draw: Draw, bytes: number): string {
  const start = Math.floor(draw() * 1e9).toString(36)
  const line = `${start} a line of a log, äöü, 漢字, 🙂 and the end of it\n`
  return line.repeat(Math.ceil(bytes / Buffer.byteLength(line)))
}
