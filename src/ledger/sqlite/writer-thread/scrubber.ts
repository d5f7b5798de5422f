/**
 * Overwrites what erased rows have left in the files: copies in unallocated bytes of pages, and the log. In pieces, between other
 * writes; each piece leaves a sound file, so that it may stop at any moment.
 *
 * Why it is complete. A scrub begins when the rows are gone. It cleans every page that was logged since the scrub before began, or
 * every page where that is not known, and each page once: a page that was cleaned, and read again from the file, can get copies of
 * rows that were live at that time, and of no others. A page that the log holds is not cleaned in the file, since a checkpoint would
 * write the logged one over it; it waits until the log has been emptied. The end is one step without other writes in between: the
 * log is emptied, the pages that have waited are cleaned. Pages logged later come from clean ones.
 */
import type Database from 'better-sqlite3'
import { LogPages } from '../file/log-pages.ts'
import { PageFile } from '../file/page-file.ts'

/** How long one piece cleans pages: a put may wait for it. */
const PIECE_MS = 4
/** Looked at the clock again after so many pages. */
const PAGES_A_LOOK = 16
/** More pages than these are not told apart: all are cleaned. */
const MOST_PAGES = 65_536

/** `blocked`: a reader keeps the log from being emptied; nothing is lost by trying again. */
export type ScrubProgress = 'more' | 'blocked' | 'done'

export class Scrubber {
  readonly #db: Database.Database
  readonly #log: LogPages
  readonly #file: PageFile
  /** Logged since the last scrub began. Undefined: not known, so all. */
  #logged: Set<number> | undefined
  /** What the scrub under way has to clean, and has cleaned in part; empty when none is. Undefined: all. */
  #scope: Set<number> | undefined = new Set()
  /** What of it has not had its turn; undefined before it begins. */
  #left: Iterator<number> | undefined
  /** Those that were in the log when their turn came. */
  #waiting: number[] = []

  /** `db` is the connection that writes. */
  constructor(db: Database.Database) {
    this.#db = db
    const pageBytes = db.pragma('page_size', { simple: true }) as number
    this.#log = new LogPages(db.name, pageBytes)
    this.#file = new PageFile(db.name, pageBytes)
  }

  /** To be called after every transaction. Throws nothing: the transaction is done. */
  noteCommit(): void {
    try {
      this.#noteLog()
    } catch {
      // it cannot be read: any page may be in it
      this.#logged = undefined
    }
  }

  /** Once rows are erased, before {@link step}. A scrub that is under way begins anew, with its pages and those logged since. */
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

  /** The next piece; outside of transactions. What it throws has lost nothing: the next piece begins the scrub anew. */
  step(): ScrubProgress {
    try {
      return this.#step()
    } catch (error) {
      this.#left = undefined
      throw error
    } finally {
      // the pages that the connection holds are those of before
      this.#db.pragma('shrink_memory')
    }
  }

  /** After the connection has been closed. */
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

  /** Cleans pages while there is time, and sets those aside that the log holds. While it does, nobody else writes. */
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

  /** False when a reader is in the way. Never waits for one: others would wait for this. */
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
