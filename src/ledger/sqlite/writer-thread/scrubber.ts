/**
 * Overwrites what erased rows have left in the files: copies in unallocated bytes of pages, and the
 * log. It works in pieces, between other writes. Each piece leaves a sound file, so it may stop at
 * any moment.
 *
 * Why it is complete:
 *
 * - A scrub begins after the rows are erased. It cleans each page that was logged since the
 *   previous scrub began, or every page when those are not known. Each page is cleaned once. A page
 *   that was cleaned and is then read from the file can get copies only of rows that were live at
 *   that time.
 * - A page that is in the log is not cleaned in the file, since a checkpoint would write the logged
 *   page over it. It waits until the log has been emptied.
 * - The last step runs without other writes in between: it empties the log and cleans the pages
 *   that have waited. Pages that are logged later come from clean ones.
 */
import type Database from 'better-sqlite3'
import { LogPages } from '../file/log-pages.ts'
import { PageFile } from '../file/page-file.ts'

/** Milliseconds that one piece cleans pages, since a put may wait for it. */
const PIECE_MS = 4
/** Pages between two looks at the clock. */
const PAGES_A_LOOK = 16
/** Most pages that are remembered. Above that, all pages are cleaned. */
const MOST_PAGES = 65_536

/**
 * State after a piece. `blocked`: a reader prevents the log from being emptied; it can be tried
 * again.
 */
export type ScrubProgress = 'more' | 'blocked' | 'done'

/** Scrubs the files of one ledger. */
export class Scrubber {
  readonly #db: Database.Database
  readonly #log: LogPages
  readonly #file: PageFile
  /**
   * Pages logged since the last scrub began. Undefined when they are not known, which stands for
   * all.
   */
  #logged: Set<number> | undefined
  /**
   * All pages of the scrub under way, cleaned ones included; empty without a scrub. Undefined
   * stands for all pages of the file.
   */
  #scope: Set<number> | undefined = new Set()
  /** Pages of the scrub that have not had their turn; undefined before it begins. */
  #left: Iterator<number> | undefined
  /** Pages that were in the log when their turn came. */
  #waiting: number[] = []

  /** `db` is the writing connection. */
  constructor(db: Database.Database) {
    this.#db = db
    const pageBytes = db.pragma('page_size', { simple: true }) as number
    this.#log = new LogPages(db.name, pageBytes)
    this.#file = new PageFile(db.name, pageBytes)
  }

  /** Must be called after every transaction. Throws nothing, since the transaction is done. */
  noteCommit(): void {
    try {
      this.#noteLog()
    } catch {
      // The log cannot be read, so any page may be in it.
      this.#logged = undefined
    }
  }

  /**
   * Begins a scrub, after rows were erased and before {@link step}. A scrub that is under way
   * begins anew, with its pages and those logged since.
   */
  begin(): void {
    this.noteCommit()
    if (this.#scope === undefined) this.#logged = undefined
    else for (const page of this.#scope) this.#noteLogged(page)
    const scope = this.#logged
    this.#logged = new Set()
    this.#scope = scope
    this.#waiting = []
    this.#left = scope === undefined ? upTo(this.#file.pages) : scope.values()
  }

  /**
   * Scrubs the next piece, outside of transactions. An error loses nothing: the next piece begins
   * the scrub anew.
   */
  step(): ScrubProgress {
    try {
      return this.#step()
    } catch (error) {
      this.#left = undefined
      throw error
    } finally {
      // The pages in the connection's cache are those from before cleaning.
      this.#db.pragma('shrink_memory')
    }
  }

  /** Must be called after the connection was closed. */
  close(): void {
    this.#log.close()
    this.#file.close()
  }

  #step(): ScrubProgress {
    if (this.#left === undefined) this.begin()
    if (this.#clean(this.#left as Iterator<number>) === 'more') return 'more'
    if (!this.#emptyLog()) return 'blocked'
    const left = this.#waiting.values()
    this.#waiting = []
    if (this.#clean(left) === 'more' || this.#waiting.length > 0) {
      this.#left = [...this.#waiting, ...left].values()
      this.#waiting = []
      return 'more'
    }
    this.#file.sync()
    this.#left = undefined
    this.#scope = new Set()
    return 'done'
  }

  #noteLog(): void {
    this.#log.read((page) => this.#noteLogged(page))
  }

  #noteLogged(page: number): void {
    if (this.#logged === undefined) return
    this.#logged.add(page)
    if (this.#logged.size > MOST_PAGES) this.#logged = undefined
  }

  /**
   * Cleans pages while there is time, and sets aside those that are in the log. Nothing else can
   * write meanwhile.
   */
  #clean(pages: Iterator<number>): 'more' | 'done' {
    const until = performance.now() + PIECE_MS
    this.#db.exec('BEGIN IMMEDIATE')
    try {
      this.#noteLog()
      this.#file.forget()
      for (let n = 1; ; n++) {
        const { value: page, done } = pages.next()
        if (done === true) return 'done'
        if (this.#log.has(page)) this.#waiting.push(page)
        else this.#file.clean(page)
        if (n % PAGES_A_LOOK === 0 && performance.now() > until) return 'more'
      }
    } finally {
      this.#db.exec('ROLLBACK')
    }
  }

  /**
   * Empties the log. False when a reader blocks that. Does not wait for readers, since other writes
   * would wait too.
   */
  #emptyLog(): boolean {
    const timeoutMs = this.#db.pragma('busy_timeout', { simple: true })
    this.#db.pragma('busy_timeout = 0')
    try {
      const [answer] = this.#db.pragma('wal_checkpoint(TRUNCATE)') as [{ readonly busy: number }]
      return answer.busy === 0
    } finally {
      this.#db.pragma(`busy_timeout = ${timeoutMs}`)
    }
  }
}

function* upTo(last: number): Generator<number> {
  for (let page = 1; page <= last; page++) yield page
}
