/**
 * Notes of commits to the log, in a file beside the ledger (`-commits`): how far the log went, and
 * the last number of each run. At the next start they show whether the log has lost its end, and
 * which handles must not be given again.
 *
 * A note is written after its commit is on disk and before a caller is told of the commit, so it
 * never claims too much. It is flushed within a second, not with the commit. So all notes survive
 * the end of the process, but the last ones may be lost when the machine stops. What was copied
 * into the ledger needs no notes: they start again then.
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

/** Number of the last result of a run. */
export type GivenNumber = readonly [tenant: string, run: string, number: number]

/**
 * How far a log went: `frames` of the log with these `salts`, of which the first `copied` are in
 * the ledger.
 */
export interface Position extends Pick<LogState, 'salts' | 'frames'> {
  readonly copied: number
}

/** Content of the notes. */
export interface Noted {
  /** Id of the ledger that the notes are about. */
  readonly ledger: string
  readonly position: Position | undefined
  readonly numbers: readonly GivenNumber[]
}

type Line = { readonly ledger: string } | (Position & { readonly numbers?: readonly GivenNumber[] })

const FLUSH_MS = 1_000
const OF_THE_OWNER = 0o600
const CHECKSUM_DIGITS = 8

const pathOf = (ledger: string): string => `${ledger}-commits`

/** Random id of a ledger, different from that of any other. */
export const ledgerId = (db: Database.Database): string =>
  db.prepare<[], string>('SELECT id FROM ledger').pluck().get() ?? ''

/**
 * Reads the notes beside the ledger at `path`. Undefined when there are none. A line that is not
 * whole is skipped.
 */
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

/** Writes notes, in the thread that commits. */
export class CommitNotes {
  readonly #ledger: string
  readonly #file: number
  #end = 0
  #isFlushDue = false
  #isClosed = false

  /** Starts new notes of the ledger with the id `ledger` at `path`. Earlier notes are removed. */
  constructor(path: string, ledger: string) {
    this.#ledger = ledger
    this.#file = openSync(pathOf(path), 'w', OF_THE_OWNER)
    this.#write({ ledger })
  }

  /** Writes a note after a commit that is on disk. */
  committed({ salts, frames }: LogState, numbers: readonly GivenNumber[]): void {
    this.#write({ salts, frames, copied: 0, ...(numbers.length > 0 && { numbers }) })
  }

  /** Starts the notes again after a checkpoint that has copied the whole log. */
  copied({ salts, frames }: LogState): void {
    ftruncateSync(this.#file, 0)
    this.#end = 0
    this.#write({ ledger: this.#ledger })
    this.#write({ salts, frames, copied: frames })
  }

  close(): void {
    this.#isClosed = true
    // A flush under way uses the descriptor, and closes it at its end.
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
