// The service as a child process: `src/main.ts` on a free port, with a ledger of its own.
import { type ChildProcessByStdio, type Serializable, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Readable } from 'node:stream'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import manifest from '../../package.json' with { type: 'json' }

const MAIN = fileURLToPath(new URL('../../src/main.ts', import.meta.url))
/** The flags of `npm start` that bound memory. */
const FLAGS = manifest.scripts.start.split(' ').filter((word) => /^--(?:max|heap)-/.test(word))
/** What main logs, at level info, once it listens. */
const LISTENING = /Swagger UI: (http:\/\/[^"\s]+)\/docs/
const TEMPORARY = 'coatcheck-service-'
const START_MS = 60_000
const STOP_MS = 30_000
const POLL_MS = 20
const OK = 200

export interface ChildOptions {
  /**
   * Settings, over a port of its own and a ledger in a temporary folder. `COATCHECK_*` of this process is not passed on.
   * The log level must stay at info or below: the address is read from the log.
   */
  readonly env?: Readonly<Record<string, string>>
  /** The path that has to answer 200 before the service counts as started; absent: `/readyz`. */
  readonly waitFor?: '/livez'
  /** Runs the service; absent: the Node that runs this. */
  readonly execPath?: string
  /** Before the path of Node, a command that becomes it: what it does to the process, the service gets. */
  readonly wrapper?: readonly string[]
  /** A module that runs in the service first, and that `tell` talks to. */
  readonly preload?: URL
}

export interface Exit {
  readonly code: number | null
  readonly signal: NodeJS.Signals | null
}

export interface ServiceChild {
  /** Without a slash at the end. */
  readonly url: string
  readonly pid: number
  /** The ledger's file. */
  readonly ledger: string
  /** All it has written, stdout and stderr as they came. */
  readonly output: string
  /** Sends a message, which is cloned, to the preload, and resolves with its answer. */
  tell(message: unknown): Promise<unknown>
  /** Resolves when the process has ended, by itself or by a signal; its ledger stays until {@link stop} or {@link kill}. */
  ended(): Promise<Exit>
  /** Sends `signal` (SIGTERM when absent) and waits for the end; a temporary ledger is removed. Again: the same answer. */
  stop(signal?: NodeJS.Signals): Promise<Exit>
  /** `kill -9`, else as `stop`. */
  kill(): Promise<Exit>
}

/** Resolves when `/readyz` answers 200; throws, with what the child wrote, when it ends or stays silent. */
export async function startChild(options: ChildOptions = {}): Promise<ServiceChild> {
  const child = new Child(options)
  try {
    await child.ready()
  } catch (error) {
    await child.kill()
    throw new Error(`the service did not start: ${String(error)}\n${child.output}`)
  }
  return child
}

/** What a start that must fail ends with; throws when it listens, or stays silent. */
export async function startRefused(
  options: ChildOptions,
): Promise<Exit & { readonly output: string }> {
  const child = new Child(options)
  try {
    const { url } = await child.ready().catch(() => child)
    if (url !== '') throw new Error(`the service started:\n${child.output}`)
    return { ...(await child.ended()), output: child.output }
  } finally {
    await child.kill()
  }
}

class Child implements ServiceChild {
  readonly #process: ChildProcessByStdio<null, Readable, Readable>
  readonly #closed: Promise<Exit>
  /** Undefined when the caller brought a ledger. */
  readonly #folder: string | undefined
  readonly #waitFor: '/livez' | '/readyz'
  readonly #onExit = (): void => this.#endNow()
  readonly ledger: string
  output = ''
  url = ''

  constructor(options: ChildOptions) {
    const { env = {}, execPath = process.execPath, wrapper = [], preload } = options
    this.#waitFor = options.waitFor ?? '/readyz'
    const { COATCHECK_LEDGER: given } = env
    this.#folder = given === undefined ? mkdtempSync(join(tmpdir(), TEMPORARY)) : undefined
    this.ledger = given ?? join(this.#folder ?? '', 'ledger.db')
    const settings = { COATCHECK_PORT: '0', COATCHECK_LEDGER: this.ledger, ...env }
    const imports = preload === undefined ? [] : ['--import', preload.href]
    const [command = execPath, ...args] = [...wrapper, execPath, ...FLAGS, ...imports, MAIN]
    this.#process = spawn(command, args, {
      env: { ...withoutSettings(process.env), ...settings },
      stdio: ['ignore', 'pipe', 'pipe', ...(preload === undefined ? [] : (['ipc'] as const))],
    }) as ChildProcessByStdio<null, Readable, Readable>
    for (const stream of [this.#process.stdout, this.#process.stderr]) {
      stream.setEncoding('utf8').on('data', (text: string) => {
        this.output += text
      })
    }
    this.#closed = closing(this.#process)
    process.on('exit', this.#onExit)
  }

  get pid(): number {
    return this.#process.pid ?? Number.NaN
  }

  async tell(message: unknown): Promise<unknown> {
    const answer = once(this.#process, 'message')
    this.#process.send(message as Serializable)
    return (await answer)[0]
  }

  ended(): Promise<Exit> {
    return this.#closed
  }

  async ready(): Promise<this> {
    const deadline = AbortSignal.timeout(START_MS)
    while (this.#process.exitCode === null && this.#process.signalCode === null) {
      deadline.throwIfAborted()
      this.url ||= LISTENING.exec(this.output)?.[1] ?? ''
      if (this.url !== '' && (await isReady(this.url + this.#waitFor, deadline))) return this
      await sleep(POLL_MS)
    }
    throw new Error(`it ended: ${JSON.stringify(await this.#closed)}`)
  }

  async stop(signal: NodeJS.Signals = 'SIGTERM'): Promise<Exit> {
    this.#process.kill(signal)
    const exit = await Promise.race([this.#closed, sleep(STOP_MS, undefined, { ref: false })])
    process.off('exit', this.#onExit)
    this.#endNow()
    if (exit !== undefined) return exit
    throw new Error(`the service did not end ${STOP_MS} ms after ${signal}:\n${this.output}`)
  }

  kill(): Promise<Exit> {
    return this.stop('SIGKILL')
  }

  /** A child that has ended gets no signal any more. */
  #endNow(): void {
    this.#process.kill('SIGKILL')
    if (this.#folder !== undefined) rmSync(this.#folder, { recursive: true, force: true })
  }
}

async function closing(child: ChildProcessByStdio<null, Readable, Readable>): Promise<Exit> {
  try {
    const [code, signal] = (await once(child, 'close')) as [number | null, NodeJS.Signals | null]
    return { code, signal }
  } catch {
    return { code: null, signal: null }
  }
}

/** A readiness that is refused or not 200 is asked for again. */
async function isReady(url: string, signal: AbortSignal): Promise<boolean> {
  try {
    const answer = await fetch(url, { signal })
    await answer.arrayBuffer()
    return answer.status === OK
  } catch {
    return false
  }
}

const withoutSettings = (env: NodeJS.ProcessEnv): NodeJS.ProcessEnv =>
  Object.fromEntries(Object.entries(env).filter(([name]) => !name.startsWith('COATCHECK_')))
