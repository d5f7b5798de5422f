/**
 * What a put hands in, brought to one shape: the value's bytes, what their text view is made of, and how they preview.
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

export interface FailureInput {
  readonly kind?: FailureKind
  readonly message?: string
  /** The top message first; joined with `: `. */
  readonly messages?: readonly string[]
  readonly attempts?: number
}

/** What is kept as its sentinel. */
export type SentinelSource =
  | { readonly failure: FailureInput }
  | { readonly suspension: { readonly reason: string; readonly inputSchema: JsonSlice } }

/** A raw body that arrives in pieces. A `text` that is not UTF-8 is a binary. */
export interface StreamSource {
  /** A piece may be gone when the next is taken. */
  readonly pieces: AsyncIterable<Uint8Array>
  /** How many bytes they come to, where that was said before. */
  readonly declaredBytes?: number | undefined
  readonly kind: 'text' | 'binary'
  readonly mediaType: string
}

/** Where a result comes from that is here: a member of an envelope, or a raw body with its media type. */
export type WholeSource =
  | { readonly output: JsonSlice }
  | SentinelSource
  | { readonly json: JsonSlice; readonly body: Buffer; readonly mediaType: string }
  | { readonly text: Buffer; readonly mediaType: string }
  | { readonly binary: Buffer; readonly mediaType: string }

export type PutSource = WholeSource | StreamSource

export interface DescribedValue
  extends Pick<
    Put,
    'outcome' | 'kind' | 'mediaType' | 'value' | 'sha256' | 'view' | 'plan' | 'preview' | 'hint'
  > {
  /** The value as JSON, where it is some. */
  readonly json: JsonSlice | undefined
}

const JSON_TYPE = 'application/json'

/** A failure's message as one string. */
export function failureMessage(failure: FailureInput): string {
  return failure.message ?? errorChain(failure.messages ?? [])
}

/** Work on so many bytes takes a turn of the event loop by itself. */
const TURN_BYTES = 262_144

/** Lets others have their turn before work on a large value goes on. */
export async function pauseFor(bytes: number): Promise<void> {
  if (bytes > TURN_BYTES) await nextTurn()
}

/** Describes a value, a large one in several turns. */
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

/** The sentinel of a failure or a suspension. */
export function sentinelOf(source: SentinelSource): Sentinel {
  if ('suspension' in source) return encodeSuspension(source.suspension)
  const { failure } = source
  return encodeFailure({
    kind: failure.kind ?? 'handler',
    message: failureMessage(failure),
    attempts: failure.attempts ?? 1,
  })
}

/** All of the buffer that `json` stands in is the value. */
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
  // all others are digested where they are kept
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
  // A string token with its quotes, which a sentinel holds inside.
  return previewString(new JsonSlice(value, view.start - 1, view.end + 1), plan.view)
}

/** The hint that goes with a preview. */
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

/** The text view of a whole value. */
export function wholeView(value: Buffer, view: ViewSource): Buffer {
  return renderView({ bytes: value, firstByte: 0, state: 0 }, view)
}
