/**
 * Bounds the memory that requests hold together. When memory is short, a holder may have to give
 * way to a new one: a holder without progress, or one of a tenant that has more than half of all
 * memory when the new one's tenant has not.
 */
import type { Socket } from 'node:net'
import { CoatcheckError } from '../../core/errors.ts'
import { bytesTaken } from '../connection/node-http.ts'
import { Turns } from './fair-queue.ts'
import { Shares } from './shares.ts'

/** Bytes that are not counted: a connection holds as much before it is read. */
export const SMALL_BYTES = 65_536
/** Longest body that is read at once. Longer ones are read in turns. */
export const TURN_BYTES = 8_192
/**
 * Time without progress after which a body is slow. Progress is another {@link SMALL_BYTES}, or
 * another 1/{@link PROGRESS_PART} of its bytes if that is more.
 */
const SLOW_MS = 5_000
const PROGRESS_PART = 8
/** While another tenant needs memory, one tenant may have 1/`TENANT_PART` of it. */
const TENANT_PART = 2

/** Texts of the problem when the memory is full. */
export interface HeldWords {
  /** Name of the limit. */
  readonly limit: string
  readonly full: (maxBytes: number) => string
  readonly gaveWay: (maxBytes: number) => string
}

/** The memory that all holders share. */
export class HeldMemory {
  readonly turns = new Turns()
  readonly #maxBytes: number
  readonly #words: HeldWords
  readonly #held = new Set<HeldPart>()
  #bytes = 0

  constructor(maxBytes: number, words: HeldWords) {
    this.#maxBytes = maxBytes
    this.#words = words
  }

  get bytes(): number {
    return this.#bytes
  }

  /**
   * Opens a part for a decoder. It counts decoded bytes, up to the window that the decoder keeps.
   * It gives way as an arriving body does.
   */
  openWindow(tenant: string | undefined, windowBytes: () => number): HeldPart {
    return new HeldPart(this, tenant, windowBytes)
  }

  /** Throws `overloaded` when `body` cannot hold this many more bytes, even if others give way. */
  requireRoom(body: HeldPart, bytes: number): void {
    this.#givingWay(body, bytes)
  }

  /** Sets the bytes that `body` holds. Others may give way. Throws `overloaded`. */
  set(body: HeldPart, bytes: number): void {
    const more = bytes - body.countedBytes
    const giving = more > 0 ? this.#givingWay(body, more) : []
    for (const other of giving) other.giveWay(this.#refusal(this.#words.gaveWay))
    this.#bytes += more
    if (bytes > 0) this.#held.add(body)
    else this.#held.delete(body)
  }

  /** Holders that give way, the slowest first. Throws `overloaded` if that is not enough. */
  #givingWay(body: HeldPart, bytes: number): readonly HeldPart[] {
    let lacking = this.#bytes + bytes - this.#maxBytes
    // A holder that is alone always has room.
    if (lacking <= 0 || this.#bytes === body.countedBytes) return []
    const others = [...this.#held].filter((other) => other.isArriving && other !== body)
    const giving: HeldPart[] = []
    const share = new Shares(this.#held, this.#maxBytes / TENANT_PART)
    for (const other of others) other.look()
    const slowSince = performance.now() - SLOW_MS
    for (const other of others.sort((a, b) => a.movedAt - b.movedAt)) {
      if (lacking <= 0) break
      if (other.movedAt > slowSince && !share.owes(other, body, bytes)) continue
      giving.push(other)
      share.take(other)
      lacking -= other.countedBytes
    }
    if (lacking > 0) throw this.#refusal(this.#words.full)
    return giving
  }

  #refusal(words: (maxBytes: number) => string): CoatcheckError {
    const facts = { limit: this.#words.limit, value: this.#maxBytes }
    return new CoatcheckError(
      'overloaded',
      `${words(this.#maxBytes)} Send it again in a moment.`,
      facts,
    )
  }
}

/** Memory of one holder: a body, an answer or a decoder. */
export class HeldPart {
  readonly tenant: string | undefined
  readonly #all: HeldMemory
  /** Upper bound of the counted bytes. */
  readonly #mostBytes: () => number
  /** Refuses the holder; undefined when it cannot give way. */
  #refuse: ((refusal: Error) => void) | undefined
  #bytes = 0
  #countedBytes = 0
  /** Byte count at which it has made progress. */
  #nextBytes = SMALL_BYTES
  #movedAt = 0
  #leaving: { readonly socket: Socket; bytes: number } | undefined
  #isOver = false

  constructor(
    all: HeldMemory,
    tenant: string | undefined,
    mostBytes = (): number => Number.POSITIVE_INFINITY,
  ) {
    this.#all = all
    this.tenant = tenant
    this.#mostBytes = mostBytes
  }

  get countedBytes(): number {
    return this.#countedBytes
  }

  /** Time of its last progress, in milliseconds of this process's clock. */
  get movedAt(): number {
    return this.#movedAt
  }

  get isArriving(): boolean {
    return this.#refuse !== undefined
  }

  /** Throws `overloaded` when there is no room for this many bytes. */
  requireRoom(bytes: number): void {
    if (bytes > SMALL_BYTES) this.#all.requireRoom(this, bytes)
  }

  /** Marks the start of its arrival. `refuse` is called when it has to give way. */
  begin(refuse: (refusal: Error) => void): void {
    this.#refuse = refuse
    this.#movedAt = performance.now()
  }

  /** Marks that it leaves by `socket`, which is destroyed when it has to give way. */
  leaveBy(socket: Socket): void {
    this.#leaving = { socket, bytes: bytesTaken(socket) }
    this.begin(() => socket.destroy())
  }

  /** Notes the progress of a holder that leaves. */
  look(): void {
    if (this.#leaving === undefined) return
    const bytes = bytesTaken(this.#leaving.socket)
    if (bytes === this.#leaving.bytes) return
    this.#leaving.bytes = bytes
    this.#movedAt = performance.now()
  }

  /** Adds bytes that have come. Throws `overloaded` when there is no room for them. */
  add(bytes: number): void {
    this.#bytes += bytes
    if (this.#bytes <= SMALL_BYTES || this.#isOver) return
    if (this.#bytes >= this.#nextBytes) {
      this.#nextBytes = this.#bytes + Math.max(SMALL_BYTES, this.#bytes / PROGRESS_PART)
      this.#movedAt = performance.now()
    }
    this.#count(Math.min(this.#bytes, this.#mostBytes()))
  }

  /** Marks the end of its arrival. */
  end(): void {
    this.#refuse = undefined
  }

  /** Releases the memory and refuses the holder. */
  giveWay(refusal: Error): void {
    const refuse = this.#refuse
    this.release()
    refuse?.(refusal)
  }

  /** Does `work` at once for a small body, else in a later turn of the event loop. */
  inTurn(work: () => void): void {
    if (this.#bytes <= TURN_BYTES) work()
    else this.#all.turns.run(this.#bytes, work)
  }

  /** Releases all bytes for good. */
  release(): void {
    this.#isOver = true
    this.end()
    this.#count(0)
  }

  #count(bytes: number): void {
    this.#all.set(this, bytes)
    this.#countedBytes = bytes
  }
}
