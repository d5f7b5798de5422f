// Starts the scripts of `processes/`, and stops them as a crash would.
import { type ChildProcessByStdio, spawn } from 'node:child_process'
import { once } from 'node:events'
import type { Readable, Writable } from 'node:stream'
import { fileURLToPath } from 'node:url'

export interface Process {
  /** Writes a line to its standard input, and resolves with the next line that it writes. */
  ask(line: string): Promise<string>
  /** All it has written. */
  readonly output: string
  /** Resolves when it has written `text`, or ended. */
  written(text: string): Promise<void>
  /** Resolves with all it has written when it has ended by itself. */
  ended(): Promise<string>
  /** `kill -9`, and all that it wrote until then. */
  kill(): Promise<string>
}

export function startProcess(
  script: 'hold' | 'append' | 'upload' | 'purge' | 'end' | 'contend',
  ...args: readonly string[]
): Process {
  const path = fileURLToPath(new URL(`processes/${script}.ts`, import.meta.url))
  return start(process.execPath, path, ...args)
}

/** The same, where no file may grow past so many blocks of the shell's `ulimit`. */
export function startLimited(
  blocks: number,
  script: 'append',
  ...args: readonly string[]
): Process {
  const path = fileURLToPath(new URL(`processes/${script}.ts`, import.meta.url))
  return start('sh', '-c', `ulimit -f ${blocks}; exec "$0" "$@"`, process.execPath, path, ...args)
}

const start = (command: string, ...args: readonly string[]): Process =>
  new Started(spawn(command, args, { stdio: ['pipe', 'pipe', 'inherit'] }))

class Started implements Process {
  readonly #child: ChildProcessByStdio<Writable, Readable, null>
  readonly #closed: Promise<unknown>
  output = ''

  constructor(child: ChildProcessByStdio<Writable, Readable, null>) {
    this.#child = child
    this.#closed = once(child, 'close')
    child.stdout.setEncoding('utf8').on('data', (text: string) => {
      this.output += text
    })
  }

  async ask(line: string): Promise<string> {
    const from = this.output.length
    this.#child.stdin.write(`${line}\n`)
    while (!this.output.slice(from).includes('\n')) {
      await Promise.race([once(this.#child.stdout, 'data'), this.#closed])
      if (this.#child.stdout.destroyed) break
    }
    return this.output.slice(from).trim()
  }

  async written(text: string): Promise<void> {
    while (!this.output.includes(text) && !this.#child.stdout.destroyed) {
      await Promise.race([once(this.#child.stdout, 'data'), this.#closed])
    }
  }

  async ended(): Promise<string> {
    await this.#closed
    return this.output
  }

  async kill(): Promise<string> {
    this.#child.kill('SIGKILL')
    await this.#closed
    return this.output
  }
}
