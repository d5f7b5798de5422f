/** Put a text and get its transcript text: one caller, one put after another. */
import { SHOWN_CHARS } from '../glue.ts'
import { KIB, MIB } from '../inputs.ts'
import type { PeerName } from '../peer.ts'
import { type Figures, rounds } from '../rounds.ts'
import type { Stage } from '../stage.ts'

const PEERS: readonly PeerName[] = [
  'disk',
  'coatcheck',
  'strands-memory',
  'strands-file',
  'deepagents-memory',
  'deepagents-file',
  'redis',
  'postgres',
]
export const PUT_SIZES = [
  { bytes: 30 * KIB, title: '30 KB', count: 200 },
  { bytes: MIB, title: '1 MB', count: 20 },
] as const

export type PutFigures = readonly { readonly title: string; readonly figures: Figures<PeerName> }[]

/** Milliseconds of one put. */
export async function measurePuts(stage: Stage, roundCount: number): Promise<PutFigures> {
  const peers = await stage.peers(PEERS, {
    evictEarly: true,
    run: 'peers-put',
    shownChars: SHOWN_CHARS,
  })
  try {
    const measured = []
    for (const { bytes, title, count } of PUT_SIZES) {
      const turn = (peer: (typeof peers)[number]) =>
        [peer.name, () => peer.ask('puts', { bytes, count })] as const
      measured.push({ title, figures: await rounds(roundCount, new Map(peers.map(turn))) })
    }
    return measured
  } finally {
    for (const peer of peers) peer.stop()
  }
}
