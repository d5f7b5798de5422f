/**
 * What bodies that are taken whole hold in memory, all together and at most so much: counted as it comes, until the answer has
 * left. A length that is told holds nothing yet, so that who says much and sends little keeps nobody out; but a body that has
 * no room is refused unread.
 */
import { finished } from 'node:stream'
import type { FastifyInstance } from 'fastify'
import { CoatcheckError } from '../core/errors.ts'
import type { BodyLimits } from './body.ts'
import { declaredBytes, hasBody, WHOLE_BODY_BYTES } from './raw-body.ts'
import { Turns } from './turns.ts'

/** Not counted: a connection holds as much before anybody reads from it. */
const SMALL_BYTES = 65_536

class HeldBodies {
  readonly turns = new Turns()
  readonly #maxBytes: number
  #bytes = 0

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes
  }

  get bytes(): number {
    return this.#bytes
  }

  /** Throws `overloaded`. */
  requireRoom(bytes: number): void {
    if (this.#bytes + bytes <= this.#maxBytes) return
    const detail = `The bodies of other requests hold so much of ${this.#maxBytes} bytes, the limit (held_body_bytes), that this one has no room. Send it again in a moment.`
    throw new CoatcheckError('overloaded', detail, {
      limit: 'held_body_bytes',
      value: this.#maxBytes,
    })
  }

  /** Below 0 what is not held any more. */
  add(bytes: number): void {
    this.#bytes += bytes
  }
}

/** What one body holds. */
export class HeldBody {
  readonly #all: HeldBodies
  #bytes = 0
  #countedBytes = 0
  #isOver = false

  constructor(all: HeldBodies) {
    this.#all = all
  }

  /** Throws `overloaded` when so many bytes cannot come. */
  requireRoom(bytes: number): void {
    if (bytes > SMALL_BYTES) this.#all.requireRoom(bytes)
  }

  /** So many more have come. Throws `overloaded` when they are too many. */
  add(bytes: number): void {
    this.#bytes += bytes
    if (this.#bytes <= SMALL_BYTES || this.#isOver) return
    const more = this.#bytes - this.#countedBytes
    this.#all.requireRoom(more)
    this.#all.add(more)
    this.#countedBytes = this.#bytes
  }

  /** Does `work` at once for a small body, and for others one after the other, since it takes a while. */
  inTurn(work: () => void): void {
    if (this.#bytes <= SMALL_BYTES) work()
    else this.#all.turns.run(work)
  }

  /** For good. */
  release(): void {
    this.#isOver = true
    this.#all.add(-this.#countedBytes)
    this.#countedBytes = 0
  }
}

/** Gives every request whose body is not known to be small its `heldBody`. One body alone has room, whatever the limit. */
export function addHeldBodies(app: FastifyInstance, limits: BodyLimits): HeldBodies {
  const { maxHeldBytes, maxJsonBodyBytes } = limits
  const bodies = new HeldBodies(Math.max(maxHeldBytes, maxJsonBodyBytes, WHOLE_BODY_BYTES))
  app.decorateRequest('heldBody', undefined)
  app.addHook('preParsing', (request, reply, payload, done) => {
    const { raw } = request
    const bytes = declaredBytes(raw)
    if (hasBody(raw) && (bytes === undefined || bytes > SMALL_BYTES)) {
      const held = new HeldBody(bodies)
      request.heldBody = held
      finished(reply.raw, () => held.release())
    }
    done(null, payload)
  })
  return bodies
}

declare module 'fastify' {
  interface FastifyRequest {
    /** Undefined for a body that need not be counted. */
    heldBody: HeldBody | undefined
  }
}
