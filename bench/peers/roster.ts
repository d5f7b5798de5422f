/** The candidates by name. Each is loaded only in the process that runs it. */
import { join } from 'node:path'
import type { Addresses, Peer, PeerName } from './peer.ts'

/** Tokens past which deepagents moves a result out: its default, and as early as Strands does. */
const DEEPAGENTS_TOKENS = 20_000
const STRANDS_TOKENS = 2500

export interface PeerOptions {
  /** As early as the other library, so that both do the same work on 30 KB; else by its own default. */
  readonly evictEarly: boolean
  /** Names what one use keeps apart from another. */
  readonly run: string
  /** Characters of a transcript text, where a candidate lets its caller say. */
  readonly shownChars?: number
}

/** What `open` of each gives; a candidate for eliding alone keeps nothing. */
export type AnyPeer = Peer | Pick<Peer, 'kind' | 'elide' | 'close'>

export async function openPeer(
  name: PeerName,
  addresses: Addresses,
  { evictEarly, run, shownChars }: PeerOptions,
): Promise<AnyPeer> {
  const limitTokens = evictEarly ? STRANDS_TOKENS : DEEPAGENTS_TOKENS
  const folder = join(addresses.folder, `${name}-${run}`)
  switch (name) {
    case 'disk':
      return (await import('./peers/disk.ts')).open(addresses.folder)
    case 'coatcheck':
      return (await import('./peers/coatcheck.ts')).open(addresses.coatcheck, run, shownChars)
    case 'strands-memory':
      return (await import('./peers/strands.ts')).open()
    case 'strands-file':
      return (await import('./peers/strands.ts')).open(folder)
    case 'deepagents-memory':
      return (await import('./peers/deepagents.ts')).open({ limitTokens })
    case 'deepagents-file':
      return (await import('./peers/deepagents.ts')).open({ folder, limitTokens })
    case 'redis':
      return (await import('./peers/redis.ts')).open(addresses.redis)
    case 'postgres':
      return (await import('./peers/postgres.ts')).open(addresses.postgres)
    case 'trip':
      return (await import('./peers/trip.ts')).open(addresses.trip)
    case 'langchain':
      return (await import('./peers/langchain.ts')).open({ counting: false })
    case 'langchain-counting':
      return (await import('./peers/langchain.ts')).open({ counting: true })
    default:
      return name satisfies never
  }
}
