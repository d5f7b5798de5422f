/**
 * The files of an open ledger by descriptors of our own, beside those that SQLite has: whether the paths still name them, and
 * a flush whose failure is seen. The system reports a failed write-back to every descriptor that was open then.
 *
 * The system frees SQLite's locks when any descriptor of their file is closed. So these are closed after SQLite's.
 */
import { closeSync, fstatSync, fsyncSync, openSync, type Stats, statSync } from 'node:fs'
import { rescueLog } from './log-copies.ts'
import { type LogState, logBytes, readLogState, readSalts } from './log-index.ts'

interface Held {
  readonly path: string
  readonly descriptor: number
  readonly dev: number
  readonly ino: number
}

export class HeldFiles {
  readonly #ledger: Held
  readonly #log: Held
  readonly #index: Held
  readonly #pageBytes: number
  /** The least that the ledger's file had after a checkpoint; checkpoints alone change its size. */
  #ledgerBytes: number

  /** Of the ledger at `path`, which SQLite has opened. */
  constructor(path: string, pageBytes: number) {
    this.#ledger = hold(path)
    this.#log = hold(`${path}-wal`)
    this.#index = hold(`${path}-shm`)
    this.#pageBytes = pageBytes
    this.#ledgerBytes = 0
    this.checkpointed()
  }

  /** How far the log is committed. For the thread that commits. */
  get logState(): LogState {
    return readLogState(this.#index.descriptor)
  }

  /** Notes the ledger's size, which a checkpoint may have changed. */
  checkpointed(): void {
    this.#ledgerBytes = fstatSync(this.#ledger.descriptor).size
  }

  /** True when the path of the ledger names another file than the one that was opened, or none. */
  get isLedgerAway(): boolean {
    return !isAt(this.#ledger, found(this.#ledger.path))
  }

  /**
   * How the ledger's file or its log is no longer as it was written; undefined when both are. `committed` frames of the log
   * are known to this thread. The ledger's path is another matter: see {@link isLedgerAway}.
   */
  damage(committed: LogState): string | undefined {
    const log = found(this.#log.path)
    if (!isAt(this.#log, log)) return log === undefined ? 'its log was removed' : LOG_REPLACED
    if (this.#isShort(log, committed)) return 'its log was truncated'
    if (this.#isCut()) return 'its file was truncated'
    return undefined
  }

  /** True when the log's header is that of another log than the one that was written, in the same file. */
  isLogOverwritten({ frames, salts }: LogState): boolean {
    return frames > 0 && readSalts(this.#log.descriptor) !== salts
  }

  /** Has the system write what it holds of the ledger and its log. Throws when any of it may be lost. */
  flush(): void {
    fsyncSync(this.#log.descriptor)
    fsyncSync(this.#ledger.descriptor)
  }

  /** Gives a log that was removed or replaced its name back; see {@link rescueLog}. False where nothing was to be done. */
  rescueLog(): boolean {
    if (isAt(this.#log, found(this.#log.path))) return false
    rescueLog(this.#log)
    return true
  }

  /** Where the bytes of the open ledger can be copied from while this process lives, whatever became of its path. */
  get openLedger(): string {
    return openAt(this.#ledger)
  }

  /** Of the log; see {@link openLedger}. */
  get openLog(): string {
    return openAt(this.#log)
  }

  /** After SQLite has closed its own. */
  close(): void {
    for (const { descriptor } of [this.#index, this.#log, this.#ledger]) closeSync(descriptor)
  }

  /** Another process may have emptied the log by a checkpoint: its index, read after the log's size, tells. */
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

const isAt = ({ dev, ino }: Held, at: Stats | undefined): at is Stats =>
  at !== undefined && at.ino === ino && at.dev === dev
