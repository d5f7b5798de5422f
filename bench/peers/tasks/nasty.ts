/** Runs the nasty inputs; a candidate that does not answer in time has hung, and is started anew. */
import { startChild } from '../../../test/support/service.ts'
import { type Finding, NASTY_CASES } from '../nasty.ts'
import type { Addresses, PeerName } from '../peer.ts'
import { HungError, PeerProcess } from '../peer-process.ts'
import type { Stage } from '../stage.ts'

export const NASTY_PEERS: readonly PeerName[] = [
  'coatcheck',
  'strands-file',
  'deepagents-file',
  'redis',
  'postgres',
]
const DEADLINE_MS = 10_000
const MS_PER_SECOND = 1000

/** By candidate, in the order of the cases. */
export type Findings = ReadonlyMap<PeerName, readonly Finding[]>

export async function judgeNasty(stage: Stage): Promise<Findings> {
  const findings = new Map<PeerName, readonly Finding[]>()
  for (const name of stage.present(NASTY_PEERS)) {
    const found: Finding[] = []
    while (found.length < NASTY_CASES.length) {
      const judge = (addresses: Addresses) => judgeUntilHung(name, addresses, found)
      if (name === 'coatcheck') await withOwnService(stage.addresses, judge)
      else await judge(stage.addresses)
    }
    findings.set(name, found)
  }
  return findings
}

/** A service that hangs must not take part in what is measured afterwards. */
async function withOwnService(
  addresses: Addresses,
  work: (addresses: Addresses) => Promise<void>,
): Promise<void> {
  const service = await startChild()
  try {
    await work({ ...addresses, coatcheck: service.url })
  } finally {
    await service.kill()
  }
}

/** Goes on from where `found` ends, in one process; returns after a case that hung. */
async function judgeUntilHung(
  name: PeerName,
  addresses: Addresses,
  found: Finding[],
): Promise<void> {
  const options = { evictEarly: false, run: `peers-nasty-${found.length}` }
  const peer = await PeerProcess.start(name, addresses, options)
  try {
    while (found.length < NASTY_CASES.length)
      found.push(await peer.ask('nasty', { index: found.length }, DEADLINE_MS))
  } catch (error) {
    if (!(error instanceof HungError)) throw error
    found.push({ verdict: 'hung', note: `no answer in ${DEADLINE_MS / MS_PER_SECOND} s` })
  } finally {
    peer.stop()
  }
}
