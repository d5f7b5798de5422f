/**
 * Text that is the same for every caller. It is made once, at the first request, and then sent from
 * the same bytes. So repeated requests without a token cost no more than a small answer.
 */
import { createHash } from 'node:crypto'
import type { FastifyReply, FastifyRequest } from 'fastify'

const NOT_MODIFIED = 304
const ETAG_CHARS = 32

/** A text with an ETag that is made once. */
export class StaticText {
  readonly #type: string
  readonly #make: () => string
  #made: { readonly bytes: Buffer; readonly etag: string } | undefined

  /** `type` is the content type. `make` is called once, at the first request. */
  constructor(type: string, make: () => string) {
    this.#type = type
    this.#make = make
  }

  /** Sends the text with its ETag. Answers 304 when `if-none-match` names that ETag. */
  send(request: FastifyRequest, reply: FastifyReply): FastifyReply {
    this.#made ??= withEtag(Buffer.from(this.#make()))
    const { bytes, etag } = this.#made
    reply.header('etag', etag).header('cache-control', 'no-cache')
    const known = request.headers['if-none-match']?.split(',').map((tag) => tag.trim()) ?? []
    if (known.includes(etag) || known.includes(`W/${etag}`)) return reply.code(NOT_MODIFIED).send()
    return reply.type(this.#type).send(bytes)
  }
}

function withEtag(bytes: Buffer): { readonly bytes: Buffer; readonly etag: string } {
  const digest = createHash('sha256').update(bytes).digest('hex').slice(0, ETAG_CHARS)
  return { bytes, etag: `"${digest}"` }
}
