/** Elide all but the newest tool results of a transcript of 401 messages, from objects to objects. */

import type { PeerName } from '../peer.ts'
import { type Figures, rounds } from '../rounds.ts'
import type { Stage } from '../stage.ts'

const PEERS: readonly PeerName[] = ['coatcheck', 'trip', 'langchain', 'langchain-counting']

const ELISIONS = 30

/** Milliseconds of one elision. */
export async function measureElisions(
  stage: Stage,
  roundCount: number,
): Promise<Figures<PeerName>> {
  const peers = await stage.peers(PEERS, { evictEarly: false, run: 'peers-elide' })
  try {
    const turn = (peer: (typeof peers)[number]) =>
      [peer.name, () => peer.ask('elide', { count: ELISIONS })] as const
    return await rounds(roundCount, new Map(peers.map(turn)))
  } finally {
    for (const peer of peers) peer.stop()
  }
}
