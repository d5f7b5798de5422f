/**
 * Sentinels: the result of a tool call that ended without an output. A sentinel is a JSON object
 * with one reserved key. This module writes and recognizes the two kinds, suspension and failure.
 *
 * Every encoded sentinel can be decoded, and decoded parts stay the caller's bytes. Any tool can
 * return an object that looks like a sentinel, so a put never decodes its output.
 */
import { CoatcheckError } from './errors.ts'
import { distinctMembersOf, JsonSlice, type Member, membersOf } from './json/slice.ts'
import { decodeRaw, encodeString } from './json/strings.ts'
import { FAILURE_ATTEMPTS_MAX } from './limits.ts'

const SUSPENSION_KEY = '__salvor_suspend'
const FAILURE_KEY = '__salvor_error'
const DIGITS = /^(?:0|[1-9][0-9]*)$/

export const FAILURE_KINDS = ['invalid_input', 'handler', 'output_serialization'] as const
/** Kind of a failure. */
export type FailureKind = (typeof FAILURE_KINDS)[number]

/** An encoded sentinel. */
export interface Sentinel {
  readonly value: JsonSlice
  /**
   * String token inside `value` that is its text view: a failure's message, or a suspension's
   * reason.
   */
  readonly text: JsonSlice
}

/** Answer of {@link decodeSentinel}. */
export type Decoded =
  | { readonly kind: 'output' }
  /** `reason` is a string token. */
  | { readonly kind: 'suspension'; readonly reason: JsonSlice; readonly inputSchema: JsonSlice }
  /** `message` is a string token, `attempts` an integer token. */
  | {
      readonly kind: 'failure'
      readonly failureKind: FailureKind
      readonly message: JsonSlice
      readonly attempts: JsonSlice
    }

const OUTPUT: Decoded = { kind: 'output' }

/**
 * Encodes a call that waits for input from outside. `inputSchema` may be any value; its bytes are
 * copied.
 *
 * @example decodeSentinel(encodeSuspension({ reason: 'r', inputSchema: json('{}') }).value).kind // 'suspension'
 */
export function encodeSuspension(suspension: {
  readonly reason: string
  readonly inputSchema: JsonSlice
}): Sentinel {
  const reason = encodeString(suspension.reason)
  return sentinel(`{"${SUSPENSION_KEY}":{"reason":`, reason, [
    Buffer.from(',"input_schema":'),
    suspension.inputSchema.source,
    Buffer.from('}}'),
  ])
}

/**
 * Encodes a call that failed. Throws `invalid_request` when `attempts` is no integer from 0 to 2^32
 * - 1.
 *
 * @example decodeSentinel(encodeFailure({ kind: 'handler', message: 'm', attempts: 1 }).value).kind // 'failure'
 */
export function encodeFailure(failure: {
  readonly kind: FailureKind
  readonly message: string
  readonly attempts: number
}): Sentinel {
  const { kind, message, attempts } = failure
  if (!Number.isInteger(attempts) || attempts < 0 || attempts > FAILURE_ATTEMPTS_MAX) {
    throw new CoatcheckError(
      'invalid_request',
      `attempts is ${attempts}; send a whole number from 0 to ${FAILURE_ATTEMPTS_MAX}.`,
    )
  }
  const before = `{"${FAILURE_KEY}":{"is_error":true,"kind":"${kind}","message":`
  return sentinel(before, encodeString(message), [Buffer.from(`,"attempts":${attempts}}}`)])
}

function sentinel(before: string, token: string, after: readonly Buffer[]): Sentinel {
  const value = new JsonSlice(Buffer.concat([Buffer.from(before + token), ...after]))
  const start = Buffer.byteLength(before)
  return { value, text: new JsonSlice(value.bytes, start, start + Buffer.byteLength(token)) }
}

/**
 * Decodes `output`. Only an object with exactly one key can be a sentinel; a repeated key is one
 * key, with its last value. The body may have further members. `is_error` is ignored.
 *
 * @example decodeSentinel(json('{"a": 1}')).kind // 'output'
 */
export function decodeSentinel(output: JsonSlice): Decoded {
  const only = onlyMember(output)
  if (only === undefined || only.value.kind !== 'object') return OUTPUT
  switch (decodeRaw(only.key)) {
    case SUSPENSION_KEY:
      return decodeSuspension(distinctMembersOf(only.value))
    case FAILURE_KEY:
      return decodeFailure(distinctMembersOf(only.value))
    default:
      return OUTPUT
  }
}

function decodeSuspension(body: ReadonlyMap<string, Member>): Decoded {
  const reason = body.get('reason')?.value
  const inputSchema = body.get('input_schema')?.value
  if (reason?.kind !== 'string' || inputSchema === undefined) return OUTPUT
  return { kind: 'suspension', reason, inputSchema }
}

function decodeFailure(body: ReadonlyMap<string, Member>): Decoded {
  const kind = body.get('kind')?.value
  const message = body.get('message')?.value
  const attempts = body.get('attempts')?.value
  if (kind?.kind !== 'string' || message?.kind !== 'string' || !isAttempts(attempts)) return OUTPUT
  const name = decodeRaw(kind)
  const failureKind = FAILURE_KINDS.find((known) => known === name)
  return failureKind === undefined ? OUTPUT : { kind: 'failure', failureKind, message, attempts }
}

/**
 * Whether a token is an integer as the reference's `as_u64` and `u32::try_from` read it: `2.0`,
 * `2e0` and `-0` are not (vectors: sentinels).
 */
function isAttempts(value: JsonSlice | undefined): value is JsonSlice {
  if (value?.kind !== 'number') return false
  const token = value.toString()
  return DIGITS.test(token) && Number(token) <= FAILURE_ATTEMPTS_MAX
}

function onlyMember(value: JsonSlice): Member | undefined {
  if (value.kind !== 'object') return undefined
  let only: Member | undefined
  for (const member of membersOf(value)) {
    if (only !== undefined && decodeRaw(only.key) !== decodeRaw(member.key)) return undefined
    only = member
  }
  return only
}

/**
 * Joins the messages of an error and its causes, outermost first.
 *
 * @example errorChain(['a', 'b']) // 'a: b'
 */
export function errorChain(messages: readonly string[]): string {
  return messages.join(': ')
}

/**
 * Message of the `invalid_input` failure for arguments that their schema refuses.
 *
 * @example invalidInputMessage('t', ['e']).includes('e') // true
 */
export function invalidInputMessage(tool: string | undefined, errors: readonly string[]): string {
  const subject = tool === undefined ? 'the arguments' : `the arguments of \`${tool}\``
  return errorChain([
    `${subject} do not fit the input schema`,
    ...(errors.length > 0 ? [errors.join('; ')] : []),
  ]).toWellFormed()
}
