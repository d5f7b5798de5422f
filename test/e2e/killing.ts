// Kills a service at random moments while many write, and finds out what it has kept. The moments cannot be replayed; the
// promises hold for all: what was answered is there, what was not is there whole or not at all, and numbers have no gap.
import assert from 'node:assert/strict'
import { hash } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import Database from 'better-sqlite3'
import type { PutAnswer, ResultDescription } from '../../src/runs/answer.ts'
import type { RunAnswer } from '../../src/runs/lifecycle.ts'
import type { RecallAnswer } from '../../src/runs/recall.ts'
import { startChild } from '../support/service.ts'
import { putOf, type Sent } from './killing-puts.ts'

const RUN = '/v1/runs/crash'
const NOT_FOUND = 404
const OK = 200
const CREATED = 201
const PAGE_RESULTS = 1_000
const READERS = 8

export interface KillOptions {
  readonly ledger: string
  readonly rounds: number
  readonly writers: number
  /** A round ends at random before that. */
  readonly longestRoundMs: number
  readonly onRound?: (figures: KillFigures) => void
}

export interface KillFigures {
  readonly rounds: number
  readonly acknowledged: number
  /** Under way when a kill came: kept whole, or not at all. */
  readonly keptUnanswered: number
  readonly lostUnanswered: number
}

/** Runs the rounds; throws an AssertionError for a promise that is broken. The ledger's run must be new. */
export async function killRounds(options: KillOptions): Promise<KillFigures> {
  const rounds = new Rounds(options)
  for (let round = 0; round < options.rounds; round++) {
    await rounds.one()
    options.onRound?.(rounds.figures)
  }
  await rounds.finish()
  return rounds.figures
}

class Rounds {
  readonly #options: KillOptions
  /** By handle, all that has been answered. */
  readonly #kept = new Map<string, Sent>()
  /** By number of the put, what was sent and not answered. */
  readonly #open = new Map<number, Sent>()
  /** Of these, what has been answered since the last restart. */
  #new: string[] = []
  #url = ''
  #sent = 0
  figures: KillFigures = { rounds: 0, acknowledged: 0, keptUnanswered: 0, lostUnanswered: 0 }

  constructor(options: KillOptions) {
    this.#options = options
  }

