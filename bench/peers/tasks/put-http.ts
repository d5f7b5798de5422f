/** Durable puts of 30 KB from sixteen callers at once, each on a connection of its own, all over HTTP. */
import { SHOWN_CHARS } from '../glue.ts'
import { KIB, textOf } from '../inputs.ts'
import { showAtMost } from '../peers/coatcheck.ts'
import { type Figures, rounds } from '../rounds.ts'
import type { Stage } from '../stage.ts'
import { Wire } from '../wire.ts'

export const CLIENTS = 16
const PUTS_A_CLIENT = 100
const RUN = 'peers-http'
const CREATED = 201
const MS_PER_SECOND = 1000

export type HttpName = 'coatcheck' | 'redis' | 'postgres'

/** Answers in a second. */
export async function measureHttpPuts(
  stage: Stage,
  roundCount: number,
): Promise<Figures<HttpName>> {
  const run = `/v1/runs/${RUN}/results?tool_use_id=`
  const targets: readonly (readonly [HttpName, string | undefined, string])[] = [
    ['coatcheck', stage.addresses.coatcheck, run],
    ['redis', await stage.storeServer('redis'), '/results/'],
    ['postgres', await stage.storeServer('postgres'), '/results/'],
  ]
  const body = Buffer.from(textOf(30 * KIB))
  const turns = new Map<HttpName, () => Promise<number>>()
  const wires: Wire[] = []
  for (const [name, url, path] of targets) {
    if (url === undefined) continue
    const clients = await Promise.all(Array.from({ length: CLIENTS }, () => Wire.open(url)))
    wires.push(...clients)
    if (name === 'coatcheck') await showAtMost(clients[0] as Wire, RUN, SHOWN_CHARS)
    let turn = 0
    turns.set(name, () => putsPerSecond(clients, `${path}call-${turn++}`, body))
  }
  try {
    return await rounds(roundCount, turns)
  } finally {
    for (const wire of wires) wire.close()
  }
}

async function putsPerSecond(
  clients: readonly Wire[],
  path: string,
  body: Buffer,
): Promise<number> {
  const started = performance.now()
  await Promise.all(clients.map((client, index) => putAll(client, `${path}-${index}`, body)))
  const seconds = (performance.now() - started) / MS_PER_SECOND
  return (clients.length * PUTS_A_CLIENT) / seconds
}

async function putAll(client: Wire, path: string, body: Buffer): Promise<void> {
  for (let put = 0; put < PUTS_A_CLIENT; put++) {
    const answer = await client.send({ method: 'POST', path: `${path}-${put}`, body })
    if (answer.status !== CREATED) throw new Error(`${answer.status} ${answer.body}`)
  }
}
