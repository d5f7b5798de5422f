/**
 * One client of a soak. It puts, reads, resolves, breaks off, sends invalid requests, ends and
 * purges, in its own runs, and checks every answer. It keeps a bounded number of values to compare
 * with.
 */
import { hash } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Client, Reply, Sent } from './client.ts'
import { type Draw, drawSize, drawValue, type Value } from './soak-values.ts'

const LARGEST_BYTES = 4_000_000
const STREAM_BYTES = 8_000_000
const STREAM_PIECE_BYTES = 70_000
const RESULTS_PER_RUN = 40
const ENDED_RUNS = 3
const PAUSE_MS = 5
const RETRIES = 0.1
const HALF = 0.5
const JSON_TYPE = 'application/json'

interface Kept {
  readonly handle: string
  readonly evidenceId: string
  readonly toolUseId: string
  readonly digest: string
  readonly bytes: number
}

/** Counts of a soak, over all clients. */
export interface Tally {
  requests: number
  bytesPut: number
  bytesRead: number
  /** Failures. One is enough to fail the soak. */
  readonly wrong: string[]
}

/** One client of a soak. */
export class Traffic {
  readonly #client: Client
  readonly #name: string
  readonly #draw: Draw
  readonly #tally: Tally
  readonly #actions: readonly (readonly [share: number, act: () => Promise<void>])[]
  #runs = 0
  #puts = 0
  #kept: Kept[] = []
  #ended: string[] = []

