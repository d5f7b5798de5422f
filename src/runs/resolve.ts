/**
 * Resolve: put values in the place of references, then validate what the tool would really get.
 */
import { CoatcheckError } from '../core/errors.ts'
import { handleNumber } from '../core/handles.ts'
import { JsonSlice } from '../core/json/slice.ts'
import { type JsonParts, joinParts, type Part, sliceOf } from '../core/json/splice.ts'
import { AVAILABLE_ENTRIES } from '../core/limits.ts'
import {
  addedBytes,
  findReferences,
  type HandleReason,
  isWhole,
  type Lookup,
  lookUp,
  pointerTo,
  type Reference,
  shownReference,
  substitute,
  type UnresolvedReason,
  unfound,
} from '../core/references.ts'
import { encodeFailure, invalidInputMessage } from '../core/sentinels.ts'
import type { Result, RunRef } from '../ledger/ledger.ts'
import type { SchemaWarning } from '../validation/validator.ts'
import { type CallError, errorLine, UNRESOLVED, withReferences } from './call-errors.ts'
import { openRunOf, type RunContext, someHandles } from './context.ts'
import { jsonOf, jsonSpanOf, readValue } from './results.ts'
import { leastBytes, sliceInsert, wholeInsert } from './substitutions.ts'

export interface ResolveRequest {
  readonly arguments: JsonSlice
  readonly inputSchema?: JsonSlice | undefined
  readonly toolName?: string | undefined
  /** `strict`: an unresolved reference is an error of the call. */
  readonly mode: 'lenient' | 'strict'
}

export interface Unresolved {
  readonly reference: string
  readonly at: string
  readonly reason: UnresolvedReason
  readonly available: readonly string[]
}

export interface ResolveAnswer {
  readonly arguments: JsonSlice | JsonParts
  readonly resolved: readonly string[]
  readonly unresolved: readonly Unresolved[]
  /** Null when there was nothing to validate against. */
  readonly valid: boolean | null
  readonly errors: readonly CallError[]
  readonly errors_total: number
  /** What the schema says that its dialect does not know. */
  readonly warnings: readonly SchemaWarning[]
  /** The sentinel to record for an invalid call. */
  readonly failure: JsonSlice | null
}

/** Throws `ended`, `expired`, `evicted`, `tool_not_registered`, `invalid_schema`, `over_limit`, `invalid_request`. */
export async function resolveArguments(
  context: RunContext,
  ref: RunRef,
  request: ResolveRequest,
): Promise<ResolveAnswer> {
  await openRunOf(context, ref)
  const schema = await schemaOf(context, ref, request)
  const lookups = await lookUpAll(context, ref, request.arguments)
  const parts = substitute(request.arguments, lookups)
  // Only to be validated are they needed in one piece.
  const whole = schema && new JsonSlice(await joinParts(parts.parts))
  const unresolved = lookups.flatMap(unresolvedOf)
  const checked = schema && whole && (await context.validator.validate(schema, whole))
  const unmet = request.mode === 'strict' ? unresolved.map(unresolvedError) : []
  const resolved = lookups.flatMap((lookup) => ('value' in lookup ? [lookup.reference] : []))
  const found = withReferences(checked?.errors ?? [], resolved)
  const errors = [...unmet, ...found]
  // What stands for nothing is why a value has the wrong type, as often as not: the model is told either way.
  const told = [...unresolved.map(unresolvedError), ...found]
  const toldTotal = unresolved.length + (checked?.errorsTotal ?? 0)
  const invalid = unmet.length > 0 || checked?.valid === false
  return {
    arguments: whole ?? parts,
    resolved: resolved.map(({ text }) => text.slice(1).toWellFormed()),
    unresolved,
    valid: invalid ? false : checked === undefined ? null : true,
    errors: errors.slice(0, context.limits.maxErrors),
    errors_total: unmet.length + (checked?.errorsTotal ?? 0),
    warnings: checked?.warnings ?? [],
    failure: invalid
      ? invalidInput(request.toolName, told.slice(0, context.limits.maxErrors), toldTotal)
      : null,
  }
}

async function schemaOf(
  context: RunContext,
  ref: RunRef,
  { inputSchema, toolName }: ResolveRequest,
): Promise<JsonSlice | undefined> {
  if (inputSchema !== undefined && toolName !== undefined) {
    throw new CoatcheckError(
      'invalid_request',
      'Give either "input_schema" or "tool_name", not both.',
    )
  }
  if (toolName === undefined) return inputSchema
  const registered = await context.ledger.findTool(ref, toolName)
  if (registered !== undefined) return new JsonSlice(registered)
  throw new CoatcheckError(
    'tool_not_registered',
    `The run ${JSON.stringify(ref.run)} has no tool ${JSON.stringify(toolName)}. Register it with PUT /v1/runs/{run_id}/tools/{tool_name}, or send "input_schema".`,
  )
}

