/**
 * A server as a child process, coatcheck or a baseline, with the probe inside.
 */
import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import type { Question, Told } from './servers/probe.ts'

const PROBE = import.meta.resolve('./servers/probe.ts')
const START_MS = 60_000
const STOP_MS = 60_000
const KIBIBYTE = 1024

export interface ServerOptions {
  readonly program: URL
  readonly args?: readonly string[]
  /** Over this process's own environment, of which `COATCHECK_*` is not passed on. */
  readonly env?: Readonly<Record<string, string>>
  /** Of Node, before the program. */
  readonly flags?: readonly string[]
  /** Modules that are loaded before the program. */
  readonly preloads?: readonly string[]
}

export class Server {
  readonly port: number
  readonly #child: ChildProcess

  private constructor(child: ChildProcess, port: number) {
    this.#child = child
    this.port = port
  }

  /** Resolves when it listens; throws, with what it wrote, when it does not. */
  static async start({
    program,
    args = [],
    env = {},
    flags = [],
    preloads = [],
  }: ServerOptions): Promise<Server> {
    const child = fork(fileURLToPath(program), [...args], {
      execArgv: [...flags, ...[PROBE, ...preloads].flatMap((module) => ['--import', module])],
      env: { ...withoutSettings(process.env), ...env },
      stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
    })
    let output = ''
    for (const stream of [child.stdout, child.stderr]) {
      stream?.setEncoding('utf8').on('data', (text: string) => {
        output = (output + text).slice(-KIBIBYTE)
      })
    }
    try {
      const told = await nextTold(child, AbortSignal.timeout(START_MS))
      if ('port' in told) return new Server(child, told.port)
      throw new Error('it told something else first')
    } catch (error) {
      child.kill('SIGKILL')
      throw new Error(`${program.pathname} did not start: ${String(error)} ${output}`)
    }
  }

  /** The 99th percentile of its event-loop delay while `work` is done, in milliseconds. */
  async delayDuring(work: () => Promise<unknown>): Promise<number> {
    this.#ask('watch')
    await work()
    const answer = nextTold(this.#child, AbortSignal.timeout(START_MS))
    this.#ask('delay')
    const told = await answer
    if ('delayMs' in told) return told.delayMs
    throw new Error('the server told something else')
  }

  /** Memory in bytes, now or at its highest. Linux only. */
  memoryBytes(what: 'VmRSS' | 'VmHWM'): number {
    const status = readFileSync(`/proc/${this.#child.pid}/status`, 'utf8')
    const kibibytes = new RegExp(`^${what}:\\s+(\\d+) kB$`, 'm').exec(status)?.[1]
    return Number(kibibytes) * KIBIBYTE
  }

  /** Resolves when it is gone, by force if need be. */
  async stop(): Promise<void> {
    if (this.#child.exitCode !== null || this.#child.signalCode !== null) return
    const gone = once(this.#child, 'exit')
    this.#child.kill('SIGTERM')
    const late = sleep(STOP_MS, 'late', { ref: false })
    if ((await Promise.race([gone, late])) !== 'late') return
    this.#child.kill('SIGKILL')
    await gone
  }

  #ask(question: Question): void {
    this.#child.send(question)
  }
}

/** What the probe tells next; throws when the child ends first. */
async function nextTold(child: ChildProcess, signal: AbortSignal): Promise<Told> {
  const ended = new AbortController()
  const any = AbortSignal.any([signal, ended.signal])
  const end = (status: number | null): void => ended.abort(new Error(`it ended with ${status}`))
  child.once('exit', end)
  try {
    const [told] = (await once(child, 'message', { signal: any })) as [Told]
    return told
  } catch {
    throw any.reason
  } finally {
    child.off('exit', end)
  }
}

const withoutSettings = (env: NodeJS.ProcessEnv): NodeJS.ProcessEnv =>
  Object.fromEntries(Object.entries(env).filter(([name]) => !name.startsWith('COATCHECK_')))
