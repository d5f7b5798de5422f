/** All that a run found out, and what the project wants to reach of it. Pure, so that tables can be tested. */
import type { Finding } from './nasty.ts'
import type { PeerName } from './peer.ts'
import type { Figures } from './rounds.ts'
import { medianRatio } from './stats.ts'

export interface Results {
  readonly machine: string
  readonly versions: readonly string[]
  readonly rounds: number
  readonly textMegabytes: number
  /** Why a candidate was not there. */
  readonly missing: ReadonlyMap<string, string>
  readonly puts: readonly { readonly title: string; readonly figures: Figures<PeerName> }[]
  readonly http: Figures
  readonly lines: Figures<PeerName>
  readonly elisions: Figures<PeerName>
  readonly findings: ReadonlyMap<PeerName, readonly Finding[]>
}

export interface Goal {
  readonly what: string
  /** NaN when a side of it was not measured. */
  readonly reached: number
  readonly limit: number
  readonly better: 'higher' | 'lower'
}

const INDEXED: readonly PeerName[] = [
  'strands-memory',
  'strands-file',
  'deepagents-memory',
  'deepagents-file',
]

export function goals({ http, lines, elisions, findings }: Results): readonly Goal[] {
  const ours = findings.get('coatcheck') ?? []
  const kept = ours.filter(({ verdict }) => verdict === 'kept').length
  const slower = INDEXED.map((name) => ratio(lines, name, 'coatcheck')).filter(Number.isFinite)
  return [
    {
      what: 'durable put 30 KB, 16 clients, requests/s, vs Redis behind Fastify',
      reached: ratio(http, 'coatcheck', 'redis'),
      limit: 1,
      better: 'higher',
    },
    {
      what: 'the same vs PostgreSQL behind Fastify',
      reached: ratio(http, 'coatcheck', 'postgres'),
      limit: 2,
      better: 'higher',
    },
    {
      what: '100 lines, times faster than the fastest that is asked by line number',
      reached: slower.length === 0 ? Number.NaN : Math.min(...slower),
      limit: 50,
      better: 'higher',
    },
    {
      what: 'elide 401 messages, time, vs ClearToolUsesEdit with the cheaper counter',
      reached: ratio(elisions, 'coatcheck', 'langchain'),
      limit: 1.5,
      better: 'lower',
    },
    {
      what: 'nasty inputs kept',
      reached: ours.length === 0 ? Number.NaN : kept,
      limit: 10,
      better: 'higher',
    },
  ]
}

/** A goal that was not measured is not met. */
export function met({ reached, limit, better }: Goal): boolean {
  return better === 'higher' ? reached >= limit : reached <= limit
}

/** Of one candidate to another, round by round; NaN when one of them was not measured. */
export function ratio<Name extends string>(figures: Figures<Name>, name: Name, base: Name): number {
  return medianRatio(figures.get(name) ?? [], figures.get(base) ?? [])
}
