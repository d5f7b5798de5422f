/**
 * How the servers of the benchmarks are started: coatcheck as its users do, and the Fastify of the baselines.
 */
import { readFileSync } from 'node:fs'
import type { ServerOptions } from './server.ts'

const MAIN = new URL('../src/main.ts', import.meta.url)
const PACKAGE = new URL('../package.json', import.meta.url)
const FASTIFY = new URL('./servers/fastify.ts', import.meta.url)
/** `exec node`: the shell of npm makes way, so that a signal to npm reaches the service. */
const NODE_WORDS = 2

export interface CoatcheckOptions {
  readonly settings?: Readonly<Record<string, string>>
  readonly preloads?: readonly string[]
}

/** Coatcheck as `npm start` runs it, with a ledger there; it logs warnings, as the baselines do. */
export function coatcheckIn(
  ledger: string,
  { settings = {}, preloads = [] }: CoatcheckOptions = {},
): ServerOptions {
  const env = {
    COATCHECK_PORT: '0',
    COATCHECK_LEDGER: ledger,
    COATCHECK_LOG_LEVEL: 'warn',
    // Room for purges is no part of what is measured.
    COATCHECK_DISK_RESERVE_BYTES: '0',
    ...settings,
  }
  return { program: MAIN, env, flags: startFlags(), preloads }
}

/** The Fastify of the baselines, which writes into a folder. */
export const fastifyIn = (folder: string): ServerOptions => ({ program: FASTIFY, args: [folder] })

/** What `npm start` gives to Node. */
function startFlags(): readonly string[] {
  const { scripts } = JSON.parse(readFileSync(PACKAGE, 'utf8')) as { scripts: { start: string } }
  return scripts.start.split(' ').slice(NODE_WORDS, -1)
}
