// A service on a disk that fails, whose power is then cut: what it has acknowledged must be there, and no handle is given twice.
import { hash, randomBytes } from 'node:crypto'
import { mkdtempSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import Database from 'better-sqlite3'
import { openLedger } from '../../src/ledger/open.ts'
import { POLICY, putText } from '../support/ledger.ts'
import { Disk, type Failure } from '../support/power-cut.ts'
import { type ServiceChild, startChild } from '../support/service.ts'

/** `stop` and `kill`: ended so, started again on the same disk with its memory, used, and then cut. */
export type Ending = 'cut' | 'stop' | 'kill'

export interface Scenario {
  /** Undefined: a power cut without a fault. */
  readonly failure: Failure | undefined
  /** What is under way beside small puts. */
  readonly beside: readonly ('upload' | 'purge')[]
  readonly ending: Ending
}

export interface Round {
  readonly acknowledged: number
  /** Acknowledged, and not there or with other bytes. */
  readonly lost: number
  /** Handles of acknowledged results that a later put got again. */
  readonly reused: number
  /** Calls that failed. */
  readonly failed: number
  /** Of `/readyz` after the traffic. */
  readonly ready: number
  /** Lines of the log at level fatal. */
  readonly fatal: number
  readonly sound: boolean
}

const RUNS = ['small-a', 'small-b', 'streams']
const TENANT = ''
/** Of a streamed text: some of its pieces are written before it ends. */
const STREAM_PIECES = 12
const PIECE_BYTES = 100_000
/** The fault comes after so many answers of small puts; the traffic ends after so many. */
const FAULT_AFTER = 8
const ANSWERS = 60
const POLL_MS = 2
const FATAL = /"level":60/g
const CREATED = 201

export async function powerCut(
  library: string,
  folder: string,
  { failure, beside, ending }: Scenario,
): Promise<Round> {
  const disk = new Disk(library, mkdtempSync(join(folder, 'disk-')))
  const given = new Given()
  const first = await startChild({ env: disk.env })
  let ready: number
  try {
    await Promise.all([traffic(first, given, beside), arm(disk, given, failure)])
    ready = (await fetch(`${first.url}/readyz`)).status
  } finally {
    await first.stop(ending === 'stop' ? 'SIGTERM' : 'SIGKILL')
  }
  const { failed } = disk
  disk.heal()
  if (ending !== 'cut') await useAgain(disk, given)
  const fatal = first.output.match(FATAL)?.length ?? 0
  return { ...(await given.check(disk.cut(folder))), failed, ready, fatal }
}

async function arm(disk: Disk, given: Given, failure: Failure | undefined): Promise<void> {
  if (failure === undefined) return
  while (given.answers < FAULT_AFTER) await sleep(POLL_MS)
  disk.fail(failure)
}

async function useAgain(disk: Disk, given: Given): Promise<void> {
  const second = await startChild({ env: disk.env })
  try {
    for (const run of RUNS) for (let n = 0; n < 3; n++) await given.put(second.url, run)
  } finally {
    await second.kill()
  }
}

async function traffic(
  { url }: ServiceChild,
  given: Given,
  beside: Scenario['beside'],
): Promise<void> {
  const repeat = async (work: () => Promise<unknown>): Promise<void> => {
    while (given.answers < ANSWERS) await work()
  }
  const small = ['small-a', 'small-b'].map((run) => repeat(() => given.put(url, run)))
  const others = beside.map((what) =>
    repeat(() => (what === 'upload' ? given.stream(url, 'streams') : given.purge(url))),
  )
  await Promise.all([...small, ...others])
}

/** What was acknowledged, by run and handle. */
class Given {
  readonly #runs = new Map<string, Map<string, string>>()
  #twice = 0
  #purged = 0
  /** Of small puts, whatever they were. */
  answers = 0

  async put(url: string, run: string): Promise<boolean> {
    const body = randomBytes(600).toString('hex')
    const kept = this.#send(`${url}/v1/runs/${run}/results`, run, {
      body,
      digest: hash('sha256', body),
    })
    await kept
    this.answers++
    return kept
  }

  async stream(url: string, run: string): Promise<boolean> {
    const pieces = Array.from({ length: STREAM_PIECES }, () =>
      randomBytes(PIECE_BYTES / 2).toString('hex'),
    )
    const body = new ReadableStream({
      async pull(controller) {
        const piece = pieces[sent++]
        if (piece === undefined) return controller.close()
        controller.enqueue(Buffer.from(piece))
        await sleep(10)
      },
    })
    let sent = 0
    const digest = hash('sha256', pieces.join(''))
    return this.#send(`${url}/v1/runs/${run}/results`, run, { body, digest, duplex: 'half' })
  }

  /** Puts into a run of its own and purges it: nothing of it is to be found. */
  async purge(url: string): Promise<void> {
    const at = `${url}/v1/runs/purged-${this.#purged++}`
    await fetch(`${at}/results`, {
      method: 'POST',
      headers: TEXT,
      body: randomBytes(9_000).toString('hex'),
    })
    await (await fetch(`${at}?purge=true`, { method: 'DELETE' })).arrayBuffer()
  }

  async #send(
    address: string,
    run: string,
    {
      digest,
      ...request
    }: {
      readonly body: string | ReadableStream
      readonly digest: string
      readonly duplex?: 'half'
    },
  ): Promise<boolean> {
    const reply = await fetch(address, { method: 'POST', headers: TEXT, ...request }).catch(
      () => undefined,
    )
    const answer = (await reply?.json().catch(() => ({}))) as { handle?: string } | undefined
    if (reply?.status !== CREATED || answer?.handle === undefined) {
      await sleep(POLL_MS)
      return false
    }
    const kept = this.#runs.get(run) ?? new Map<string, string>()
    this.#runs.set(run, kept)
    if (kept.has(answer.handle)) this.#twice++
    kept.set(answer.handle, digest)
    return true
  }

  /** Looks for all in the ledger at `path`, and puts once more into each run. */
  async check(path: string): Promise<Pick<Round, 'acknowledged' | 'lost' | 'reused' | 'sound'>> {
    const all = [...this.#runs.values()].reduce((sum, { size }) => sum + size, 0)
    const ledger = await openLedger(path, POLICY).catch(() => undefined)
    if (ledger === undefined) return { acknowledged: all, lost: all, reused: 0, sound: false }
    let [acknowledged, lost, reused] = [0, 0, this.#twice]
    for (const [run, kept] of this.#runs) {
      const ref = { tenant: TENANT, run }
      for (const [handle, digest] of kept) {
        acknowledged++
        const result = await ledger.findResult(ref, { number: Number(handle.slice(1)) })
        if (
          result?.sha256 !== digest ||
          !(await isWhole(ledger.chunks(result, { byte: 0 }), digest))
        )
          lost++
      }
      const { result } = await ledger.append(ref, putText('one more'), Date.now())
      if (kept.has(`r${result.number}`)) reused++
    }
    await ledger.close()
    return { acknowledged, lost, reused, sound: isSound(path) }
  }
}

const TEXT = { 'content-type': 'text/plain' }

async function isWhole(
  chunks: AsyncIterable<{ readonly bytes: Buffer }>,
  digest: string,
): Promise<boolean> {
  try {
    const bytes: Buffer[] = []
    for await (const chunk of chunks) bytes.push(chunk.bytes)
    return hash('sha256', Buffer.concat(bytes)) === digest
  } catch {
    return false
  }
}

function isSound(path: string): boolean {
  const db = new Database(path, { readonly: true })
  try {
    return db.pragma('integrity_check', { simple: true }) === 'ok'
  } finally {
    db.close()
  }
}
