/** A hundred lines out of the middle of a large text that was put before. */
import { LINE_BYTES } from '../inputs.ts'
import type { PeerName } from '../peer.ts'
import type { PeerProcess } from '../peer-process.ts'
import { type Figures, rounds } from '../rounds.ts'
import type { Stage } from '../stage.ts'

/** Those that are asked for lines by number; the others are told bytes, which their caller has to know. */
export const INDEXED_PEERS: readonly PeerName[] = [
  'strands-memory',
  'strands-file',
  'deepagents-memory',
  'deepagents-file',
]
const OFFSET_PEERS: readonly PeerName[] = ['disk', 'redis', 'postgres']
const LINES = 100
const READS = 200
/** Of those that read or split all of it each time. */
const SLOW_READS = 1

export interface LineFigures {
  readonly figures: Figures<PeerName>
  /** Why a candidate has none. */
  readonly failed: ReadonlyMap<PeerName, string>
}

/** Milliseconds of one read. */
export async function measureLines(
  stage: Stage,
  bytes: number,
  roundCount: number,
): Promise<LineFigures> {
  const names: readonly PeerName[] = ['coatcheck', ...OFFSET_PEERS, ...INDEXED_PEERS]
  const peers = await stage.peers(names, { evictEarly: true, run: 'peers-lines' })
  const failed = new Map<PeerName, string>()
  const turns = new Map<PeerName, () => Promise<number>>()
  const first = Math.floor(bytes / LINE_BYTES / 2)
  try {
    for (const peer of peers) {
      const fast = peer.name === 'coatcheck' || peer.name === 'disk' || peer.name === 'redis'
      const ask = { first, last: first + LINES - 1, count: fast ? READS : SLOW_READS }
      const problem = await loadingProblem(peer, bytes)
      if (problem === undefined) turns.set(peer.name, () => peer.ask('lines', ask))
      else failed.set(peer.name, problem)
    }
    return { figures: await rounds(roundCount, turns), failed }
  } finally {
    for (const peer of peers) peer.stop()
  }
}

async function loadingProblem(peer: PeerProcess, bytes: number): Promise<string | undefined> {
  try {
    await peer.ask('load', { bytes })
    return undefined
  } catch (error) {
    return error instanceof Error ? error.message : String(error)
  }
}
