// What the writers of `killing.ts` put.
import { hash } from 'node:crypto'
import { encodeFailure } from '../../src/core/sentinels.ts'

export interface Sent {
  readonly type: string
  readonly body: string
  /** Digest of the value, a part of the body for an envelope. */
  readonly digest: string
  /** What its recall begins with. */
  readonly start: string
}

/** The `n`-th put: a text, a JSON value or a failure, of one byte to many chunks. */
export function putOf(n: number): Sent {
  const longest = n % 50 === 0 ? 400_000 : 9_000
  const filler = `${n} `.repeat(1 + ((n * 7919) % longest))
  switch (n % 3) {
    case 0: {
      const body = `text ${filler}`
      return { type: 'text/plain', body, digest: hash('sha256', body), start: `text ${n}` }
    }
    case 1: {
      const body = `{"n":${n}.0,"text":"${filler}"}`
      const start = `{\n  "n": ${n}.0`
      return { type: 'application/vnd.x+json', body, digest: hash('sha256', body), start }
    }
    default: {
      const message = `failed ${filler}`
      const { value } = encodeFailure({ kind: 'handler', message, attempts: 1 })
      const digest = hash('sha256', value.bytes)
      const body = JSON.stringify({ failure: { message } })
      return { type: 'application/json', body, digest, start: `failed ${n}` }
    }
  }
}
