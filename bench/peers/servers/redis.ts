/** A Redis of its own: every write is synced to the append-only file before it is answered. */
import { existsSync } from 'node:fs'
import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { output, Program } from './child.ts'

export interface Server {
  /** What clients connect to. */
  readonly address: string
  readonly version: string
  stop(): Promise<void>
}

/** Data in `folder`. Throws when Redis is not installed. */
export async function startRedis(folder: string): Promise<Server> {
  const version = /v=(\S+)/.exec(await output('redis-server', ['--version']))?.[1] ?? 'unknown'
  await mkdir(folder, { recursive: true })
  const socket = join(folder, 'redis.sock')
  const settings = {
    port: '0',
    unixsocket: socket,
    dir: folder,
    save: '',
    appendonly: 'yes',
    appendfsync: 'always',
    // A rewrite of the file in the middle of a round would count against Redis.
    'auto-aof-rewrite-percentage': '0',
  }
  const args = Object.entries(settings).flatMap(([name, value]) => [`--${name}`, value])
  const program = new Program('redis-server', args)
  await program.until(async () => (existsSync(socket) ? socket : undefined))
  return { address: socket, version, stop: () => program.stop() }
}
