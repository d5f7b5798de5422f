/**
 * What many results cost: memory and time of a server that keeps many, and the size of what it keeps them in.
 */
import type { Case, Figure } from '../case.ts'
import { Client } from '../client.ts'
import { Crowd, p50Ms } from '../crowd.ts'
import { logText, rowsJson } from '../data.ts'
import type { Lab } from '../lab.ts'
import type { Plan } from '../plan.ts'
import { JSON_VALUE, Puts, post, recalls, TEXT } from '../requests.ts'
import { interleave } from '../rounds.ts'
import type { Server } from '../server.ts'
import { count, inMegabytes, megabytes, ms, size } from '../show.ts'
import { median, medianRatio } from '../stats.ts'

const VALUE_BYTES = 1024
const CLIENTS = 64

export function growthCases(plan: Plan): readonly Case[] {
  return [manyValues(plan), ledgerSize(plan, 'logs', 0.4), ledgerSize(plan, 'rows', 0.3)]
}

function manyValues({ fewValues, manyValues: many }: Plan): Case {
  const span = `${count(many)} results vs ${count(fewValues)}`
  return {
    rows: [
      {
        id: 'growth-rss',
        what: `RSS with ${count(many)} values of 1 KB in the ledger, minus with ${count(fewValues)}`,
        unit: 'MB',
        bound: { kind: 'at_most', value: 64 },
      },
      {
        id: 'growth-put',
        what: `put 1 KB, p50, with ${span}`,
        unit: 'x',
        bound: { kind: 'at_most', value: 1.3 },
      },
      {
        id: 'growth-recall',
        what: `recall, p50, with ${span}`,
        unit: 'x',
        bound: { kind: 'at_most', value: 1.3 },
      },
    ],
    async run(lab) {
      const large = await Filled.start(lab, 'many')
      await large.fillTo(fewValues)
      const before = large.server.memoryBytes('VmRSS')
      await large.fillTo(many)
      const after = large.server.memoryBytes('VmRSS')
      const small = await Filled.start(lab, 'few')
      await small.fillTo(fewValues)
      const value = inMegabytes(after - before)
      const memory = { ours: megabytes(after), baseline: megabytes(before), value }
      const times = await compareTimes(lab, large, small)
      for (const filled of [large, small]) await filled.stop(lab)
      return [memory, ...times]
    },
  }
}

/** A server with so many results. */
class Filled {
  readonly server: Server
  readonly client: Client
  readonly puts = new Puts(VALUE_BYTES)
  readonly #name: string
  #results = 0

  private constructor(name: string, server: Server, client: Client) {
    this.#name = name
    this.server = server
    this.client = client
  }

  static async start(lab: Lab, name: string): Promise<Filled> {
    const server = await lab.coatcheck(name)
    return new Filled(name, server, await Client.connect(server.port))
  }

  get results(): number {
    return this.#results
  }

  async fillTo(results: number): Promise<void> {
    const crowd = await Crowd.open(this.server.port, CLIENTS, () => this.puts.client())
    await crowd.sendAll(results - this.#results)
    this.#results = results
    crowd.close()
  }

  async stop(lab: Lab): Promise<void> {
    this.client.close()
    await this.server.stop()
    lab.remove(this.#name)
  }
}

async function compareTimes(lab: Lab, large: Filled, small: Filled): Promise<Figure[]> {
  const calls = lab.plan.callsPerRound
  const [largePut, smallPut] = [large.puts.client(), small.puts.client()]
  const [largeRecall, smallRecall] = [recalls(large.results), recalls(small.results)]
  const seen = await interleave(lab.plan, {
    largePut: () => p50Ms(large.client, calls, largePut),
    smallPut: () => p50Ms(small.client, calls, smallPut),
    largeRecall: () => p50Ms(large.client, calls, largeRecall),
    smallRecall: () => p50Ms(small.client, calls, smallRecall),
  })
  const compared = (ours: readonly number[], baseline: readonly number[]): Figure => ({
    ours: ms(median(ours)),
    baseline: ms(median(baseline)),
    value: medianRatio(ours, baseline),
  })
  return [compared(seen.largePut, seen.smallPut), compared(seen.largeRecall, seen.smallRecall)]
}

const BODY_BYTES = 4_000_000
const CONTENTS = {
  logs: { type: TEXT, name: 'log text', make: logText },
  rows: { type: JSON_VALUE, name: 'JSON rows', make: rowsJson },
} as const

function ledgerSize({ ledgerBytes }: Plan, kind: keyof typeof CONTENTS, most: number): Case {
  const { type, name, make } = CONTENTS[kind]
  return {
    rows: [
      {
        id: `size-${kind}`,
        what: `size of the ledger vs ${size(ledgerBytes)} of ${name} in it`,
        unit: 'x',
        bound: { kind: 'at_most', value: most },
      },
    ],
    async run(lab) {
      const server = await lab.coatcheck(`size-${kind}`)
      const client = await Client.connect(server.port)
      let raw = 0
      for (let body = 0; body < ledgerBytes / BODY_BYTES; body++) {
        const bytes = make(BODY_BYTES, body)
        await client.send(post(`/v1/runs/size/results`, type, bytes))
        raw += bytes.length
      }
      client.close()
      await server.stop()
      const kept = lab.folderBytes(`size-${kind}`)
      lab.remove(`size-${kind}`)
      return [{ ours: megabytes(kept), baseline: megabytes(raw), value: kept / raw }]
    },
  }
}
