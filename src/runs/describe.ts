/**
 * Describes the value of a put in one shape: its bytes, the source of its text view, and its
 * preview.
 */

import { setImmediate as nextTurn } from 'node:timers/promises'
import type { HintKind } from '../core/content.ts'
import { outlineOf } from '../core/json/scan.ts'
import { JsonSlice } from '../core/json/slice.ts'
import { previewBinary, previewJson, previewString, previewText } from '../core/preview/preview.ts'
import {
  encodeFailure,
  encodeSuspension,
  errorChain,
  type FailureKind,
  type Sentinel,
} from '../core/sentinels.ts'
import {
  planOutlined,
  planValue,
  renderView,
  type ValuePlan,
  type ViewSource,
} from '../core/view/view.ts'
import { sha256Hex } from '../ledger/digest.ts'
import type { Kind, Outcome, Put } from '../ledger/ledger.ts'

/** Failure as a put sends it. */
export interface FailureInput {
  readonly kind?: FailureKind
  readonly message?: string
  /** Messages, the outermost first. They are joined with `: `. */
  readonly messages?: readonly string[]
  readonly attempts?: number
}

/** Failure or suspension. Its value is a sentinel. */
export type SentinelSource =
  | { readonly failure: FailureInput }
  | { readonly suspension: { readonly reason: string; readonly inputSchema: JsonSlice } }

/** A raw body that arrives in pieces. A `text` that is not valid UTF-8 becomes a binary. */
export interface StreamSource {
  /** Pieces of the body. A piece is valid only until the next one is taken. */
  readonly pieces: AsyncIterable<Uint8Array>
  /** Bytes of all pieces, when the client declared them. */
  readonly declaredBytes?: number | undefined
  readonly kind: 'text' | 'binary'
  readonly mediaType: string
}

/**
 * Source of a result that is in memory: a member of an envelope, or a raw body with its media type.
 */
export type WholeSource =
  | { readonly output: JsonSlice }
  | SentinelSource
  | { readonly json: JsonSlice; readonly body: Buffer; readonly mediaType: string }
  | { readonly text: Buffer; readonly mediaType: string }
  | { readonly binary: Buffer; readonly mediaType: string }

/** Source of a result. */
export type PutSource = WholeSource | StreamSource

/** A value as the ledger stores it. */
export interface DescribedValue
  extends Pick<
    Put,
    'outcome' | 'kind' | 'mediaType' | 'value' | 'sha256' | 'view' | 'plan' | 'preview' | 'hint'
  > {
  /** The value as JSON; undefined when it is not JSON. */
  readonly json: JsonSlice | undefined
}

const JSON_TYPE = 'application/json'

/** Message of a failure as one string. */
export function failureMessage(failure: FailureInput): string {
  return failure.message ?? errorChain(failure.messages ?? [])
}

/** Work on more bytes gets a turn of the event loop for itself. */
const TURN_BYTES = 262_144

/**
 * Waits for the next turn of the event loop when a value of `bytes` is large, so that other
 * requests are served.
 */
export async function pauseFor(bytes: number): Promise<void> {
  if (bytes > TURN_BYTES) await nextTurn()
}

/** Describes a value. A large one takes several turns of the event loop. */
export async function describeSource(source: WholeSource): Promise<DescribedValue> {
  if ('output' in source) return describeJson(source.output.alone(), JSON_TYPE)
  if ('json' in source) return describeJson(source.json, source.mediaType)
  if ('text' in source) {
    const { text, mediaType } = source
    const view: ViewSource = { form: 'text', start: 0, end: text.length }
    return described({
      outcome: 'output',
      kind: 'text',
      mediaType,
      value: text,
      view,
      json: undefined,
    })
  }
  if ('binary' in source) {
    const { binary, mediaType } = source
    const view: ViewSource = { form: 'none', start: 0, end: 0 }
    return described({
      outcome: 'output',
      kind: 'binary',
      mediaType,
      value: binary,
      view,
      json: undefined,
    })
  }
  const { value, text } = sentinelOf(source)
  return described({
    outcome: 'failure' in source ? 'failure' : 'suspension',
    kind: 'json',
    mediaType: JSON_TYPE,
    value: value.bytes,
    view: insideOf(text),
    json: value,
  })
}

/** Sentinel of a failure or a suspension. */
export function sentinelOf(source: SentinelSource): Sentinel {
  if ('suspension' in source) return encodeSuspension(source.suspension)
  const { failure } = source
  return encodeFailure({
    kind: failure.kind ?? 'handler',
    message: failureMessage(failure),
    attempts: failure.attempts ?? 1,
  })
}

/** Describes JSON. The value is the whole buffer of `json`. */
function describeJson(json: JsonSlice, mediaType: string): Promise<DescribedValue> {
  const text = json.kind === 'string'
  const view: ViewSource = text
    ? insideOf(json)
    : { form: 'json', start: json.start, end: json.end }
  return described({
    outcome: 'output',
    kind: text ? 'text' : 'json',
    mediaType,
    value: json.bytes,
    view,
    json,
  })
}

const insideOf = (token: JsonSlice): ViewSource => ({
  form: 'string',
  start: token.start + 1,
  end: token.end - 1,
})

async function described(
  parts: Omit<DescribedValue, 'sha256' | 'plan' | 'preview' | 'hint'>,
): Promise<DescribedValue> {
  const { json, value, view } = parts
  await pauseFor(value.length)
  const plan =
    json !== undefined && view.form === 'json'
      ? planOutlined(json, outlineOf(json))
      : planValue(value, view)
  await pauseFor(value.length)
  // Other values are digested when they are stored.
  const sha256 = parts.kind === 'binary' ? sha256Hex(parts.value) : null
  return { ...parts, plan, sha256, preview: previewOf(parts, plan, sha256), hint: hintFor(parts) }
}

function previewOf(
  { mediaType, value, view, json }: Omit<DescribedValue, 'sha256' | 'plan' | 'preview' | 'hint'>,
  plan: ValuePlan,
  sha256: string | null,
): string {
  if (sha256 !== null) return previewBinary({ mediaType, bytes: value.length, sha256 })
  if (view.form === 'text') {
    return previewText({ bytes: value.length, lines: plan.view.lines, head: value, tail: value })
  }
  if (view.form === 'json') return previewJson(json as JsonSlice)
  // The string token with its quotes, also when it is inside a sentinel.
  return previewString(new JsonSlice(value, view.start - 1, view.end + 1), plan.view)
}

/** Kind of the hint after a preview. */
export function hintFor({
  outcome,
  kind,
}: {
  readonly outcome: Outcome
  readonly kind: Kind
}): HintKind {
  if (outcome !== 'output') return 'recall'
  return kind === 'binary' ? 'raw_read' : 'reference'
}

/** Text view of a whole value. */
export function wholeView(value: Buffer, view: ViewSource): Buffer {
  return renderView({ bytes: value, firstByte: 0, state: 0 }, view)
}
