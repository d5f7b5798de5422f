/**
 * Where it happens: a temporary folder, and the servers in it. What is shared is started once, when it is first needed; all is
 * gone when the lab is closed.
 */
import { mkdtempSync, readdirSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Plan } from './plan.ts'
import { type CoatcheckOptions, coatcheckIn, fastifyIn } from './programs.ts'
import { Server, type ServerOptions } from './server.ts'

const RAW = new URL('./servers/raw.ts', import.meta.url)
const UNGROUPED = import.meta.resolve('./servers/ungrouped.ts')

/** `logging`: coatcheck that logs as it does by default; `ungrouped`: one commit per request; `fastify`, `raw`: baselines. */
export type Shared = 'coatcheck' | 'logging' | 'ungrouped' | 'fastify' | 'raw'

export class Lab {
  readonly plan: Plan
  readonly #folder: string
  readonly #servers: Promise<Server>[] = []
  readonly #shared = new Map<Shared, Promise<Server>>()
  #isClosed = false

  constructor(plan: Plan) {
    this.plan = plan
    this.#folder = mkdtempSync(join(tmpdir(), 'coatcheck-bench-'))
  }

  shared(which: Shared): Promise<Server> {
    const found = this.#shared.get(which) ?? this.#start(which)
    this.#shared.set(which, found)
    return found
  }

  /** A coatcheck of its own; stopped by whoever asked for it, or with the lab. */
  coatcheck(ledger: string, options: CoatcheckOptions = {}): Promise<Server> {
    return this.#launch(coatcheckIn(join(this.folder(ledger), 'ledger.db'), options))
  }

  /** A folder of that name in the lab's; the ledger of `coatcheck(name)` is in it. */
  folder(name: string): string {
    return join(this.#folder, name)
  }

  /** Bytes of all its files, as `ls` shows them. */
  folderBytes(name: string): number {
    const folder = this.folder(name)
    return readdirSync(folder).reduce((sum, file) => sum + statSync(join(folder, file)).size, 0)
  }

  /** Frees the disk of what is no longer needed. */
  remove(name: string): void {
    rmSync(this.folder(name), { recursive: true, force: true })
  }

  async close(): Promise<void> {
    this.#isClosed = true
    const started = await Promise.allSettled(this.#servers)
    await Promise.all(started.map((one) => one.status === 'fulfilled' && one.value.stop()))
    rmSync(this.#folder, { recursive: true, force: true })
  }

  #start(which: Shared): Promise<Server> {
    switch (which) {
      case 'coatcheck':
        return this.coatcheck(which)
      case 'logging':
        return this.coatcheck(which, { settings: { COATCHECK_LOG_LEVEL: 'info' } })
      case 'ungrouped':
        return this.coatcheck(which, { preloads: [UNGROUPED] })
      case 'fastify':
        return this.#launch(fastifyIn(this.#folder))
      case 'raw':
        return this.#launch({ program: RAW })
      default:
        return which satisfies never
    }
  }

  async #launch(options: ServerOptions): Promise<Server> {
    if (this.#isClosed) throw new Error('interrupted')
    const server = Server.start(options)
    this.#servers.push(server)
    return server
  }
}
