/**
 * Takes a body into memory, up to a limit. Pieces are kept as they come, without a copy or a wait.
 */
import { IncomingMessage } from 'node:http'
import type { Readable } from 'node:stream'
import { CoatcheckError } from '../../core/errors.ts'
import { free } from '../../core/memory.ts'
import { SMALL_PIECE_BYTES, SmallPieces } from './small-pieces.ts'

/** Pieces of a body. */
export interface Taken {
  readonly pieces: readonly Buffer[]
  /** False when there is more; the stream is then paused. */
  readonly ended: boolean
}

type Done = (error: Error | null, taken?: Taken) => void

interface Bounds {
  readonly maxBytes: number
  readonly held: Held | undefined
}

/** Counter of the memory of a large body, see `held-memory.ts`. */
interface Held {
  /** Marks the start. `refuse` is called when the body has to give way while it arrives. */
  begin(refuse: (refusal: Error) => void): void
  end(): void
  /** Counts bytes. An error that it throws refuses the body. */
  add(bytes: number): void
  /** Does `work` when it is this body's turn. */
  inTurn(work: () => void): void
}

/** Pieces of a body in order of arrival. Adjacent small pieces are joined. */
class Pieces {
  readonly #all: Buffer[] = []
  readonly #small = new SmallPieces()

  add(piece: Buffer): void {
    // The first piece is often the only one, so it is not copied.
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

/**
 * Takes a body until it ends or exceeds `maxBytes`. A body that breaks off is `invalid_request`.
 */
export function takeBody(stream: Readable, { maxBytes, held }: Bounds, done: Done): void {
  // A client that is gone already causes no more events.
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

/** Joins the pieces of a body and frees those of a socket, which no one else uses. */
export function joinPieces(pieces: readonly Buffer[], stream: Readable): Buffer {
  const [first] = pieces
  const isOwn = stream instanceof IncomingMessage
  if (first !== undefined && pieces.length === 1 && isOwn) return first
  const body = Buffer.concat(pieces)
  if (isOwn) for (const piece of pieces) free(piece)
  return body
}

/** Keeps a `CoatcheckError` of decoding. Any other error means that the client is gone. */
export const brokenBy = (error: unknown): CoatcheckError =>
  error instanceof CoatcheckError ? error : brokenOff()

/** The problem of a body that breaks off. */
export const brokenOff = (): CoatcheckError =>
  new CoatcheckError('invalid_request', 'The body broke off before its end.')