/** Looks all references up, one handle's value in memory at a time, within the limit on resolved bytes. */
async function lookUpAll(
  context: RunContext,
  ref: RunRef,
  args: JsonSlice,
): Promise<readonly Lookup<Part>[]> {
  const references = findReferences(args, context.limits.maxReferences)
  const byHandle = Map.groupBy(references, (reference) => reference.handle)
  const found = new Map<Reference, Lookup<Part>>()
  let bytes = args.end - args.start
  let known: readonly string[] | undefined
  for (const [handle, uses] of byHandle) {
    const referent = await referentOf(context, ref, handle)
    if (referent === 'unknown_handle') known ??= await someHandles(context, ref)
    const lookups =
      typeof referent === 'string'
        ? unfound(uses, referent, known ?? [])
        : await lookUpIn(context, referent, uses, bytes)
    bytes += addedBytes(lookups)
    requireRoom(context, bytes)
    const copies = new Map<Buffer, Buffer>()
    for (const lookup of lookups) found.set(lookup.reference, detached(lookup, copies))
  }
  return references.map((reference) => found.get(reference) as Lookup<Part>)
}

/** Looks up all that refer to one result; it is read where a path leads into it, or to measure it as the string it is. */
async function lookUpIn(
  context: RunContext,
  result: Result,
  uses: readonly Reference[],
  bytes: number,
): Promise<readonly Lookup<Part>[]> {
  const { whole = [], inside = [] } = Object.groupBy(uses, (use) =>
    isWhole(use) ? 'whole' : 'inside',
  )
  const tokens = whole.reduce((sum, { token }) => sum + token.end - token.start, 0)
  requireRoom(context, bytes + whole.length * leastBytes(result) - tokens)
  const value = whole.length === 0 ? undefined : await wholeInsert(context, result)
  const alike = Map.groupBy(inside, ({ text }) => text)
  const firsts = [...alike.values()].map(([first]) => first as Reference)
  const found = inside.length === 0 ? [] : lookUp(firsts, await documentOf(context, result))
  return [
    ...whole.map((reference) => ({ reference, value: value as Part })),
    ...found.flatMap((lookup) => {
      const each =
        'value' in lookup
          ? { ...lookup, value: sliceInsert(context, result, lookup.value) }
          : lookup
      const uses = alike.get(lookup.reference.text) ?? []
      return uses.map((reference) => ({ ...each, reference }))
    }),
  ]
}

/** What paths lead into; of a text they find nothing, so it is not read. */
async function documentOf(context: RunContext, result: Result): Promise<JsonSlice> {
  if (jsonSpanOf(result) === undefined) return sliceOf('')
  return jsonOf(result, await readValue(context, result)) as JsonSlice
}

/** A lookup whose value no longer holds on to the rest of what it was found in; what is one value stays one. */
function detached(lookup: Lookup<Part>, copies: Map<Buffer, Buffer>): Lookup<Part> {
  if (!('value' in lookup) || !Buffer.isBuffer(lookup.value)) return lookup
  const { value } = lookup
  if (value.length === value.buffer.byteLength) return lookup
  const copy = copies.get(value) ?? Buffer.from(value)
  copies.set(value, copy)
  return { ...lookup, value: copy }
}

function requireRoom({ limits: { maxResolvedBytes } }: RunContext, bytes: number): void {
  if (bytes <= maxResolvedBytes) return
  throw new CoatcheckError(
    'over_limit',
    `With its references resolved the call would have at least ${bytes} bytes; the limit is ${maxResolvedBytes}. Reference a part of a JSON value ("$r1.rows.0"), or fewer values; of a text, send what recall shows.`,
    { limit: 'resolved_bytes', value: maxResolvedBytes },
  )
}

/** The output that a handle stands for, or why there is none. */
async function referentOf(
  context: RunContext,
  ref: RunRef,
  handle: string,
): Promise<Result | HandleReason> {
  const number = handleNumber(handle)
  const result = number === undefined ? undefined : await context.ledger.findResult(ref, { number })
  if (result === undefined) return 'unknown_handle'
  if (result.outcome !== 'output') return result.outcome
  return result.kind === 'binary' ? 'binary' : result
}

function unresolvedOf(lookup: Lookup<Part>): readonly Unresolved[] {
  if ('value' in lookup) return []
  const { reference, reason, available } = lookup
  return [{ reference: shownReference(reference), at: pointerTo(reference), reason, available }]
}

function unresolvedError({ reference, at, reason, available }: Unresolved): CallError {
  const there =
    available.length < AVAILABLE_ENTRIES ? 'there is' : `the first ${AVAILABLE_ENTRIES} are`
  const instead = available.length === 0 ? '' : `; ${there} ${available.join(', ')}`
  return {
    path: at,
    code: UNRESOLVED,
    message: `${reference} stands for nothing (${reason.replaceAll('_', ' ')}${instead})`,
    expected: 'a reference to a kept result',
    received: JSON.stringify(reference),
    schema_path: null,
    reference,
  }
}

/** Of `total` errors those that are shown; the model reads nothing else, and is told that there are more. */
function invalidInput(
  toolName: string | undefined,
  errors: readonly CallError[],
  total: number,
): JsonSlice {
  const more = total - errors.length
  const lines = [...errors.map(errorLine), ...(more > 0 ? [`and ${more} more`] : [])]
  const message = invalidInputMessage(toolName, lines)
  return encodeFailure({ kind: 'invalid_input', message, attempts: 1 }).value
}
