// What a service has acknowledged, to be found whole whatever has happened to it since.
import { createHash } from 'node:crypto'
import Database from 'better-sqlite3'
import { expect } from 'vitest'
import type { PutAnswer, ResultDescription } from '../../src/runs/answer.ts'
import type { RunAnswer } from '../../src/runs/lifecycle.ts'

const sha256 = (bytes: Uint8Array): string => createHash('sha256').update(bytes).digest('hex')

export interface Outcome {
  readonly status: number
  /** Of a problem. */
  readonly code: string | undefined
  readonly retryAfter: string | null
  readonly handle: string | undefined
}

/** Puts texts into one run, and knows which of them were answered. */
export class Kept {
  readonly #run: string
  readonly #digests = new Map<string, string>()
  /** Of the service; may change with a restart. */
  url: string

  constructor(url: string, run: string) {
    this.url = url
    this.#run = run
  }

  get path(): string {
    return `${this.url}/v1/runs/${this.#run}`
  }

  /** Of a put that was kept, the answer is remembered. */
  async put(text: string): Promise<Outcome> {
    const reply = await fetch(`${this.path}/results`, {
      method: 'POST',
      headers: { 'content-type': 'text/plain' },
      body: text,
    })
    const body = (await reply.json()) as Partial<PutAnswer & { code: string }>
    const { handle, code } = body
    if (reply.ok && handle !== undefined) this.#digests.set(handle, sha256(Buffer.from(text)))
    return { status: reply.status, code, handle, retryAfter: reply.headers.get('retry-after') }
  }

  /** The run has the results that were answered and no others, numbered from 1, each byte for byte. */
  async expectAll(): Promise<void> {
    const list = await fetch(`${this.path}/results?limit=1000`)
    const { items } = (await list.json()) as { items: readonly ResultDescription[] }
    expect(items.map(({ handle }) => handle)).toEqual(items.map((_, index) => `r${index + 1}`))
    expect(new Map(items.map((item) => [item.handle, item.sha256]))).toEqual(this.#digests)
    for (const { handle, sha256: digest } of items) {
      const value = await fetch(`${this.path}/results/${handle}/value`)
      expect(sha256(new Uint8Array(await value.arrayBuffer()))).toBe(digest)
    }
    const run = (await (await fetch(this.path)).json()) as RunAnswer
    expect(run).toMatchObject({
      results: items.length,
      kept_bytes: items.reduce((sum, item) => sum + item.total_bytes, 0),
    })
  }
}

/** Checks the file of a ledger beside the service that has it, or after its end. */
export function expectSound(ledger: string): void {
  const db = new Database(ledger, { readonly: true })
  try {
    expect(db.pragma('integrity_check', { simple: true })).toBe('ok')
    expect(db.pragma('foreign_key_check')).toEqual([])
  } finally {
    db.close()
  }
}

export const statusOf = async (url: string): Promise<number> => (await fetch(url)).status
