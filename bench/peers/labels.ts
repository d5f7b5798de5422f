/** How the tables name the candidates, and what sets them apart before any clock runs. */
import type { PeerName } from './peer.ts'

export interface Label {
  readonly title: string
  readonly overHttp: 'yes' | 'no'
  /** Whether a result survives a power cut once the candidate has answered. */
  readonly durable: 'yes' | 'no'
}

export const LABELS: Readonly<Record<PeerName, Label>> = {
  disk: { title: '`write` + `fdatasync`', overHttp: 'no', durable: 'yes' },
  coatcheck: { title: '**coatcheck**', overHttp: 'yes', durable: 'yes' },
  'strands-memory': {
    title: 'Strands ContextOffloader, memory',
    overHttp: 'no',
    durable: 'no',
  },
  'strands-file': { title: 'Strands ContextOffloader, file', overHttp: 'no', durable: 'no' },
  'deepagents-memory': { title: 'deepagents eviction, memory', overHttp: 'no', durable: 'no' },
  'deepagents-file': { title: 'deepagents eviction, file', overHttp: 'no', durable: 'no' },
  redis: { title: 'Redis, AOF synced always', overHttp: 'no', durable: 'yes' },
  postgres: { title: 'PostgreSQL, text column', overHttp: 'no', durable: 'yes' },
  trip: {
    title: 'the trip alone: a Fastify that reads the body and answers its length',
    overHttp: 'yes',
    durable: 'no',
  },
  langchain: {
    title: 'LangChain ClearToolUsesEdit, a counter that adds lengths',
    overHttp: 'no',
    durable: 'no',
  },
  'langchain-counting': {
    title: 'LangChain ClearToolUsesEdit, its default counter',
    overHttp: 'no',
    durable: 'no',
  },
}
