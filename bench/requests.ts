/**
 * Requests as bytes, made once; what differs from one to the next is a number of fixed width, written over in place.
 */
import { CREATED, OK } from './client.ts'
import type { Load, NextRequest } from './crowd.ts'
import { envelope } from './data.ts'

const SEQUENCE_DIGITS = 9
const RUN_DIGITS = 6
/** So many results go into a run before the next begins. */
const RESULTS_PER_RUN = 1_000

export const TEXT = 'text/plain'
export const JSON_TYPE = 'application/json'
/** JSON as a value of its own, with no envelope. */
export const JSON_VALUE = 'application/vnd.bench+json'

export function get(path: string): Buffer {
  return Buffer.from(`GET ${path} HTTP/1.1\r\nhost: 127.0.0.1\r\n\r\n`)
}

export function post(path: string, type: string, body: Buffer | string): Buffer {
  const bytes = Buffer.from(body)
  return Buffer.concat([postHead(path, type, bytes.length), bytes])
}

/** The head of a body that is sent in pieces. */
export function postHead(path: string, type: string, bytes: number): Buffer {
  return Buffer.from(
    `POST ${path} HTTP/1.1\r\nhost: 127.0.0.1\r\ncontent-type: ${type}\r\ncontent-length: ${bytes}\r\n\r\n`,
  )
}

/** The same request again and again, answered with 200. */
export const repeat = (request: Buffer): Load => ({ requests: () => () => request, status: OK })

const digits = (value: number, width: number): string => String(value).padStart(width, '0')
const runName = (label: string, sequence: number): string =>
  `${label}-${digits(Math.floor(sequence / RESULTS_PER_RUN), RUN_DIGITS)}`
const toolUseId = (sequence: number): string => `toolu_${digits(sequence, SEQUENCE_DIGITS)}`

/**
 * Puts of new results: an envelope of so many bytes under an id of its own, a thousand to a run. All clients of one `Puts` are
 * counted together; two that meet in one server must differ by their labels.
 */
export class Puts implements Load {
  readonly status = CREATED
  /** What is put first. */
  readonly body: Buffer
  readonly #label: string
  readonly #template: Buffer
  #sequence = 0

  constructor(label: string, envelopeBytes: number) {
    this.#label = label
    this.body = envelope(toolUseId(0), envelopeBytes)
    this.#template = post(`/v1/runs/${runName(label, 0)}/results`, JSON_TYPE, this.body)
  }

  /** Requests for one client: it writes each over the last. */
  readonly requests = (): NextRequest => {
    const request = Buffer.from(this.#template)
    const runAt = request.indexOf(runName(this.#label, 0))
    const idAt = request.indexOf(toolUseId(0))
    return () => {
      const sequence = this.#sequence++
      request.write(runName(this.#label, sequence), runAt, 'latin1')
      request.write(toolUseId(sequence), idAt, 'latin1')
      return request
    }
  }
}

/** Recalls of results that the {@link Puts} of that label have put, spread over the first `count` of them. */
export function recalls(label: string, count: number): NextRequest {
  const step = Math.floor(count * GOLDEN) | 1
  let sequence = 0
  return () => {
    sequence = (sequence + step) % count
    const body = JSON.stringify({ id: toolUseId(sequence) })
    return post(`/v1/runs/${runName(label, sequence)}/recall`, JSON_TYPE, body)
  }
}

/** Steps of this share of a range visit it evenly. */
const GOLDEN = 0.618
