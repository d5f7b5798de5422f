/**
 * Reads and cleans pages of the ledger's main file, beside SQLite. Cleaning overwrites bytes that
 * belong to no cell with zeros, in place. Whatever part of it is done when the machine stops, the
 * page is sound and has the same cells.
 *
 * The file stays open until {@link PageFile.close}, which must be called after SQLite has closed
 * it: closing any descriptor of a file releases the locks that the process has on it.
 */
import { closeSync, fstatSync, fsyncSync, openSync, readSync, writeSync } from 'node:fs'
import { unallocatedRanges } from './unallocated.ts'

/**
 * Kinds of pages in a pointer map that are cleaned: roots and other pages of b-trees. Pages of
 * other kinds have no unallocated bytes that belonged to a cell.
 */
const TREE_KINDS: ReadonlySet<number> = new Set([1, 5])
const FIRST_MAP_PAGE = 2
const MAP_ENTRY_BYTES = 5
/** Offset of SQLite's lock in the file. Its page is never used. */
const LOCK_PLACE = 1_073_741_824

/** The main file of one ledger. */
export class PageFile {
  readonly #path: string
  readonly #pageBytes: number
  readonly #page: Buffer
  readonly #map: Buffer
  readonly #zeros: Buffer
  #mapPage = 0
  #file: number | undefined

  constructor(path: string, pageBytes: number) {
    this.#path = path
    this.#pageBytes = pageBytes
    this.#page = Buffer.alloc(pageBytes)
    this.#map = Buffer.alloc(pageBytes)
    this.#zeros = Buffer.alloc(pageBytes)
  }

  /** Number of pages of the file. Pages are numbered from 1. */
  get pages(): number {
    return Math.floor(fstatSync(this.#open()).size / this.#pageBytes)
  }

  /**
   * Overwrites the unallocated bytes of a b-tree page; leaves other pages as they are. Only for a
   * page that is not in the log, while nothing can write to the log. The first page is left as it
   * is: it holds only the schema.
   */
  clean(page: number): void {
    if (!this.#isOfTree(page) || !this.#read(page, this.#page)) return
    const at = (page - 1) * this.#pageBytes
    for (const { start, end } of unallocatedRanges(this.#page) ?? []) {
      if (this.#page.compare(this.#zeros, 0, end - start, start, end) === 0) continue
      writeSync(this.#open(), this.#zeros, 0, end - start, at + start)
    }
  }

  /** Must be called after transactions, which may have changed the pointer map. */
  forget(): void {
    this.#mapPage = 0
  }

  /** Flushes cleaned pages to disk. */
  sync(): void {
    fsyncSync(this.#open())
  }

  /** Must be called after SQLite has closed the file. */
  close(): void {
    if (this.#file !== undefined) closeSync(this.#file)
    this.#file = undefined
  }

  #open(): number {
    this.#file ??= openSync(this.#path, 'r+')
    return this.#file
  }

  #isOfTree(page: number): boolean {
    const perMap = Math.floor(this.#pageBytes / MAP_ENTRY_BYTES) + 1
    const lockPage = LOCK_PLACE / this.#pageBytes + 1
    if (page < FIRST_MAP_PAGE || page === lockPage) return false
    let mapPage = Math.floor((page - FIRST_MAP_PAGE) / perMap) * perMap + FIRST_MAP_PAGE
    if (mapPage === lockPage) mapPage++
    if (page <= mapPage) return false
    if (this.#mapPage !== mapPage) {
      if (!this.#read(mapPage, this.#map)) return false
      this.#mapPage = mapPage
    }
    return TREE_KINDS.has(this.#map.readUInt8((page - mapPage - 1) * MAP_ENTRY_BYTES))
  }

  /** Reads a page. False past the end of the file. */
  #read(page: number, into: Buffer): boolean {
    const at = (page - 1) * this.#pageBytes
    return readSync(this.#open(), into, 0, this.#pageBytes, at) === this.#pageBytes
  }
}
