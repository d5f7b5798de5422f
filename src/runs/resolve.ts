/**
 * Resolves references: replaces them by their values, then validates the arguments that the tool
 * will get.
 */
import { CoatcheckError } from '../core/errors.ts'
import { handleNumber } from '../core/handles.ts'
import { JsonSlice } from '../core/json/slice.ts'
import { type JsonParts, joinParts, type Part, partBytes, sliceOf } from '../core/json/splice.ts'
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
import type { Caller, SchemaWarning, Validation } from '../validation/validator.ts'
import { type CallError, errorLine, UNRESOLVED, withReferences } from './call-errors.ts'
import { openRunOf, type RunContext, requireInline, someHandles } from './context.ts'
import { jsonOf, jsonSpanOf, readValue } from './results.ts'
import { leastBytes, sliceInsert, wholeInsert } from './substitutions.ts'

/** Request to resolve the arguments of a call. */
export interface ResolveRequest {
  readonly arguments: JsonSlice
  readonly inputSchema?: JsonSlice | undefined
  readonly toolName?: string | undefined
  /** `strict`: an unresolved reference makes the call invalid. */
  readonly mode: 'lenient' | 'strict'
  readonly caller: Caller
}

/** String with the form of a reference that was not resolved. */
export interface Unresolved {
  readonly reference: string
  readonly at: string
  readonly reason: UnresolvedReason
  readonly available: readonly string[]
}

/** Answer to a resolve. */
export interface ResolveAnswer {
  readonly arguments: JsonSlice | JsonParts
  readonly resolved: readonly string[]
  readonly unresolved: readonly Unresolved[]
  /** True when the arguments fit the schema; null without a schema, unless the call is invalid. */
  readonly valid: boolean | null
  readonly errors: readonly CallError[]
  readonly errors_total: number
  /** Warnings about the schema. */
  readonly warnings: readonly SchemaWarning[]
  /** Sentinel to store for an invalid call; null for any other. */
  readonly failure: JsonSlice | null
}

/**
 * Resolves the references of a call and validates the result. Throws `ended`, `expired`, `evicted`,
 * `tool_not_registered`, `invalid_schema`, `over_limit`, `invalid_request`, `overloaded` and
 * `LargeWork`.
 */
export async function resolveArguments(
  context: RunContext,
  ref: RunRef,
  request: ResolveRequest,
): Promise<ResolveAnswer> {
  await openRunOf(context, ref)
  const schema = await schemaOf(context, ref, request)
  const lookups = await lookUpAll(context, ref, request.arguments)
  const parts = substitute(request.arguments, lookups)
  // The parts are joined only for validation.
  if (schema !== undefined) requireInline(context, bytesOf(parts))
  const whole = schema && new JsonSlice(await joinParts(parts.parts))
  const unresolved = lookups.flatMap(unresolvedOf)
  const options = { setAside: unresolved.map(({ at }) => at), caller: request.caller }
  const checked = schema && whole && (await context.validator.validate(schema, whole, options))
  const resolved = lookups.flatMap((lookup) => ('value' in lookup ? [lookup.reference] : []))
  const { failure, ...verdict } = verdictOf(context, request, { checked, unresolved, resolved })
  return {
    arguments: whole ?? parts,
    resolved: resolved.map(({ text }) => text.slice(1).toWellFormed()),
    unresolved,
    ...verdict,
    warnings: checked?.warnings ?? [],
    failure,
  }
}

interface Findings {
  /** Outcome of the validation; absent without a schema. */
  readonly checked: Validation | undefined
  readonly unresolved: readonly Unresolved[]
  readonly resolved: readonly Reference[]
}

/**
 * Decides whether the call is valid, and which errors it has. In strict mode each unresolved
 * reference is an error; its message tells what the schema expects in its place. In lenient mode
 * the schema's errors about the text of the reference are listed instead. The failure names
 * unresolved references in both modes.
 */
function verdictOf(
  { limits: { maxErrors } }: RunContext,
  { mode, toolName }: ResolveRequest,
  { checked, unresolved, resolved }: Findings,
): Pick<ResolveAnswer, 'valid' | 'errors' | 'errors_total' | 'failure'> {
  const { errors: ofValues = [], setAside = [], errorsTotal = 0, setAsideTotal = 0 } = checked ?? {}
  const wanted = new Map(setAside.map(({ path, expected }) => [path, expected]))
  const unmet = unresolved.map((each) => unresolvedError(each, wanted.get(each.at) ?? null))
  const found = withReferences(ofValues, resolved)
  const told = [...unmet, ...found]
  const toldTotal = unmet.length + errorsTotal
  const isStrict = mode === 'strict'
  const errors = isStrict ? told : [...found, ...withReferences(setAside, [])]
  const isInvalid = checked?.valid === false || (isStrict && unmet.length > 0)
  return {
    valid: isInvalid ? false : checked === undefined ? null : true,
    errors: errors.slice(0, maxErrors),
    errors_total: isStrict ? toldTotal : errorsTotal + setAsideTotal,
    failure: isInvalid ? invalidInput(toolName, told.slice(0, maxErrors), toldTotal) : null,
  }
}

const bytesOf = ({ parts }: JsonParts): number =>
  parts.reduce((bytes, part) => bytes + partBytes(part), 0)

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

/**
 * Looks up all references. Only the value of one handle is in memory at a time, and the call stays
 * within the limit on resolved bytes.
 */
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

/**
 * Looks up the references to one result. The value is read when a path leads into it, or to measure
 * a text as a JSON string.
 */
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

/** The document that paths lead into. Paths find nothing in a text, so a text is not read. */
async function documentOf(context: RunContext, result: Result): Promise<JsonSlice> {
  if (jsonSpanOf(result) === undefined) return sliceOf('')
  requireInline(context, result.totalBytes)
  return jsonOf(result, await readValue(context, result)) as JsonSlice
}

/**
 * A lookup with a copy of its bytes, so that the document they were found in can be freed. Lookups
 * that share a buffer share its copy.
 */
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

/** The output with a handle, or the reason why there is none. */
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

/**
 * Error for an unresolved reference. `wanted` is what the schema expects in its place, when it
 * refuses the text of the reference.
 */
function unresolvedError(
  { reference, at, reason, available }: Unresolved,
  wanted: string | null,
): CallError {
  const instead = available.length === 0 ? '' : `; ${availableText(available)}`
  const what = wanted === null ? '' : `; wanted is ${wanted}`
  return {
    path: at,
    code: UNRESOLVED,
    message: `${reference} stands for nothing (${reason.replaceAll('_', ' ')}${instead})${what}`,
    expected: 'a reference to a kept result',
    received: JSON.stringify(reference),
    schema_path: null,
    reference,
  }
}

function availableText(available: readonly string[]): string {
  const all = available.join(', ')
  if (available.length >= AVAILABLE_ENTRIES) return `the first ${AVAILABLE_ENTRIES} are ${all}`
  return `there ${available.length === 1 ? 'is' : 'are'} ${all}`
}

/**
 * Sentinel for an invalid call. It lists the shown errors and the number of others, since the model
 * reads nothing else.
 */
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
