/**
 * What many results cost: memory and time of a server that keeps many, and the size of what it keeps them in.
 */
import type { Case, Figure } from '../case.ts'
import { Client, CREATED } from '../client.ts'
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
  readonly #name: string
  readonly #puts: Puts
  #results = 0

  private constructor(name: string, server: Server) {
    this.#name = name
    this.server = server
    this.#puts = new Puts(name, VALUE_BYTES)
  }

  static async start(lab: Lab, name: string): Promise<Filled> {
    return new Filled(name, await lab.coatcheck(name))
  }

  async fillTo(results: number): Promise<void> {
    const { port } = this.server
    const crowd = await Crowd.open({ port, clients: CLIENTS, load: this.#puts })
    await crowd.sendAll(results - this.#results)
    this.#results = results
    crowd.close()
  }

  /** The median times of `calls` puts, and of as many recalls, by one client. */
  async measures(
    calls: number,
  ): Promise<{ put: () => Promise<number>; recall: () => Promise<number> }> {
    const { port } = this.server
    const [putting, recalling] = [await Client.connect(port, CREATED), await Client.connect(port)]
    const [put, recall] = [this.#puts.requests(), recalls(this.#name, this.#results)]
    return {
      put: () => p50Ms(putting, calls, put),
      recall: () => p50Ms(recalling, calls, recall),
    }
  }

  async stop(lab: Lab): Promise<void> {
    await this.server.stop()
    lab.remove(this.#name)
  }
}

async function compareTimes(lab: Lab, large: Filled, small: Filled): Promise<Figure[]> {
  const many = await large.measures(lab.plan.callsPerRound)
  const few = await small.measures(lab.plan.callsPerRound)
  const seen = await interleave(lab.plan, {
    manyPut: many.put,
    fewPut: few.put,
    manyRecall: many.recall,
    fewRecall: few.recall,
  })
  const compared = (ours: readonly number[], baseline: readonly number[]): Figure => ({
    ours: ms(median(ours)),
    baseline: ms(median(baseline)),
    value: medianRatio(ours, baseline),
  })
  return [compared(seen.manyPut, seen.fewPut), compared(seen.manyRecall, seen.fewRecall)]
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
      let raw = 0
      for (let body = 0; body < ledgerBytes / BODY_BYTES; body++) {
        const bytes = make(BODY_BYTES, body)
        // A connection for each: the service may close one after a body of this size.
        const client = await Client.connect(server.port, CREATED)
        await client.send(post(`/v1/runs/size/results`, type, bytes))
        client.close()
        raw += bytes.length
      }
      await server.stop()
      const kept = lab.folderBytes(`size-${kind}`)
      lab.remove(`size-${kind}`)
      return [{ ours: megabytes(kept), baseline: megabytes(raw), value: kept / raw }]
    },
  }
}
