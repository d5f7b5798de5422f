/** Taking a body into memory, up to a limit: its pieces as they come, with no copy and no wait in between. */
import { IncomingMessage } from 'node:http'
import type { Readable } from 'node:stream'
import { CoatcheckError } from '../../core/errors.ts'
import { free } from '../../core/memory.ts'
import { SMALL_PIECE_BYTES, SmallPieces } from './small-pieces.ts'

export interface Taken {
  readonly pieces: readonly Buffer[]
  /** Else there is more, and the stream is paused. */
  readonly ended: boolean
}

type Done = (error: Error | null, taken?: Taken) => void

interface Bounds {
  readonly maxBytes: number
  readonly held: Held | undefined
}

/** Who cares for large bodies. */
interface Held {
  /** Is told how the body is refused when it has to give way to another, while it arrives. */
  begin(refuse: (refusal: Error) => void): void
  end(): void
  /** Is told what comes; what it throws refuses the body. */
  add(bytes: number): void
  /** Does `work` when it is this body's turn. */
  inTurn(work: () => void): void
}

/** The pieces of a body in the order in which they came; small ones that follow each other are one. */
class Pieces {
  readonly #all: Buffer[] = []
  readonly #small = new SmallPieces()

  add(piece: Buffer): void {
    // The first is often the only one.
    const isAlone = piece.length >= SMALL_PIECE_BYTES || this.#all.length === 0
    if (isAlone || this.#small.isFull) this.#endSmall()
    if (isAlone) this.#all.push(piece)
    else this.#small.add(piece)
  }

  take(): readonly Buffer[] {
    this.#endSmall()
    return this.#all
  }

  #endSmall(): void {
    if (this.#small.bytes > 0) this.#all.push(this.#small.take())
  }
}

/** Takes what comes until it ends, or is more than `maxBytes`. `invalid_request` for a body that breaks off. */
export function takeBody(stream: Readable, { maxBytes, held }: Bounds, done: Done): void {
  // Its events are over when the client went before this.
  if (stream.destroyed) return void done(brokenOff())
  const pieces = new Pieces()
  let bytes = 0
  const leave = (): void => {
    stream.off('data', onData).off('end', onEnd).off('error', onError).off('close', onError)
    held?.end()
  }
  const stop: Done = (error, taken) => {
    leave()
    stream.pause()
    done(error, taken)
  }
  const onData = (piece: Buffer): void => {
    pieces.add(piece)
    bytes += piece.length
    if (bytes > maxBytes) return void stop(null, { pieces: pieces.take(), ended: false })
    try {
      held?.add(piece.length)
    } catch (refusal) {
      stop(refusal as Error)
    }
  }
  const onEnd = (): void => {
    leave()
    const finish = (): void => done(null, { pieces: pieces.take(), ended: true })
    if (held === undefined) finish()
    else held.inTurn(finish)
  }
  const onError = (error?: Error): void => stop(brokenBy(error))
  held?.begin(stop)
  stream.on('data', onData).on('end', onEnd).on('error', onError).on('close', onError)
}

/** All of a body, of whose pieces nothing is left: those of a socket are this request's own. */
export function joinPieces(pieces: readonly Buffer[], stream: Readable): Buffer {
  const [first] = pieces
  const isOwn = stream instanceof IncomingMessage
  if (first !== undefined && pieces.length === 1 && isOwn) return first
  const body = Buffer.concat(pieces)
  if (isOwn) for (const piece of pieces) free(piece)
  return body
}

/** What decoding says of a body is said; any other error is a client that went. */
export const brokenBy = (error: unknown): CoatcheckError =>
  error instanceof CoatcheckError ? error : brokenOff()

export const brokenOff = (): CoatcheckError =>
  new CoatcheckError('invalid_request', 'The body broke off before its end.')
