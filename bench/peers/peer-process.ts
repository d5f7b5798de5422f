/** The near side of `host.ts`: starts a candidate, asks it, and ends it when it does not answer in time. */
import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import type { Work, WorkName } from './host.ts'
import type { Addresses, PeerName } from './peer.ts'
import type { PeerOptions } from './roster.ts'

const HOST = fileURLToPath(new URL('host.ts', import.meta.url))
const START_MS = 60_000
/** The largest work there is: 100 MB taken in. */
const WORK_MS = 300_000

export class HungError extends Error {}

interface Message {
  readonly answer?: unknown
  readonly error?: string
}

export class PeerProcess {
  readonly name: PeerName
  readonly #child: ChildProcess
  readonly #onExit = (): void => void this.#child.kill('SIGKILL')

  /** Resolves when the candidate is open; throws what it said when it cannot be. */
  static async start(
    name: PeerName,
    addresses: Addresses,
    options: PeerOptions,
  ): Promise<PeerProcess> {
    const child = fork(HOST, [name, JSON.stringify(addresses), JSON.stringify(options)])
    const started = new PeerProcess(name, child)
    await started.#answer(START_MS)
    return started
  }

  private constructor(name: PeerName, child: ChildProcess) {
    this.name = name
    this.#child = child
    // One that hangs does not see that its parent is gone.
    process.on('exit', this.#onExit)
  }

  /** Throws `HungError` past the deadline; then the process is gone. */
  ask<Name extends WorkName>(
    name: Name,
    ask: Work[Name]['ask'],
    deadlineMs: number = WORK_MS,
  ): Promise<Work[Name]['answer']> {
    this.#child.send({ name, ask })
    return this.#answer(deadlineMs) as Promise<Work[Name]['answer']>
  }

  stop(): void {
    process.off('exit', this.#onExit)
    this.#child.kill('SIGKILL')
  }

  async #answer(deadlineMs: number): Promise<unknown> {
    const ended = new AbortController()
    const { signal } = ended
    try {
      const message = await Promise.race([
        once(this.#child, 'message', { signal }),
        once(this.#child, 'exit', { signal }).then(() => [{ error: `${this.name} ended` }]),
        sleep(deadlineMs, undefined, { signal }).then(() => undefined),
      ])
      if (message !== undefined) return answerIn(message[0] as Message)
    } finally {
      ended.abort()
    }
    this.stop()
    throw new HungError(`${this.name} gave no answer in ${deadlineMs} ms`)
  }
}

function answerIn({ answer, error }: Message): unknown {
  if (error !== undefined) throw new Error(error)
  return answer
}
