/**
 * Context of the use cases, and checks that they share: the state of a run decides which requests
 * it accepts.
 */
import { CoatcheckError } from '../core/errors.ts'
import { handleNumber, handleOf } from '../core/handles.ts'
import { AVAILABLE_ENTRIES } from '../core/limits.ts'
import type { Ledger, Result, RunRef, Standing } from '../ledger/ledger.ts'
import { runNotOpen } from '../ledger/refusals.ts'
import type { Validator } from '../validation/validator.ts'

export type { Caller } from '../validation/validator.ts'

/** Limits that an operator can set; see `config.ts`. */
export interface RunLimits {
  readonly maxJsonDepthLevels: number
  readonly defaultVerbatimChars: number
  readonly maxVerbatimChars: number
  readonly maxResolvedBytes: number
  readonly maxReferences: number
  readonly maxErrors: number
  readonly maxToolsPerRun: number
  /** Most bytes of JSON on a page of a list. */
  readonly maxListBytes: number
  /** Values with more bytes are read by paths, or written as text, in a thread of large calls. */
  readonly inlineBytes: number
}

/** Ledger, validator, limits and clock that every use case gets. */
export interface RunContext {
  readonly ledger: Ledger
  readonly validator: Validator
  readonly limits: RunLimits
  /** Current time in milliseconds since the epoch. */
  readonly now: () => number
}

/**
 * Thrown before work that would block this thread for long. The whole request is then answered by a
 * thread of large calls.
 */
export class LargeWork extends Error {
  constructor() {
    super('The call is too large for the main thread.')
    this.name = 'LargeWork'
  }
}

/** Throws {@link LargeWork} when a value of `bytes` is too large to be worked on in this thread. */
export function requireInline({ limits }: RunContext, bytes: number): void {
  if (bytes > limits.inlineBytes) throw new LargeWork()
}

/**
 * The open run; undefined when there is no run. Throws `ended`, `expired` or `evicted` when it is
 * not open.
 */
export async function openRunOf(context: RunContext, ref: RunRef): Promise<Standing | undefined> {
  const run = await context.ledger.findStanding(ref, context.now())
  if (run !== undefined && run.state !== 'open') throw runNotOpen(run, run.state)
  return run
}

/** The run whose evidence can be read. Throws `not_found` or `evicted`. */
export async function readableRun(context: RunContext, ref: RunRef): Promise<Standing> {
  const run = await context.ledger.findStanding(ref, context.now())
  if (run === undefined) throw noRun(ref)
  if (run.state === 'evicted') throw runNotOpen(run, run.state)
  return run
}

/** Makes the `not_found` of a run that does not exist. */
export const noRun = ({ run }: RunRef): CoatcheckError =>
  new CoatcheckError(
    'not_found',
    `There is no run ${JSON.stringify(run)}. A run begins with its first put, or with PUT /v1/runs/{run_id}.`,
  )

/**
 * The result with a handle. Throws `not_found` when there is none, or when `handle` is not a
 * handle; `evicted`.
 */
export async function resultByHandle(
  context: RunContext,
  ref: RunRef,
  handle: string,
): Promise<Result> {
  await readableRun(context, ref)
  const number = handleNumber(handle)
  const result = number === undefined ? undefined : await context.ledger.findResult(ref, { number })
  if (result !== undefined) return result
  const { handles, areAll } = await firstHandles(context, ref)
  const more = areAll ? '' : ', …'
  const has = handles.length === 0 ? 'It has none yet' : `It has ${handles.join(', ')}${more}`
  const other = ' GET /v1/runs/{run_id}/results?tool_use_id=… lists those of a call.'
  throw new CoatcheckError(
    'not_found',
    `The run ${JSON.stringify(ref.run)} has no result ${JSON.stringify(handle)}. ${has}.${number === undefined ? other : ''}`,
  )
}

/**
 * The first handles of a run, at most {@link AVAILABLE_ENTRIES}, to suggest in place of an unknown
 * one.
 */
export const someHandles = async (context: RunContext, ref: RunRef): Promise<readonly string[]> =>
  (await firstHandles(context, ref)).handles

async function firstHandles(
  { ledger }: RunContext,
  ref: RunRef,
): Promise<{ readonly handles: readonly string[]; readonly areAll: boolean }> {
  const numbers = await ledger.firstNumbers(ref, AVAILABLE_ENTRIES + 1)
  const handles = numbers.slice(0, AVAILABLE_ENTRIES).map(handleOf)
  return { handles, areAll: numbers.length <= AVAILABLE_ENTRIES }
}
