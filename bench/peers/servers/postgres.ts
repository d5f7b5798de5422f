/** A PostgreSQL of its own, as Debian configures it, on a Unix socket alone. It refuses to run as root. */
import { existsSync, readdirSync } from 'node:fs'
import { chown, mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { output, Program } from './child.ts'
import type { Server } from './redis.ts'

const DEBIAN = '/usr/lib/postgresql'
const USER = 'postgres'

/** Data in `folder`. Throws when PostgreSQL is not installed. */
export async function startPostgres(folder: string): Promise<Server> {
  const bin = binaries()
  await mkdir(folder, { recursive: true })
  const become = await otherUser(folder)
  const data = join(folder, 'data')
  const initdb = [join(bin, 'initdb'), '-D', data, '-U', USER, '-A', 'trust', '-E', 'UTF8']
  await run(output, [...become, ...initdb, '--no-locale'])
  const settings = ['listen_addresses=', `unix_socket_directories=${folder}`]
  const args = settings.flatMap((setting) => ['-c', setting])
  const start = [...become, join(bin, 'postgres'), '-D', data, ...args]
  const program = await run(async (command, rest) => new Program(command, rest), start)
  await program.until(async (text) => text.includes('ready to accept connections') || undefined)
  const version = await output(join(bin, 'postgres'), ['--version'])
  return {
    address: folder,
    version: /\d[\d.]*/.exec(version)?.[0] ?? 'unknown',
    // Open connections are closed and not waited for.
    stop: () => program.stop('SIGINT'),
  }
}

/** Debian keeps one folder for each major version; the newest is taken. */
function binaries(): string {
  const versions = existsSync(DEBIAN) ? readdirSync(DEBIAN).map(Number) : []
  const newest = Math.max(...versions.filter((version) => Number.isInteger(version)))
  const folder = join(DEBIAN, String(newest), 'bin')
  if (existsSync(join(folder, 'initdb'))) return folder
  throw new Error(`there is no ${DEBIAN}/<version>/bin/initdb`)
}

/** What a command has to begin with, so that root does not run it. */
async function otherUser(folder: string): Promise<readonly string[]> {
  if (process.getuid?.() !== 0) return []
  const [uid, gid] = [await output('id', ['-u', USER]), await output('id', ['-g', USER])]
  await chown(folder, Number(uid), Number(gid))
  return ['setpriv', `--reuid=${uid.trim()}`, `--regid=${gid.trim()}`, '--init-groups']
}

function run<Result>(
  start: (command: string, args: readonly string[]) => Promise<Result>,
  line: readonly string[],
): Promise<Result> {
  const [command = '', ...args] = line
  return start(command, args)
}
