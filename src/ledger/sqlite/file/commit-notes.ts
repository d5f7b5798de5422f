/**
 * Notes of what was committed to the log, in a file of its own beside it (`-commits`): how far the log went, and the last number
 * of each run. They tell at the next start that a log has lost its end, and which handles must not be given again.
 *
 * A note is written after its commit is on disk and before anybody is told of it, so that it never claims too much. It is not
 * flushed with the commit, but within a second: after the end of the process all notes are there, after the end of the machine
 * the last ones may not be. What has been copied into the ledger needs no notes: they start again then.
 */
import {
  closeSync,
  existsSync,
  fdatasync,
  ftruncateSync,
  openSync,
  readFileSync,
  writeSync,
} from 'node:fs'
import { crc32 } from 'node:zlib'
import type Database from 'better-sqlite3'
import type { LogState } from './log-index.ts'

/** The number of the last result that a run was given. */
export type GivenNumber = readonly [tenant: string, run: string, number: number]

/** How far a log went: `frames` of the one with these `salts`, of which the first `copied` are in the ledger. */
export interface Position extends Pick<LogState, 'salts' | 'frames'> {
  readonly copied: number
}

export interface Noted {
  /** Of the ledger that the notes are about. */
  readonly ledger: string
  readonly position: Position | undefined
  readonly numbers: readonly GivenNumber[]
}

type Line = { readonly ledger: string } | (Position & { readonly numbers?: readonly GivenNumber[] })

const FLUSH_MS = 1_000
const OF_THE_OWNER = 0o600
const CHECKSUM_DIGITS = 8

const pathOf = (ledger: string): string => `${ledger}-commits`

/** What tells a ledger from every other. */
export const ledgerId = (db: Database.Database): string =>
  db.prepare<[], string>('SELECT id FROM ledger').pluck().get() ?? ''

/** The notes beside the ledger at `path`; undefined where there are none. A line that is not whole is left out. */
export function readNotes(path: string): Noted | undefined {
  if (!existsSync(pathOf(path))) return undefined
  let ledger = ''
  let position: Position | undefined
  const numbers: GivenNumber[] = []
  for (const line of linesOf(readFileSync(pathOf(path), 'utf8'))) {
    if ('ledger' in line) ledger = line.ledger
    else {
      position = line
      numbers.push(...(line.numbers ?? []))
    }
  }
  return ledger === '' ? undefined : { ledger, position, numbers }
}

/** For the thread that commits. */
export class CommitNotes {
  readonly #ledger: string
  readonly #file: number
  #end = 0
  #isFlushDue = false
  #isClosed = false

  /** Starts the notes of the ledger named `ledger` at `path` again. */
  constructor(path: string, ledger: string) {
    this.#ledger = ledger
    this.#file = openSync(pathOf(path), 'w', OF_THE_OWNER)
    this.#write({ ledger })
  }

  /** After a commit that is on disk. */
  committed({ salts, frames }: LogState, numbers: readonly GivenNumber[]): void {
    this.#write({ salts, frames, copied: 0, ...(numbers.length > 0 && { numbers }) })
  }

  /** After a checkpoint that has copied all of the log. */
  copied({ salts, frames }: LogState): void {
    ftruncateSync(this.#file, 0)
    this.#end = 0
    this.#write({ ledger: this.#ledger })
    this.#write({ salts, frames, copied: frames })
  }

  close(): void {
    this.#isClosed = true
    // a flush that is under way has the descriptor
    if (!this.#isFlushDue) closeSync(this.#file)
  }

  #write(line: Line): void {
    const text = JSON.stringify(line)
    this.#end += writeSync(this.#file, `${checksumOf(text)} ${text}\n`, this.#end)
    if (!this.#isFlushDue) this.#flushSoon()
  }

  #flushSoon(): void {
    this.#isFlushDue = true
    const flush = (): void =>
      fdatasync(this.#file, () => {
        this.#isFlushDue = false
        if (this.#isClosed) closeSync(this.#file)
      })
    setTimeout(flush, FLUSH_MS).unref()
  }
}

function* linesOf(text: string): Generator<Line> {
  for (const line of text.split('\n')) {
    const body = line.slice(CHECKSUM_DIGITS + 1)
    if (body !== '' && line.startsWith(checksumOf(body))) yield JSON.parse(body) as Line
  }
}

const checksumOf = (text: string): string => crc32(text).toString(16).padStart(CHECKSUM_DIGITS, '0')
