import { join } from 'node:path'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { Ledger, Result } from '../../src/ledger/ledger.ts'
import {
  bytesOf,
  codeOf,
  NOW,
  putJson,
  putSentinel,
  putText,
  type TestPut,
  temporaryFolder,
} from '../support/ledger.ts'
import { openInProcess } from './in-process.ts'
import { keptBytes, Model, type ModelResult, type ModelRun, recall } from './model.ts'

const RUNS = ['a', 'b'] as const
const IDS = ['', 'x', 'x~2', 'x~suspension', 'r1', '$r2', 'r3', 'x\0'] as const

const put: fc.Arbitrary<TestPut> = fc
  .record({
    form: fc.constantFrom('text', 'json', 'failure', 'suspension'),
    // one id often, so that copies of it pile up
    toolUseId: fc.oneof({ weight: 2, arbitrary: fc.constant('x') }, fc.constantFrom(...IDS)),
    idempotencyKey: fc.option(fc.constantFrom('k', 'l'), { freq: 9 }),
    n: fc.nat(9),
  })
  .map(({ form, n, ...names }) => {
    if (form === 'text') return putText(`${n}é`, names)
    if (form === 'json') return putJson(`[${n}]`, { ...names, hint: 'recall' })
    return putSentinel(form as 'failure' | 'suspension', `${n}`, {
      ...names,
      content: { rendering: 'preview' },
    })
  })

type Step =
  | { readonly puts: readonly { readonly run: string; readonly put: TestPut }[] }
  | { readonly end: string; readonly purge: boolean }
  | 'reopen'

const run = fc.constantFrom(...RUNS)
const step: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 12,
    arbitrary: fc.record({
      puts: fc.array(fc.record({ run, put }), { minLength: 1, maxLength: 6 }),
    }),
  },
  { weight: 1, arbitrary: fc.record({ end: run, purge: fc.constant(false) }) },
  { weight: 2, arbitrary: fc.record({ end: run, purge: fc.constant(true) }) },
  { weight: 1, arbitrary: fc.constant('reopen' as const) },
)

describe('the SQLite ledger beside a model', () => {
  it('answers and keeps the same over any order of puts, retries, ends, purges and restarts', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 20, size: 'max' }), async (steps) => {
        const folder = temporaryFolder()
        const path = join(folder.path, 'ledger.db')
        const model = new Model()
        let { ledger } = await openInProcess(path)
        try {
          for (const action of steps) {
            if (action === 'reopen') {
              await ledger.close()
              ledger = (await openInProcess(path)).ledger
            } else await act(ledger, model, action)
          }
          for (const name of RUNS) await expectSame(ledger, name, model.runs.get(name))
        } finally {
          await ledger.close()
          folder.remove()
        }
      }),
      { numRuns: 60, seed: 20_260_101 },
    )
  }, 60_000)
})

async function act(ledger: Ledger, model: Model, step: Exclude<Step, 'reopen'>): Promise<void> {
  if ('end' in step) {
    const counts = await ledger.endRun({ tenant: '', run: step.end }, { purge: step.purge }, NOW)
    const erased = step.purge ? 'done' : null
    expect(counts).toEqual({ ...model.end(step.end, step.purge), erased })
    return
  }
  const answers = await Promise.all(
    step.puts.map(async ({ run, put }) => {
      const append = ledger.append({ tenant: '', run }, put, NOW)
      const code = await codeOf(append)
      return code ?? (await append)
    }),
  )
  const expected = step.puts.map(({ run, put }) => {
    const answer = model.append(run, put)
    // as it is now: a suspension that a later put of the step moves was answered before
    return answer === 'ended'
      ? answer
      : { retried: answer.retried, result: expect.objectContaining(factsOf(answer.result)) }
  })
  expect(answers).toEqual(expected)
}

const factsOf = ({ number, evidenceId, repeats, put }: ModelResult) => ({
  number,
  evidenceId,
  recallName: evidenceId,
  repeats,
  toolUseId: put.toolUseId,
  outcome: put.outcome,
  kind: put.kind,
  sha256: put.digest,
})

async function expectSame(ledger: Ledger, name: string, run: ModelRun | undefined): Promise<void> {
  const ref = { tenant: '', run: name }
  const found = await ledger.findRun(ref, NOW)
  if (run === undefined || run.state === 'purged') {
    expect(found).toBeUndefined()
    return
  }
  expect(found).toMatchObject({
    state: run.state,
    results: run.results.length,
    keptBytes: keptBytes(run),
    producedChars: run.results.reduce((sum, { put }) => sum + put.plan.view.chars, 0),
    shownChars: run.shownChars,
  })
  const { items } = await ledger.listResults(ref, { limit: 1_000 })
  expect(items).toEqual(run.results.map((result) => expect.objectContaining(factsOf(result))))
  for (const item of items) {
    const value = await bytesOf(ledger, item)
    expect(value).toEqual(run.results.find(({ number }) => number === item.number)?.put.value)
  }
  await expectRecalls(ledger, name, run, items)
}

async function expectRecalls(
  ledger: Ledger,
  name: string,
  run: ModelRun,
  items: readonly Result[],
): Promise<void> {
  const ids = [
    ...IDS,
    ...items.flatMap(({ evidenceId, number }) => [evidenceId, `r${number}`, `$r${number}`]),
  ]
  for (const id of ids) {
    const found = await ledger.findResult({ tenant: '', run: name }, { recall: id })
    expect(found?.number, id).toBe(recall(run, id)?.number)
  }
}
