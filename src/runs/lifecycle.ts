/** Opens, changes, reads and ends runs, and registers their tools. */
import { CoatcheckError } from '../core/errors.ts'
import type { JsonSlice } from '../core/json/slice.ts'
import { TOOL_NAME_CHARS } from '../core/limits.ts'
import { charsOf } from '../core/text.ts'
import type { Erased, Format, Run, RunPatch, RunRef, RunSummary } from '../ledger/ledger.ts'
import type { Caller, SchemaWarning } from '../validation/validator.ts'
import { noRun, openRunOf, type RunContext } from './context.ts'

/** A run in a list. */
export interface RunSummaryAnswer {
  readonly run_id: string
  readonly state: Run['state']
  readonly format: Format
  readonly ttl_seconds: number
  readonly verbatim_limit_chars: number
  readonly tool_count: number
  readonly tool_bytes: number
  readonly created_at: string
  readonly last_request_at: string
  readonly ended_at: string | null
  readonly results: number
  readonly kept_bytes: number
  readonly produced_chars: number
  readonly shown_chars: number
}

/** A run with the names of its tools. */
export interface RunAnswer extends RunSummaryAnswer {
  readonly tools: readonly string[]
}

/** Changes of a run. A null restores the default or removes a tool; absent members stay. */
export interface RunPatchInput {
  readonly ttl_seconds?: number | null
  readonly verbatim_limit_chars?: number | null
  readonly format?: Format
  readonly tools?: Readonly<Record<string, { readonly input_schema: JsonSlice } | null>>
}

/**
 * Opens a run or changes an open one. Every schema must compile before any is stored. Throws
 * `invalid_request`, `invalid_schema`, `format_fixed`, `over_limit`, `overloaded`, `ended`,
 * `expired` and `evicted`.
 */
export async function openRun(
  context: RunContext,
  ref: RunRef,
  input: RunPatchInput,
  caller: Caller,
): Promise<{
  readonly run: RunAnswer
  readonly created: boolean
  /** Warnings about the schemas, in the order of the tools. */
  readonly warnings: readonly SchemaWarning[]
}> {
  await openRunOf(context, ref)
  const tools = Object.entries(input.tools ?? {})
  requireFewTools(context, tools.length)
  const warnings: SchemaWarning[] = []
  for (const [name, tool] of tools) {
    checkToolName(name)
    if (tool !== null)
      warnings.push(...(await compiled(context, { name, schema: tool.input_schema, caller })))
  }
  const patch: RunPatch = {
    ttlSeconds: input.ttl_seconds,
    verbatimLimitChars: input.verbatim_limit_chars,
    format: input.format,
    tools: new Map(
      tools.map(([name, tool]) => [name, tool === null ? null : tool.input_schema.source]),
    ),
  }
  const { run, created } = await context.ledger.openRun(ref, patch, context.now())
  return { run: runAnswer(run), created, warnings }
}

/** Throws `over_limit` for more tools than a run can have, before any schema is compiled. */
function requireFewTools({ limits }: RunContext, count: number): void {
  const { maxToolsPerRun: value } = limits
  if (count <= value) return
  const detail = `"tools" names ${count} tools; a run may have ${value}. Send fewer.`
  throw new CoatcheckError('over_limit', detail, { limit: 'tools_per_run', value })
}

/**
 * Compiles the schema of a tool and returns its warnings. Errors name the tool, since there may be
 * many.
 */
async function compiled(
  { validator }: RunContext,
  { name, schema, caller }: { name: string; schema: JsonSlice; caller: Caller },
): Promise<readonly SchemaWarning[]> {
  try {
    return await validator.compile(schema, { caller })
  } catch (error) {
    if (!(error instanceof CoatcheckError)) throw error
    const detail = ofTool(name, error.message)
    throw new CoatcheckError(error.code, detail, error.facts, { cause: error.cause })
  }
}

/** Replaces "The schema" at the start of an error by "The schema of the tool …". */
const ofTool = (name: string, detail: string): string =>
  detail.replace(/^The schema(?= )/, () => `The schema of the tool ${JSON.stringify(name)}`)

function checkToolName(name: string): void {
  if (name !== '' && name.isWellFormed() && charsOf(name) <= TOOL_NAME_CHARS) return
  throw new CoatcheckError(
    'invalid_request',
    `A name in "tools" must be well-formed text of 1 to ${TOOL_NAME_CHARS} characters.`,
  )
}

/**
 * Registers one tool, and opens the run if necessary. `created` is true for a new tool. Throws as
 * {@link openRun} does.
 */
export async function registerTool(
  context: RunContext,
  ref: RunRef,
  { name, inputSchema }: { readonly name: string; readonly inputSchema: JsonSlice },
  caller: Caller,
): Promise<{ readonly created: boolean; readonly warnings: readonly SchemaWarning[] }> {
  const known = await context.ledger.findTool(ref, name)
  const tools = { [name]: { input_schema: inputSchema } }
  const { warnings } = await openRun(context, ref, { tools }, caller)
  return { created: known === undefined, warnings }
}

/** Reads a run in any state. Throws `not_found`. */
export async function readRun(context: RunContext, ref: RunRef): Promise<RunAnswer> {
  const run = await context.ledger.findRun(ref, context.now())
  if (run !== undefined) return runAnswer(run)
  throw noRun(ref)
}

/** Ends a run, or deletes it with everything it holds when `purge` is true. Throws `not_found`. */
export async function endRun(
  context: RunContext,
  ref: RunRef,
  how: { readonly purge: boolean },
): Promise<{
  readonly run_id: string
  readonly purged: boolean
  readonly results: number
  readonly kept_bytes: number
  readonly erased: Erased | null
}> {
  const { results, keptBytes, erased } = await context.ledger.endRun(ref, how, context.now())
  return { run_id: ref.run, purged: how.purge, results, kept_bytes: keptBytes, erased }
}

const iso = (time: number): string => new Date(time).toISOString()

const runAnswer = (run: Run): RunAnswer => ({ ...summaryAnswer(run), tools: run.tools })

/** A run in the names of the API. */
export function summaryAnswer(run: RunSummary): RunSummaryAnswer {
  return {
    run_id: run.id,
    state: run.state,
    format: run.format,
    ttl_seconds: run.ttlSeconds,
    verbatim_limit_chars: run.verbatimLimitChars,
    tool_count: run.toolCount,
    tool_bytes: run.toolBytes,
    created_at: iso(run.createdAt),
    last_request_at: iso(run.lastRequestAt),
    ended_at: run.endedAt === null ? null : iso(run.endedAt),
    results: run.results,
    kept_bytes: run.keptBytes,
    produced_chars: run.producedChars,
    shown_chars: run.shownChars,
  }
}
