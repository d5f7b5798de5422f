// A disk for the files of a service that fails when told to, and whose power can be cut: see `power-cut.c`.
import { spawnSync } from 'node:child_process'
import {
  closeSync,
  copyFileSync,
  existsSync,
  mkdtempSync,
  openSync,
  readSync,
  writeSync,
} from 'node:fs'
import { basename, join } from 'node:path'
import { fileURLToPath } from 'node:url'

const SOURCE = fileURLToPath(new URL('power-cut.c', import.meta.url))

export const CALLS = ['write', 'sync', 'truncate'] as const
export const FILES = ['db', 'log', 'index', 'folder'] as const
export const ERRNO = { EIO: 5, ENOSPC: 28 } as const

export interface Failure {
  readonly call: (typeof CALLS)[number]
  readonly file: (typeof FILES)[number]
  /** So many such calls succeed before. */
  readonly skip: number
  /** So many fail then. */
  readonly count: number
  readonly errno: number
  /** What a failed sync was about reads as the disk has it. */
  readonly forget: boolean
  /** Only a sync of so many bytes or more counts; 0: any. */
  readonly leastBytes: number
}

const FIELDS = 8
const FAILED = 7

/** The library, compiled into `folder`; undefined where there is no C compiler. */
export function compilePowerCut(folder: string): string | undefined {
  const library = join(folder, 'power-cut.so')
  const flags = ['-shared', '-fPIC', '-O1', '-o', library, SOURCE, '-ldl', '-lpthread']
  return spawnSync('gcc', flags, { stdio: 'ignore' }).status === 0 ? library : undefined
}

/** The disk of one ledger, over all starts of its service. */
export class Disk {
  readonly #control: string
  readonly #library: string
  readonly ledger: string

  constructor(library: string, folder: string) {
    this.#library = library
    this.#control = join(folder, 'control')
    this.ledger = join(folder, 'ledger.db')
    this.#write(new Array<number>(FIELDS).fill(0), 'w')
  }

  /** For the environment of the service. */
  get env(): Readonly<Record<string, string>> {
    return {
      LD_PRELOAD: this.#library,
      POWER_CUT_CONTROL: this.#control,
      COATCHECK_LEDGER: this.ledger,
    }
  }

  /** From now on, calls fail as said. */
  fail({ call, file, skip, count, errno, forget, leastBytes }: Failure): void {
    const numbers = [FILES.indexOf(file) + 1, skip, count, errno, forget ? 1 : 0, leastBytes, 0]
    this.#write([0, ...numbers])
    this.#write([CALLS.indexOf(call) + 1])
  }

  heal(): void {
    this.#write([0])
  }

  /** How many calls have failed since {@link fail}. */
  get failed(): number {
    const bytes = Buffer.alloc(4 * FIELDS)
    const file = openSync(this.#control, 'r')
    readSync(file, bytes, 0, bytes.length, 0)
    closeSync(file)
    return new Uint32Array(bytes.buffer, bytes.byteOffset, FIELDS)[FAILED] ?? 0
  }

  /** The ledger as the disk has it, in a folder of its own below `parent`. The service must be gone. */
  cut(parent: string): string {
    const at = mkdtempSync(join(parent, 'cut-'))
    for (const end of ['', '-wal']) {
      const disk = `${this.ledger}${end}.disk`
      if (existsSync(disk)) copyFileSync(disk, join(at, `${basename(this.ledger)}${end}`))
    }
    return join(at, basename(this.ledger))
  }

  /** Its memory is mapped by the service: the file keeps its size. */
  #write(numbers: readonly number[], flags: 'w' | 'r+' = 'r+'): void {
    const file = openSync(this.#control, flags)
    writeSync(file, new Uint8Array(Uint32Array.from(numbers).buffer), 0, 4 * numbers.length, 0)
    closeSync(file)
  }
}
