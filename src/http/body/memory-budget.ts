/**
 * What bodies that are taken whole hold in memory, all together and at most so much: counted as it comes, until the answer is
 * made, and from then on no more than an answer that has yet to leave. A length that is told holds nothing yet, so that who says
 * much and sends little keeps nobody out; but a body that has no room is refused unread. Where there is none, a body gives way
 * that arrives slowly, and one of a tenant that has more than half of all, to another tenant that has not.
 */
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { CoatcheckError } from '../../core/errors.ts'
import { Turns } from './fair-queue.ts'
import type { BodyLimits } from './json-body.ts'
import { declaredBytes, hasBody, WHOLE_BODY_BYTES } from './raw-body.ts'

/** Not counted: a connection holds as much before anybody reads from it. */
const SMALL_BYTES = 65_536
/** Up to here a body is read at once, longer ones in turns. */
const TURN_BYTES = 8_192
/** A body is slow after so long without {@link SMALL_BYTES} more, and without this part of what it holds. */
const SLOW_MS = 5_000
const PROGRESS_PART = 8
/** What one tenant may have of the room, while another needs it. */
const TENANT_PART = 2

export class HeldBodies {
  readonly turns = new Turns()
  readonly #maxBytes: number
  readonly #held = new Set<HeldBody>()
  #bytes = 0

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes
  }

  get bytes(): number {
    return this.#bytes
  }

  /**
   * The memory of a decoder: the bytes that it has put out, up to the window that it keeps of them. It gives way as a body that
   * arrives does.
   */
  openWindow(tenant: string | undefined, windowBytes: () => number): HeldBody {
    return new HeldBody(this, tenant, windowBytes)
  }

  /** Throws `overloaded` when `body` cannot have so many more, whoever gives way. */
  requireRoom(body: HeldBody, bytes: number): void {
    this.#givingWay(body, bytes)
  }

  /** `body` holds so many from now on. Throws `overloaded`. */
  set(body: HeldBody, bytes: number): void {
    const more = bytes - body.countedBytes
    const giving = more > 0 ? this.#givingWay(body, more) : []
    for (const other of giving) other.giveWay(madeRoom(this.#maxBytes))
    this.#bytes += more
    if (bytes > 0) this.#held.add(body)
    else this.#held.delete(body)
  }

  /** Those that make the room, the slowest first; nobody gives way where it would not be enough. */
  #givingWay(body: HeldBody, bytes: number): readonly HeldBody[] {
    let lacking = this.#bytes + bytes - this.#maxBytes
    if (lacking <= 0) return []
    const others = [...this.#held].filter((other) => other.isArriving && other !== body)
    const giving: HeldBody[] = []
    const share = new Shares(this.#held, this.#maxBytes / TENANT_PART)
    const slowSince = performance.now() - SLOW_MS
    for (const other of others.sort((a, b) => a.movedAt - b.movedAt)) {
      if (lacking <= 0) break
      if (other.movedAt > slowSince && !share.owes(other, body, bytes)) continue
      giving.push(other)
      share.take(other)
      lacking -= other.countedBytes
    }
    if (lacking > 0) throw isFull(this.#maxBytes)
    return giving
  }
}

const noRoom = (why: string, value: number): CoatcheckError =>
  new CoatcheckError('overloaded', `${why} Send it again in a moment.`, {
    limit: 'held_body_bytes',
    value,
  })

const isFull = (maxBytes: number): CoatcheckError =>
  noRoom(
    `The bodies of other requests hold so much of ${maxBytes} bytes, the limit (held_body_bytes), that this one has no room.`,
    maxBytes,
  )

const madeRoom = (maxBytes: number): CoatcheckError =>
  noRoom(
    `The body made room for another: it arrived slowly, or its tenant had more than half of ${maxBytes} bytes, the limit (held_body_bytes).`,
    maxBytes,
  )

/** What each tenant has of the room. */
class Shares {
  readonly #bytes = new Map<string | undefined, number>()
  readonly #mostBytes: number

  constructor(held: Iterable<HeldBody>, mostBytes: number) {
    this.#mostBytes = mostBytes
    for (const { tenant, countedBytes } of held) this.#add(tenant, countedBytes)
  }

  /** Whether the tenant of `other` has too much, and that of `body` has not, with so many more bytes. */
  owes(other: HeldBody, body: HeldBody, bytes: number): boolean {
    return (
      this.#of(other.tenant) > this.#mostBytes && this.#of(body.tenant) + bytes <= this.#mostBytes
    )
  }

  take({ tenant, countedBytes }: HeldBody): void {
    this.#add(tenant, -countedBytes)
  }

  #add(tenant: string | undefined, bytes: number): void {
    this.#bytes.set(tenant, this.#of(tenant) + bytes)
  }

  #of(tenant: string | undefined): number {
    return this.#bytes.get(tenant) ?? 0
  }
}

/** What one body holds. */
export class HeldBody {
  readonly tenant: string | undefined
  readonly #all: HeldBodies
  /** Most bytes that are counted. */
  readonly #mostBytes: () => number
  /** Ends its arrival. */
  #refuse: ((refusal: Error) => void) | undefined
  #bytes = 0
  #countedBytes = 0
  /** At so many it has made progress. */
  #nextBytes = SMALL_BYTES
  #movedAt = 0
  #isOver = false

  constructor(
    all: HeldBodies,
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

  /** All that is left of it is an answer of so many bytes. */
  answered(bytes: number): void {
    this.#count(bytes > SMALL_BYTES ? Math.min(bytes, this.#countedBytes) : 0)
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

/** Gives every request whose body is not known to be small its `heldBody`. One body alone has room, whatever the limit. */
export function addHeldBodies(app: FastifyInstance, limits: BodyLimits): HeldBodies {
  const { maxHeldBytes, maxJsonBodyBytes } = limits
  const bodies = new HeldBodies(Math.max(maxHeldBytes, maxJsonBodyBytes, WHOLE_BODY_BYTES))
  app.decorateRequest('heldBody', undefined)
  app.decorate('heldBodies', bodies)
  app.addHook('preParsing', (request, reply, payload, done) => {
    const { raw } = request
    const bytes = declaredBytes(raw)
    if (hasBody(raw) && (bytes === undefined || bytes > TURN_BYTES)) {
      const held = new HeldBody(bodies, request.tenant)
      request.heldBody = held
      reply.raw.once('close', () => held.release())
    }
    done(null, payload)
  })
  app.addHook('onSend', (request, _reply, payload, done) => {
    const { heldBody: held } = request
    // an answer that is a stream may have parts of the body
    if (held !== undefined && (typeof payload === 'string' || Buffer.isBuffer(payload))) {
      request.body = undefined
      request.wholeBody = undefined
      held.answered(Buffer.byteLength(payload))
    }
    done(null, payload)
  })
  return bodies
}

/** Counts an answer that is whole in memory until it has left. Throws `overloaded` when there is no room for it. */
export function holdAnswer(request: FastifyRequest, reply: FastifyReply, bytes: number): void {
  if (request.heldBody !== undefined) return
  const held = new HeldBody(request.server.heldBodies, request.tenant)
  held.add(bytes)
  reply.raw.once('close', () => held.release())
}

declare module 'fastify' {
  interface FastifyInstance {
    readonly heldBodies: HeldBodies
  }
  interface FastifyRequest {
    /** Undefined for a body that need not be counted. */
    heldBody: HeldBody | undefined
  }
}
