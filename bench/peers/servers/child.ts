/** Programs that the bench starts for itself: their output is kept, and they end with it. */
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { setTimeout as sleep } from 'node:timers/promises'

const START_MS = 30_000
const STOP_MS = 10_000
const POLL_MS = 50

export class Program {
  readonly #process: ChildProcess
  readonly #closed: Promise<unknown>
  readonly #onExit = (): void => void this.#process.kill('SIGKILL')
  output = ''

  constructor(command: string, args: readonly string[]) {
    this.#process = spawn(command, args, { stdio: ['ignore', 'pipe', 'pipe'] })
    for (const stream of [this.#process.stdout, this.#process.stderr]) {
      stream?.setEncoding('utf8').on('data', (text: string) => {
        this.output += text
      })
    }
    this.#closed = once(this.#process, 'close').catch((error: Error) => {
      this.output += error.message
    })
    process.on('exit', this.#onExit)
  }

  /** Resolves with what `ready` gives when it gives something; throws, with the output, when the program ends. */
  async until<Found>(ready: (output: string) => Promise<Found | undefined>): Promise<Found> {
    const deadline = AbortSignal.timeout(START_MS)
    while (!this.#ended && !deadline.aborted) {
      const found = await ready(this.output)
      if (found !== undefined) return found
      await sleep(POLL_MS)
    }
    await this.stop()
    throw new Error(`it did not start: ${this.output.slice(-500)}`)
  }

  async stop(signal: NodeJS.Signals = 'SIGTERM'): Promise<void> {
    process.off('exit', this.#onExit)
    this.#process.kill(signal)
    await Promise.race([this.#closed, sleep(STOP_MS, undefined, { ref: false })])
    if (!this.#ended) this.#process.kill('SIGKILL')
    await this.#closed
  }

  get #ended(): boolean {
    const { exitCode, signalCode, pid } = this.#process
    return exitCode !== null || signalCode !== null || pid === undefined
  }
}

/** The output of a program that ends by itself; throws when it fails. */
export async function output(command: string, args: readonly string[]): Promise<string> {
  const child = spawn(command, args, { stdio: ['ignore', 'pipe', 'pipe'] })
  let text = ''
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (part: string) => {
      text += part
    })
  }
  const [code] = (await once(child, 'close')) as [number | null]
  if (code !== 0) throw new Error(`${command} ended with ${code}: ${text.slice(-500)}`)
  return text
}
