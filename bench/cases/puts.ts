/**
 * Durable puts against servers that only read: how much of an echo's pace a put keeps.
 */
import type { Bound, Case, Figure, RowSpec } from '../case.ts'
import { Client, CREATED } from '../client.ts'
import { Crowd, type Load, p50Ms } from '../crowd.ts'
import type { Lab, Shared } from '../lab.ts'
import { JSON_TYPE, Puts, post, repeat } from '../requests.ts'
import { interleave } from '../rounds.ts'
import { ms, perSecond } from '../show.ts'
import { median, medianRatio } from '../stats.ts'
import { AppendedFile } from './appended-file.ts'

const KB = 1024
const MB = 1_000_000
const NAMES = new Map([
  [KB, '1 KB'],
  [30 * KB, '30 KB'],
  [MB, '1 MB'],
])

/** The server and the path that a put is compared to. */
const AGAINST = {
  echo: { server: 'fastify', path: '/echo', name: 'Fastify echo' },
  parse: { server: 'fastify', path: '/parse', name: 'echo + JSON.parse' },
  raw: { server: 'raw', path: '/', name: 'node:http' },
} as const

type Against = keyof typeof AGAINST
type Floors = Readonly<Partial<Record<Against, number | undefined>>>

export function putCases(): readonly Case[] {
  return [
    againstReaders(KB, 1, { echo: 0.15 }),
    againstReaders(KB, 16, { echo: 0.5, raw: undefined }, 0.2),
    againstReaders(KB, 64, { echo: 0.7 }, 0.28),
    unkept(16),
    unkept(64),
    againstReaders(30 * KB, 16, { echo: 0.27, parse: 0.6 }, 0.18),
    againstReaders(MB, 16, { echo: 0.12, parse: 0.55 }),
    betweenOurs('ungrouped', {
      id: 'put-grouped',
      what: 'put 1 KB, 16 clients: group commit vs one commit per request',
      unit: 'x',
      bound: floor(3),
      reached: 1.6,
    }),
    betweenOurs('logging', {
      id: 'put-logged',
      what: 'put 1 KB, 16 clients: log level warn vs info, the default',
      unit: 'x',
    }),
    againstFile(KB),
    againstFile(30 * KB),
  ]
}

const floor = (value: number): Bound => ({ kind: 'at_least', value })

/** `reached`: of the echo's pace, where that is far from the floor. */
function againstReaders(bytes: number, clients: number, floors: Floors, reached?: number): Case {
  const many = clients === 1 ? '1 client' : `${clients} clients`
  const short = NAMES.get(bytes)?.toLowerCase().replace(' ', '')
  const against = Object.keys(floors) as Against[]
  return {
    rows: against.map((other) => ({
      id: `put-${short}-${clients}-${other}`,
      what: `durable put ${NAMES.get(bytes)}, ${many}, vs ${AGAINST[other].name}`,
      unit: 'x' as const,
      ...(floors[other] === undefined ? {} : { bound: floor(floors[other]) }),
      ...(reached === undefined || other !== 'echo' ? {} : { reached }),
    })),
    async run(lab) {
      const puts = new Puts(`put-${short}-${clients}`, bytes)
      const others = against.map((other): Contender => {
        const { server, path } = AGAINST[other]
        return { server, load: repeat(post(path, JSON_TYPE, puts.body)) }
      })
      return rates(lab, clients, [{ server: 'coatcheck', load: puts }, ...others])
    },
  }
}

/** A part of what a put does before anything is kept: as the service is built, no put can be faster, however it were kept. */
function unkept(clients: number): Case {
  const row: RowSpec = {
    id: `preview-1kb-${clients}-echo`,
    what: `preview of 1 KB, nothing kept, ${clients} clients, vs Fastify echo`,
    unit: 'x',
  }
  return {
    rows: [row],
    async run(lab) {
      const { body } = new Puts(row.id, KB)
      const { server, path } = AGAINST.echo
      return rates(lab, clients, [
        { server: 'coatcheck', load: repeat(post('/v1/preview', JSON_TYPE, previewBody(body))) },
        { server, load: repeat(post(path, JSON_TYPE, body)) },
      ])
    },
  }
}

/** Asks for the preview of what an envelope holds. */
function previewBody(envelope: Buffer): string {
  const { output: value } = JSON.parse(envelope.toString()) as { readonly output: unknown }
  return JSON.stringify({ handle: 'r1', value })
}

/** Ours as it is against ours that is started in another way. */
function betweenOurs(other: Shared, row: RowSpec): Case {
  return {
    rows: [row],
    async run(lab) {
      return rates(lab, 16, [
        { server: 'coatcheck', load: new Puts(row.id, KB) },
        { server: other, load: new Puts(row.id, KB) },
      ])
    },
  }
}

interface Contender {
  readonly server: Shared
  readonly load: Load
}

/** The first one's rate against each of the others'. */
async function rates(lab: Lab, clients: number, all: readonly Contender[]): Promise<Figure[]> {
  const crowds: Crowd[] = []
  try {
    for (const { server, load } of all) {
      const { port } = await lab.shared(server)
      crowds.push(await Crowd.open({ port, clients, load }))
    }
    const measures = crowds.map(
      (crowd, at) => [`load ${at}`, () => crowd.perSecond(lab.plan.loadMs)] as const,
    )
    const seen = Object.values(await interleave(lab.plan, Object.fromEntries(measures)))
    const [ours = [], ...others] = seen
    return others.map((other) => ({
      ours: perSecond(median(ours)),
      baseline: perSecond(median(other)),
      value: medianRatio(ours, other),
    }))
  } finally {
    for (const crowd of crowds) crowd.close()
  }
}

/** The time of a put against that of the same bytes appended to a file. */
function againstFile(bytes: number): Case {
  const name = NAMES.get(bytes)
  const row: RowSpec = {
    id: `put-${name?.toLowerCase().replace(' ', '')}-file`,
    what: `durable put ${name}, 1 client, vs write + fdatasync of its bytes, time`,
    unit: 'x',
  }
  return {
    rows: [row],
    async run(lab) {
      const client = await Client.connect((await lab.shared('coatcheck')).port, CREATED)
      const file = new AppendedFile(lab.folder('appended-file'))
      try {
        const puts = new Puts(row.id, bytes)
        const next = puts.requests()
        const { callsPerRound } = lab.plan
        const { ours, baseline } = await interleave(lab.plan, {
          ours: () => p50Ms(client, callsPerRound, next),
          baseline: () => file.p50Ms(callsPerRound, puts.body),
        })
        const value = medianRatio(ours, baseline)
        return [{ ours: ms(median(ours)), baseline: ms(median(baseline)), value }]
      } finally {
        client.close()
        file.close()
      }
    },
  }
}
