/**
 * Memory that requests hold, all together and at most so much. Each that holds some may have to give it up: one that makes no
 * progress, and one of a tenant that has more than half of all, to another tenant that has not.
 */
import type { Socket } from 'node:net'
import { CoatcheckError } from '../../core/errors.ts'
import { bytesTaken } from '../connection/node-http.ts'
import { Turns } from './fair-queue.ts'
import { Shares } from './shares.ts'

/** Not counted: a connection holds as much before anybody reads from it. */
export const SMALL_BYTES = 65_536
/** Up to here a body is read at once, longer ones in turns. */
export const TURN_BYTES = 8_192
/** A body is slow after so long without {@link SMALL_BYTES} more, and without this part of what it holds. */
const SLOW_MS = 5_000
const PROGRESS_PART = 8
/** What one tenant may have of the room, while another needs it. */
const TENANT_PART = 2

/** What is told of memory that is full. */
export interface HeldWords {
  /** The name of the limit. */
  readonly limit: string
  readonly full: (maxBytes: number) => string
  readonly gaveWay: (maxBytes: number) => string
}

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
   * The memory of a decoder: the bytes that it has put out, up to the window that it keeps of them. It gives way as a body that
   * arrives does.
   */
  openWindow(tenant: string | undefined, windowBytes: () => number): HeldPart {
    return new HeldPart(this, tenant, windowBytes)
  }

  /** Throws `overloaded` when `body` cannot have so many more, whoever gives way. */
  requireRoom(body: HeldPart, bytes: number): void {
    this.#givingWay(body, bytes)
  }

  /** `body` holds so many from now on. Throws `overloaded`. */
  set(body: HeldPart, bytes: number): void {
    const more = bytes - body.countedBytes
    const giving = more > 0 ? this.#givingWay(body, more) : []
    for (const other of giving) other.giveWay(this.#refusal(this.#words.gaveWay))
    this.#bytes += more
    if (bytes > 0) this.#held.add(body)
    else this.#held.delete(body)
  }

  /** Those that make the room, the slowest first; nobody gives way where it would not be enough. */
  #givingWay(body: HeldPart, bytes: number): readonly HeldPart[] {
    let lacking = this.#bytes + bytes - this.#maxBytes
    // one alone has room
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

/** What one body holds. */
export class HeldPart {
  readonly tenant: string | undefined
  readonly #all: HeldMemory
  /** Most bytes that are counted. */
  readonly #mostBytes: () => number
  /** Ends its arrival. */
  #refuse: ((refusal: Error) => void) | undefined
  #bytes = 0
  #countedBytes = 0
  /** At so many it has made progress. */
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

  /** When it made progress, by this process's clock. */
  get movedAt(): number {
    return this.#movedAt
  }

  get isArriving(): boolean {
    return this.#refuse !== undefined
  }

  /** Throws `overloaded` when so many bytes cannot come. */
  requireRoom(bytes: number): void {
    if (bytes > SMALL_BYTES) this.#all.requireRoom(this, bytes)
  }

  /** It arrives from now on; `refuse` is called when it has to give way. */
  begin(refuse: (refusal: Error) => void): void {
    this.#refuse = refuse
    this.#movedAt = performance.now()
  }

  /** All that is left of it leaves by `socket`, which is destroyed when it has to give way. */
  leaveBy(socket: Socket): void {
    this.#leaving = { socket, bytes: bytesTaken(socket) }
    this.begin(() => socket.destroy())
  }

  /** Notes the progress of what leaves. */
  look(): void {
    if (this.#leaving === undefined) return
    const bytes = bytesTaken(this.#leaving.socket)
    if (bytes === this.#leaving.bytes) return
    this.#leaving.bytes = bytes
    this.#movedAt = performance.now()
  }

  /** So many more have come. Throws `overloaded` when they are too many. */
  add(bytes: number): void {
    this.#bytes += bytes
    if (this.#bytes <= SMALL_BYTES || this.#isOver) return
    if (this.#bytes >= this.#nextBytes) {
      this.#nextBytes = this.#bytes + Math.max(SMALL_BYTES, this.#bytes / PROGRESS_PART)
      this.#movedAt = performance.now()
    }
    this.#count(Math.min(this.#bytes, this.#mostBytes()))
  }

  /** No more of it comes. */
  end(): void {
    this.#refuse = undefined
  }

  giveWay(refusal: Error): void {
    const refuse = this.#refuse
    this.release()
    refuse?.(refusal)
  }

  /** Does `work` at once for a small body, and for others one after the other, since it takes a while. */
  inTurn(work: () => void): void {
    if (this.#bytes <= TURN_BYTES) work()
    else this.#all.turns.run(this.#bytes, work)
  }

  /** For good. */
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
