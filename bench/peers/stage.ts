/** Everything that is started for a run, with what could not be; and its end in reverse order. */
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { chmod } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { coatcheckIn, fastifyIn } from '../programs.ts'
import { Server } from '../server.ts'
import type { Addresses, PeerName } from './peer.ts'
import { PeerProcess } from './peer-process.ts'
import type { PeerOptions } from './roster.ts'
import { Program } from './servers/child.ts'
import { startPostgres } from './servers/postgres.ts'
import { type Server as StoreProgram, startRedis } from './servers/redis.ts'

const STORE_SERVER = fileURLToPath(new URL('servers/store-server.ts', import.meta.url))
const LISTENING = /^http:\S+$/m
/** The user of PostgreSQL has to get through. */
const FOLDER_MODE = 0o755

const PACKAGES = { redis: 'redis-server', postgres: 'postgresql' }

export type StoreName = 'redis' | 'postgres'

export class Stage {
  readonly addresses: Addresses
  /** Of the servers that run. */
  readonly versions = new Map<StoreName, string>()
  /** Why a server does not run. */
  readonly missing = new Map<StoreName, string>()
  readonly #closers: (() => Promise<unknown>)[]

  static async open(): Promise<Stage> {
    const folder = mkdtempSync(join(tmpdir(), 'coatcheck-peers-'))
    await chmod(folder, FOLDER_MODE)
    const remove = (): void => rmSync(folder, { recursive: true, force: true })
    process.once('exit', remove)
    const closers: (() => Promise<unknown>)[] = [async () => remove()]
    const service = await Server.start(coatcheckIn(join(folder, 'ledger.db')))
    closers.push(() => service.stop())
    const trip = await Server.start(fastifyIn(folder))
    closers.push(() => trip.stop())
    const files = join(folder, 'files')
    mkdirSync(files)
    const paths = { redis: join(folder, 'redis'), postgres: join(folder, 'postgres') }
    const addresses = { coatcheck: urlOf(service), trip: urlOf(trip), folder: files }
    const stage = new Stage({ ...addresses, ...paths }, closers)
    await stage.#start('redis', async () => startRedis(paths.redis))
    await stage.#start('postgres', async () => startPostgres(paths.postgres))
    return stage
  }

  private constructor(addresses: Addresses, closers: (() => Promise<unknown>)[]) {
    this.addresses = { ...addresses, redis: join(addresses.redis, 'redis.sock') }
    this.#closers = closers
  }

  async #start(name: StoreName, start: () => Promise<StoreProgram>): Promise<void> {
    try {
      const { version, stop } = await start()
      this.versions.set(name, version)
      this.#closers.push(stop)
    } catch (error) {
      const why = error instanceof Error ? error.message : String(error)
      this.missing.set(name, `${why} (Debian: ${PACKAGES[name]})`)
    }
  }

  /** Those of `names` whose servers run. */
  present<Name extends PeerName>(names: readonly Name[]): readonly Name[] {
    return names.filter((name) => !this.missing.has(name as StoreName))
  }

  /** Each in its process; whoever opens them stops them. */
  async peers(names: readonly PeerName[], options: PeerOptions): Promise<readonly PeerProcess[]> {
    const started = this.present(names)
    return Promise.all(started.map((name) => PeerProcess.start(name, this.addresses, options)))
  }

  /** The address of a Fastify in front of a store; undefined when the store does not run. */
  async storeServer(name: StoreName): Promise<string | undefined> {
    if (this.missing.has(name)) return undefined
    const program = new Program(process.execPath, [STORE_SERVER, name, this.addresses[name]])
    this.#closers.push(() => program.stop())
    return program.until(async (text) => LISTENING.exec(text)?.[0])
  }

  async close(): Promise<void> {
    for (const close of this.#closers.reverse()) await close()
  }
}

const urlOf = ({ port }: Server): string => `http://127.0.0.1:${port}`
