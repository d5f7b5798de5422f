/**
 * One candidate in a process of its own, so that it can hang, and so that the clock is read beside it. Started by
 * `peer-process.ts`; does what it is asked over IPC, one thing at a time.
 */
import { LINE_BYTES, lineAt, textOf } from './inputs.ts'
import { type Finding, findingOf, NASTY_CASES } from './nasty.ts'
import type { Addresses, Peer, PeerName, Receipt } from './peer.ts'
import { openPeer, type PeerOptions } from './roster.ts'

export interface Work {
  readonly puts: { readonly ask: { bytes: number; count: number }; readonly answer: number }
  readonly load: { readonly ask: { bytes: number }; readonly answer: string }
  readonly lines: {
    readonly ask: { first: number; last: number; count: number }
    readonly answer: number
  }
  readonly elide: { readonly ask: { count: number }; readonly answer: number }
  readonly nasty: { readonly ask: { index: number }; readonly answer: Finding }
}
export type WorkName = keyof Work

interface Asked<Name extends WorkName = WorkName> {
  readonly name: Name
  readonly ask: Work[Name]['ask']
}

const [name, addresses, options] = process.argv.slice(2) as [PeerName, string, string]
// Its own process: what is loaded stays until it ends.
const host = {
  peer: (await openPeer(
    name,
    JSON.parse(addresses) as Addresses,
    JSON.parse(options) as PeerOptions,
  )) as Peer,
  loaded: undefined as Receipt | undefined,
  puts: 0,
}

const workers: { [Name in WorkName]: (ask: Work[Name]['ask']) => Promise<Work[Name]['answer']> } = {
  puts: timePuts,
  load,
  lines: timeLines,
  elide: timeElisions,
  nasty: async ({ index }) => {
    const nasty = NASTY_CASES[index]
    if (nasty === undefined) throw new Error(`there is no case ${index}`)
    return findingOf(host.peer, nasty)
  },
}

process.on('message', async ({ name, ask }: Asked) => {
  const work = workers[name] as (ask: unknown) => Promise<unknown>
  try {
    process.send?.({ answer: await work(ask) })
  } catch (error) {
    process.send?.({ error: error instanceof Error ? error.message : String(error) })
  }
})
process.on('disconnect', () => process.exit())
process.send?.({ answer: 'ready' })

/** Milliseconds of one put, from the text to its transcript text. */
async function timePuts({ bytes, count }: Work['puts']['ask']): Promise<number> {
  const text = textOf(bytes)
  const started = performance.now()
  for (let i = 0; i < count; i++) await host.peer.putText(`put-${bytes}-${host.puts++}`, text)
  return (performance.now() - started) / count
}

async function load({ bytes }: Work['load']['ask']): Promise<string> {
  host.loaded = await host.peer.putText(`load-${bytes}`, textOf(bytes))
  return host.loaded.ref
}

/** Milliseconds of one elision; its candidate says what of it is timed. */
async function timeElisions({ count }: Work['elide']['ask']): Promise<number> {
  let took = 0
  for (let i = 0; i < count; i++) took += (await host.peer.elide?.()) ?? Number.NaN
  return took / count
}

/** Milliseconds of one read; throws when the lines are not among what came. */
async function timeLines({ first, last, count }: Work['lines']['ask']): Promise<number> {
  let text = ''
  const started = performance.now()
  for (let i = 0; i < count; i++) {
    const range = { first, last, lineBytes: LINE_BYTES }
    text = (await host.peer.lines?.(host.loaded as Receipt, range)) ?? ''
  }
  const took = (performance.now() - started) / count
  for (const number of [first, last]) {
    if (!text.includes(lineAt(number)))
      throw new Error(`line ${number} is not in ${text.slice(0, 200)}`)
  }
  return took
}
