/**
 * The pages of the ledger's main file, read and cleaned beside SQLite. Cleaning overwrites bytes that no cell has with zeros, in
 * place: whatever part of it is done when the machine stops, the page is a sound one with the same cells.
 *
 * The file stays open until {@link PageFile.close}, which must come after SQLite has closed it: to close any descriptor of a file
 * drops the locks that the process has on it.
 */
import { closeSync, fstatSync, fsyncSync, openSync, readSync, writeSync } from 'node:fs'
import { unallocatedRanges } from './unallocated.ts'

/** Kinds of pages in a pointer map: roots and other pages of b-trees. Of the others none has unallocated bytes that were a cell's. */
const TREE_KINDS: ReadonlySet<number> = new Set([1, 5])
const FIRST_MAP_PAGE = 2
const MAP_ENTRY_BYTES = 5
/** At this place in the file lies SQLite's lock, in a page that is never used. */
const LOCK_PLACE = 1_073_741_824

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

  /** How many pages the file has; they are numbered from 1. */
  get pages(): number {
    return Math.floor(fstatSync(this.#open()).size / this.#pageBytes)
  }

  /**
   * Overwrites the unallocated bytes of a page, if it is one of a b-tree. Only for a page that is not in the log, while nobody can
   * write one there. The first page is left: it has the schema alone.
   */
  clean(page: number): void {
    if (!this.#isOfTree(page) || !this.#read(page, this.#page)) return
    const at = (page - 1) * this.#pageBytes
    for (const { start, end } of unallocatedRanges(this.#page) ?? []) {
      if (this.#page.compare(this.#zeros, 0, end - start, start, end) === 0) continue
      writeSync(this.#open(), this.#zeros, 0, end - start, at + start)
    }
  }

  /** After transactions: the pointer map may have changed. */
  forget(): void {
    this.#mapPage = 0
  }

  /** Returns when what was cleaned is on disk. */
  sync(): void {
    fsyncSync(this.#open())
  }

  /** After SQLite has closed the file. */
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

  /** False past the end of the file. */
  #read(page: number, into: Buffer): boolean {
    const at = (page - 1) * this.#pageBytes
    return readSync(this.#open(), into, 0, this.#pageBytes, at) === this.#pageBytes
  }
}
