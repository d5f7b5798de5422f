/**
 * Own descriptors of an open ledger's files, beside those of SQLite. They show whether the paths
 * still name these files, and allow a flush whose failure is noticed: the system reports a failed
 * write-back to every descriptor that was open at that time.
 *
 * The system releases SQLite's locks when any descriptor of their file is closed. So these
 * descriptors are closed after SQLite's.
 */
import { closeSync, fstatSync, fsyncSync, lstatSync, openSync, type Stats, statSync } from 'node:fs'
import { rescueLog } from './log-copies.ts'
import { type LogState, logBytes, readLogState, readSalts } from './log-index.ts'

interface Held {
  readonly path: string
  readonly descriptor: number
  readonly dev: number
  readonly ino: number
}

/** The ledger, its log and the index of the log, held open. */
export class HeldFiles {
  readonly #ledger: Held
  readonly #log: Held
  readonly #index: Held
  readonly #pageBytes: number
  /** Size of the ledger's file after the last checkpoint. Only checkpoints change it. */
  #ledgerBytes: number

  /** Opens the files of the ledger at `path`, which SQLite has open already. */
  constructor(path: string, pageBytes: number) {
    this.#ledger = hold(path)
    this.#log = hold(`${path}-wal`)
    this.#index = hold(`${path}-shm`)
    this.#pageBytes = pageBytes
    this.#ledgerBytes = 0
    this.checkpointed()
  }

  /** How far the log is committed. May be read only in the thread that commits. */
  get logState(): LogState {
    return readLogState(this.#index.descriptor)
  }

  /** Reads the ledger's size again, which a checkpoint may have changed. */
  checkpointed(): void {
    this.#ledgerBytes = fstatSync(this.#ledger.descriptor).size
  }

  /** True when the ledger's path names no file, or another one than was opened. */
  get isLedgerAway(): boolean {
    return !isAt(this.#ledger, found(this.#ledger.path))
  }

  /**
   * Describes damage to the ledger's file or its log: removed, replaced or truncated. Undefined
   * when there is none. `committed` is the state of the log that this thread knows. Does not check
   * the ledger's path: see {@link isLedgerAway}.
   */
  damage(committed: LogState): string | undefined {
    const log = logAt(this.#log.path)
    if (!isAt(this.#log, log)) return log === undefined ? 'its log was removed' : LOG_REPLACED
    if (this.#isShort(log, committed)) return 'its log was truncated'
    if (this.#isCut()) return 'its file was truncated'
    return undefined
  }

  /** True when the file of the log holds the header of another log. */
  isLogOverwritten({ frames, salts }: LogState): boolean {
    return frames > 0 && readSalts(this.#log.descriptor) !== salts
  }

  /** Flushes the ledger and its log. Throws when any byte of them may be lost. */
  flush(): void {
    fsyncSync(this.#log.descriptor)
    fsyncSync(this.#ledger.descriptor)
  }

  /**
   * Restores a log that was removed or replaced, see {@link rescueLog}. False when there was
   * nothing to do, and when the ledger's path now names another file, whose log must stay.
   */
  rescueLog(): boolean {
    const isOthers = this.isLedgerAway && found(this.#ledger.path) !== undefined
    if (isOthers || isAt(this.#log, logAt(this.#log.path))) return false
    rescueLog(this.#log)
    return true
  }

  /**
   * Path from which the open ledger can be copied while this process lives, whatever its own path
   * now names.
   */
  get openLedger(): string {
    return openAt(this.#ledger)
  }

  /** The same kind of path for the log. */
  get openLog(): string {
    return openAt(this.#log)
  }

  /** Must be called after SQLite has closed its descriptors. */
  close(): void {
    for (const { descriptor } of [this.#index, this.#log, this.#ledger]) closeSync(descriptor)
  }

  /**
   * Whether the log is shorter than it must be. Another process may have emptied it by a
   * checkpoint; the index of the log, read after its size, shows that.
   */
  #isShort(log: Stats, { frames }: LogState): boolean {
    if (log.size >= logBytes(frames, this.#pageBytes)) return false
    return log.size < logBytes(this.logState.frames, this.#pageBytes)
  }

  #isCut(): boolean {
    const { size } = fstatSync(this.#ledger.descriptor)
    if (size >= this.#ledgerBytes) return false
    return size < this.logState.pages * this.#pageBytes
  }
}

const LOG_REPLACED = 'its log was replaced'

function hold(path: string): Held {
  const descriptor = openSync(path, 'r')
  const { dev, ino } = fstatSync(descriptor)
  return { path, descriptor, dev, ino }
}

const openAt = ({ descriptor }: Held): string => `/proc/${process.pid}/fd/${descriptor}`

const found = (path: string): Stats | undefined => statSync(path, { throwIfNoEntry: false })

/** A symbolic link to the log is another file: SQLite does not open a log through one. */
const logAt = (path: string): Stats | undefined => lstatSync(path, { throwIfNoEntry: false })

const isAt = ({ dev, ino }: Held, at: Stats | undefined): at is Stats =>
  at !== undefined && at.ino === ino && at.dev === dev