  constructor(client: Client, how: { name: string; draw: Draw; tally: Tally }) {
    this.#client = client
    this.#name = how.name
    this.#draw = how.draw
    this.#tally = how.tally
    this.#actions = [
      [40, () => this.#put(drawValue(this.#draw, drawSize(this.#draw, LARGEST_BYTES)))],
      [1, () => this.#stream()],
      [20, () => this.#read()],
      [10, () => this.#readRange()],
      [15, () => this.#recall()],
      [8, () => this.#content()],
      [8, () => this.#resolve()],
      [4, () => this.#elide()],
      [5, () => this.#breakOff()],
      [5, () => this.#askNonsense()],
    ]
  }

  async run(until: () => boolean): Promise<void> {
    while (!until()) {
      if (this.#kept.length >= RESULTS_PER_RUN) await this.#nextRun()
      await this.#drawAction()()
      await sleep(PAUSE_MS)
    }
  }

  get #path(): string {
    return `/v1/runs/${this.#name}-${this.#runs}`
  }

  #drawAction(): () => Promise<void> {
    let left = this.#draw() * this.#actions.reduce((sum, [share]) => sum + share, 0)
    const drawn = this.#actions.find(([share]) => {
      left -= share
      return left < 0
    })
    return (drawn ?? this.#actions[0])?.[1] as () => Promise<void>
  }

  #drawKept(): Kept | undefined {
    return this.#kept[Math.floor(this.#draw() * this.#kept.length)]
  }

  async #send(method: string, path: string, sent: Sent, expected: number): Promise<Reply> {
    const reply = await this.#client.send(method, path, sent)
    this.#tally.requests++
    if (reply.status !== expected) {
      const text = reply.body.toString().slice(0, 300)
      this.#tally.wrong.push(`${method} ${path}: ${reply.status}, not ${expected}: ${text}`)
    }
    return reply
  }

  async #put({ type, body, digest }: Value, pieces?: readonly Buffer[]): Promise<void> {
    const toolUseId = `${this.#name}-${++this.#puts}`
    const path = `${this.#path}/results?tool_use_id=${toolUseId}`
    const sent = { type, body: pieces ?? body }
    const { status, body: answer } = await this.#send('POST', path, sent, 201)
    if (status !== 201) return
    const { handle, evidence_id: evidenceId, sha256, total_bytes } = JSON.parse(String(answer))
    this.#check(digest === undefined || sha256 === digest, `the digest of ${path}`)
    this.#tally.bytesPut += body.length
    this.#kept.push({ handle, evidenceId, toolUseId, digest: sha256, bytes: total_bytes })
    if (this.#draw() > RETRIES) return
    const again = await this.#send('POST', path, { type, body }, 200)
    this.#check(JSON.parse(String(again.body)).handle === handle, `a retry of ${path}`)
  }

  /** Puts a value in pieces and without a length. */
  async #stream(): Promise<void> {
    const { type, body, digest } = drawValue(this.#draw, this.#draw() * STREAM_BYTES)
    if (type === JSON_TYPE) return
    const pieces: Buffer[] = []
    for (let at = 0; at < body.length; at += STREAM_PIECE_BYTES) {
      pieces.push(body.subarray(at, at + STREAM_PIECE_BYTES))
    }
    await this.#put({ type, body, digest }, pieces)
  }

  async #read(): Promise<void> {
    const kept = this.#drawKept()
    if (kept === undefined) return
    const path = `${this.#path}/results/${kept.handle}/value`
    const { body } = await this.#send('GET', path, {}, 200)
    this.#tally.bytesRead += body.length
    this.#check(hash('sha256', body) === kept.digest, `the bytes of ${path}`)
  }

  /** Reads a part of a value and compares it with the same part of the whole. */
  async #readRange(): Promise<void> {
    const kept = this.#drawKept()
    if (kept === undefined || kept.bytes < 2) return
    const path = `${this.#path}/results/${kept.handle}/value`
    const start = Math.floor(this.#draw() * kept.bytes)
    const end = Math.min(kept.bytes, start + 1 + Math.floor(this.#draw() * STREAM_PIECE_BYTES))
    const range = { range: `bytes=${start}-${end - 1}` }
    const part = await this.#send('GET', path, { headers: range }, 206)
    const whole = await this.#send('GET', path, {}, 200)
    this.#tally.bytesRead += part.body.length + whole.body.length
    this.#check(
      whole.body.subarray(start, end).equals(part.body),
      `bytes ${start}-${end} of ${path}`,
    )
  }

  async #recall(): Promise<void> {
    const kept = this.#drawKept()
    if (kept === undefined) return
    const id = this.#draw() < HALF ? kept.evidenceId : kept.handle
    const body = JSON.stringify({ id })
    const reply = await this.#client.send('POST', `${this.#path}/recall`, { type: JSON_TYPE, body })
    this.#tally.requests++
    // A binary has no text view to recall.
    const isKnown = reply.status === 200 || String(reply.body).includes('"no_text_view"')
    this.#check(isKnown, `recall of ${id}: ${reply.status}`)
  }

  async #content(): Promise<void> {
    const kept = this.#drawKept()
    if (kept === undefined) return
    const path = `${this.#path}/results/${kept.handle}/content`
    await this.#send('GET', path, {}, 200)
  }

  async #resolve(): Promise<void> {
    const kept = this.#drawKept()
    if (kept === undefined) return
    const body = JSON.stringify({ arguments: { of: `$${kept.handle}`, gone: '$r99999' } })
    await this.#send('POST', `${this.#path}/resolve`, { type: JSON_TYPE, body }, 200)
  }

  async #elide(): Promise<void> {
    const content = [{ type: 'tool_result', tool_use_id: 'a', content: 'a line\n'.repeat(500) }]
    const messages = Array.from({ length: 20 }, () => ({ role: 'user', content }))
    const body = JSON.stringify({ keep_recent_tool_results: 2, messages })
    await this.#send('POST', '/v1/compaction/elide', { type: JSON_TYPE, body }, 200)
  }

  async #breakOff(): Promise<void> {
    const body = Buffer.alloc(1 + Math.floor(this.#draw() * LARGEST_BYTES), 'broken off ')
    await this.#client.breakOff(`${this.#path}/results`, { body })
  }

  async #askNonsense(): Promise<void> {
    await this.#send('POST', `${this.#path}/results`, { type: JSON_TYPE, body: '{"output":' }, 400)
    await this.#send('POST', `${this.#path}/results`, { type: JSON_TYPE, body: '{}' }, 400)
    await this.#send('GET', `/v1/runs/${this.#name}-none`, {}, 404)
  }

  /** Ends the run, and purges the one that ended some runs ago. */
  async #nextRun(): Promise<void> {
    await this.#send('GET', `${this.#path}/results?limit=100`, {}, 200)
    await this.#send('DELETE', this.#path, {}, 200)
    await this.#read()
    this.#ended.push(this.#path)
    if (this.#ended.length > ENDED_RUNS) {
      await this.#send('DELETE', `${this.#ended.shift()}?purge=true`, {}, 200)
    }
    this.#runs++
    this.#kept = []
  }

  #check(isRight: boolean, what: string): void {
    if (!isRight) this.#tally.wrong.push(`wrong: ${what}`)
  }
}
