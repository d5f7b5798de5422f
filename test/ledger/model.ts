// The contract once more, as plain as can be: everything in arrays, every rule by search. Knows of ids, numbers, retries,
// totals and the ends of runs; not of time.
import { hintOf } from '../../src/core/content.ts'
import type { TestPut as Put } from '../support/ledger.ts'

export interface ModelResult {
  readonly number: number
  readonly put: Put
  evidenceId: string
  readonly repeats: number
}

export interface ModelRun {
  state: 'open' | 'ended' | 'purged'
  lastNumber: number
  results: ModelResult[]
  shownChars: number
}

type Answer = { readonly result: ModelResult; readonly retried: boolean } | 'ended'

export class Model {
  readonly runs = new Map<string, ModelRun>()

  append(name: string, put: Put): Answer {
    const run = this.runs.get(name) ?? { state: 'open', lastNumber: 0, results: [], shownChars: 0 }
    this.runs.set(name, run)
    if (run.state === 'ended') return 'ended'
    run.state = 'open'
    const same = run.results.find((result) => isSame(result.put, put))
    if (same !== undefined) return { result: same, retried: true }
    const number = ++run.lastNumber
    const result = { number, put, evidenceId: draw(run, put, number), repeats: repeats(run, put) }
    run.results.push(result)
    run.shownChars += shown(result)
    return { result, retried: false }
  }

  end(name: string, purge: boolean): { results: number; keptBytes: number } {
    const run = this.runs.get(name)
    if (run === undefined || run.state === 'purged') return { results: 0, keptBytes: 0 }
    const counts = { results: run.results.length, keptBytes: keptBytes(run) }
    run.state = purge ? 'purged' : 'ended'
    if (purge) Object.assign(run, { results: [], shownChars: 0 })
    return counts
  }
}

export const keptBytes = (run: ModelRun): number =>
  run.results.reduce((sum, { put }) => sum + put.value.length, 0)

export function recall(run: ModelRun, id: string): ModelResult | undefined {
  return (
    run.results.find(({ evidenceId }) => evidenceId === id) ??
    run.results.find(({ number }) => id === `r${number}` || id === `$r${number}`)
  )
}

function isSame(kept: Put, put: Put): boolean {
  if (put.idempotencyKey !== null) return kept.idempotencyKey === put.idempotencyKey
  return (
    put.toolUseId !== '' &&
    kept.toolUseId === put.toolUseId &&
    kept.outcome === put.outcome &&
    kept.kind === put.kind &&
    kept.value.equals(put.value)
  )
}

function draw(run: ModelRun, { toolUseId }: Put, number: number): string {
  const id = toolUseId === '' ? `r${number}` : toolUseId
  const holder = run.results.find(({ evidenceId }) => evidenceId === id)
  if (holder?.put.outcome === 'suspension' && holder.put.toolUseId === toolUseId) {
    holder.evidenceId = free(run, `${id}~suspension`)
    return id
  }
  return free(run, id)
}

function free(run: ModelRun, id: string): string {
  let candidate = id
  for (let n = 2; recall(run, candidate) !== undefined; n++) candidate = `${id}~${n}`
  return candidate
}

function repeats(run: ModelRun, put: Put): number {
  if (put.outcome !== 'failure') return 1
  const last = run.results.findLast(({ put: { outcome } }) => outcome !== 'suspension')
  return last !== undefined && last.put.failureKey === put.failureKey ? last.repeats + 1 : 1
}

/** Of the two contents that the property test puts. */
function shown({ number, put, evidenceId, repeats }: ModelResult): number {
  if (put.content.rendering === 'verbatim') return [...put.content.text].length
  if (put.content.rendering === 'none') return 0
  const names = { number, recallName: evidenceId, repeats }
  return [...`r${number}${put.preview}${hintOf(put.hint, names)}`].length
}
