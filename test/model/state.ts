// What is known of the runs, and whether an answer says the same.
import assert from 'node:assert/strict'
import type { Model, ModelResult, ModelRun } from '../ledger/model.ts'
import type { ModelPut } from './puts.ts'
import type { Answer } from './world.ts'

export const OK = 200
export const CREATED = 201
export const GONE = 410

/** The model of the runs, and by their puts what only HTTP knows of results. */
export interface State {
  readonly model: Model
  readonly puts: Map<ModelResult['put'], ModelPut>
  /** Apart from other states on the same ledger. */
  readonly prefix: string
}

export const nameOf = ({ prefix }: State, run: string): string => `${prefix}-${run}`
const handleOf = ({ number }: ModelResult): string => `r${number}`
export const numberIn = (handle: unknown): number => Number(String(handle).slice(1))

/** The run while it is there to be read. */
export function readable(state: State, run: string): ModelRun | undefined {
  const found = state.model.runs.get(nameOf(state, run))
  return found === undefined || found.state === 'purged' ? undefined : found
}

export const putOf = (state: State, { put }: ModelResult): ModelPut =>
  state.puts.get(put) as ModelPut

/** Checks the answer to one put. Of a retry only which result it is: it may have lost its id to another since. */
export function take(state: State, run: string, sent: ModelPut, { status, body }: Answer): void {
  const said = state.model.append(nameOf(state, run), sent.put)
  if (said === 'ended') {
    assert.deepEqual([status, body['code']], [GONE, 'ended'])
    return
  }
  const { result, retried } = said
  if (!retried) state.puts.set(sent.put, sent)
  assert.deepEqual([status, body['handle']], [retried ? OK : CREATED, handleOf(result)])
  if (retried) return
  expectDescription(state, result, body)
  if (sent.put.outcome !== 'failure') return
  const content = String(body['content'])
  if (result.repeats === 1) assert.equal(content, sent.view)
  else assert.match(content, new RegExp(`has failed ${result.repeats} consecutive times`))
}

export function expectDescription(state: State, result: ModelResult, body: Answer['body']): void {
  const { put, evidenceId } = result
  const { view } = putOf(state, result)
  const { handle, evidence_id, kind, outcome, total_bytes, total_chars, sha256 } = body
  assert.deepEqual(
    { handle, evidence_id, kind, outcome, total_bytes, total_chars, sha256 },
    {
      handle: handleOf(result),
      evidence_id: evidenceId,
      kind: put.kind,
      outcome: put.outcome,
      total_bytes: put.value.length,
      total_chars: view === null ? null : [...view].length,
      sha256: put.digest,
    },
  )
}

export function open(state: State, name: string): void {
  const known = state.model.runs.get(name)
  if (known === undefined) {
    state.model.runs.set(name, { state: 'open', lastNumber: 0, results: [], shownChars: 0 })
  } else known.state = 'open'
}