  async one(): Promise<void> {
    const { ledger, writers, longestRoundMs } = this.#options
    const child = await startChild({ env: { COATCHECK_LEDGER: ledger } })
    try {
      this.#url = child.url
      await this.#checkRestart()
      const all = Array.from({ length: writers }, () => this.#write())
      await sleep(Math.random() * longestRoundMs)
      await child.kill()
      await Promise.all(all)
    } finally {
      await child.kill()
    }
    const { rounds } = this.figures
    this.figures = { ...this.figures, rounds: rounds + 1, acknowledged: this.#kept.size }
  }

  /** Everything once more, from a service that then ends as it should. */
  async finish(): Promise<void> {
    const child = await startChild({ env: { COATCHECK_LEDGER: this.#options.ledger } })
    try {
      this.#url = child.url
      await this.#checkRestart()
      await this.#checkValues([...this.#kept.keys()])
      this.figures = { ...this.figures, acknowledged: this.#kept.size }
      assert.deepEqual(await child.stop(), { code: 0, signal: null })
    } finally {
      await child.kill()
    }
  }

  /** Puts one after the other until the service is gone. */
  async #write(): Promise<void> {
    for (;;) {
      const n = this.#sent++
      const put = putOf(n)
      this.#open.set(n, put)
      const answer = await this.#put(n, put).catch(() => undefined)
      if (answer === undefined) return
      assert.equal(answer.status, CREATED)
      this.#keep(answer.handle, put)
      this.#open.delete(n)
    }
  }

  /** Rejects when the answer did not arrive whole. */
  async #put(n: number, { type, body }: Sent): Promise<PutAnswer & { status: number }> {
    const reply = await fetch(`${this.#url}${RUN}/results?tool_use_id=call-${n}`, {
      method: 'POST',
      headers: { 'content-type': type },
      body,
    })
    return { ...((await reply.json()) as PutAnswer), status: reply.status }
  }

  async #checkRestart(): Promise<void> {
    const results = await this.#list()
    assert.deepEqual(
      results.map(({ handle }) => handle),
      results.map((_, index) => `r${index + 1}`),
    )
    const present = new Map(results.map((result) => [result.handle, result]))
    for (const [handle, { digest }] of this.#kept) {
      assert.equal(present.get(handle)?.sha256, digest, `${handle} was acknowledged`)
    }
    const unanswered = results.filter(({ handle }) => !this.#kept.has(handle))
    assert.ok(unanswered.length <= this.#options.writers)
    for (const result of unanswered) {
      const sent = this.#open.get(Number(result.tool_use_id?.slice('call-'.length)))
      assert.equal(result.sha256, sent?.digest, `${result.handle} is what was sent`)
    }
    await this.#checkRun(results)
    await this.#sendAgain(results, unanswered)
    await this.#checkValues(this.#new)
    this.#new = []
    checkFile(this.#options.ledger)
  }

  async #checkRun(results: readonly ResultDescription[]): Promise<void> {
    if (results.length === 0) return
    const run = (await (await fetch(this.#url + RUN)).json()) as RunAnswer
    const bytes = results.reduce((sum, { total_bytes }) => sum + total_bytes, 0)
    assert.deepEqual([run.results, run.kept_bytes], [results.length, bytes])
  }

  /** What was sent and not answered: again the same result where it was kept, else the next number. */
  async #sendAgain(
    { length }: readonly ResultDescription[],
    unanswered: readonly ResultDescription[],
  ): Promise<void> {
    const handles = new Map(unanswered.map((result) => [result.tool_use_id, result.handle]))
    let last = length
    for (const [n, put] of this.#open) {
      const { status, handle } = await this.#put(n, put)
      const before = handles.get(`call-${n}`)
      assert.deepEqual([status, handle], before ? [OK, before] : [CREATED, `r${++last}`])
      this.#keep(handle, put)
    }
    const { keptUnanswered: kept, lostUnanswered: lost } = this.figures
    this.figures = {
      ...this.figures,
      keptUnanswered: kept + unanswered.length,
      lostUnanswered: lost + last - length,
    }
    this.#open.clear()
  }

  #keep(handle: string, put: Sent): void {
    assert.ok(!this.#kept.has(handle), `${handle} was given twice`)
    this.#kept.set(handle, put)
    this.#new.push(handle)
  }

  async #checkValues(handles: readonly string[]): Promise<void> {
    const left = [...handles]
    const check = async (): Promise<void> => {
      for (let next = left.pop(); next !== undefined; next = left.pop()) {
        await this.#checkValue(next, this.#kept.get(next) as Sent)
      }
    }
    await Promise.all(Array.from({ length: READERS }, check))
  }

  async #checkValue(handle: string, { digest, start }: Sent): Promise<void> {
    const value = await fetch(`${this.#url}${RUN}/results/${handle}/value`)
    assert.equal(hash('sha256', Buffer.from(await value.arrayBuffer())), digest, handle)
    const recall = await fetch(`${this.#url}${RUN}/recall`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ id: handle }),
    })
    const { content } = (await recall.json()) as RecallAnswer
    assert.equal(content.slice(0, start.length), start)
  }

  /** Every result of the run, in order. */
  async #list(): Promise<readonly ResultDescription[]> {
    const items: ResultDescription[] = []
    for (let after = ''; ; ) {
      const reply = await fetch(`${this.#url}${RUN}/results?limit=${PAGE_RESULTS}${after}`)
      if (reply.status === NOT_FOUND) return items
      const page = (await reply.json()) as { items: ResultDescription[]; next: string | null }
      items.push(...page.items)
      if (page.next === null) return items
      after = `&after=${page.next}`
    }
  }
}

function checkFile(ledger: string): void {
  const db = new Database(ledger, { readonly: true })
  try {
    assert.equal(db.pragma('integrity_check', { simple: true }), 'ok')
  } finally {
    db.close()
  }
}
