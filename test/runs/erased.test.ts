// What a reader sees whose run is purged while it reads: an error, never a part that looks like the whole.
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { sliceOf } from '../../src/core/json/splice.ts'
import type { Ledger, Result } from '../../src/ledger/ledger.ts'
import { openLedger } from '../../src/ledger/open.ts'
import type { RunContext } from '../../src/runs/context.ts'
import { putResult } from '../../src/runs/put.ts'
import { contentOf, valueBytes, viewBytes } from '../../src/runs/results.ts'
import type { Validator } from '../../src/validation/validator.ts'
import { codeOf, NOW, POLICY, RUN, temporaryFolder } from '../support/ledger.ts'

/** More chunks than are read at once. */
const VALUE_BYTES = 3_000_000

let folder: ReturnType<typeof temporaryFolder>
let ledger: Ledger
let context: RunContext
let result: Result

beforeEach(async () => {
  folder = temporaryFolder()
  ledger = await openLedger(join(folder.path, 'ledger.db'), POLICY)
  context = {
    ledger,
    validator: {} as Validator,
    limits: {
      maxJsonDepthLevels: 64,
      defaultVerbatimChars: 2000,
      maxVerbatimChars: 2000,
      maxResolvedBytes: VALUE_BYTES,
      maxReferences: 1_000,
      maxErrors: 20,
      maxToolsPerRun: 1_000,
      maxListBytes: 4_194_304,
      inlineBytes: 262_144,
    },
    now: () => NOW,
  }
  await putResult(context, RUN, {
    toolUseId: '',
    toolName: null,
    idempotencyKey: null,
    render: 'preview',
    source: { output: sliceOf('x'.repeat(VALUE_BYTES)) },
  })
  result = (await ledger.findResult(RUN, { number: 1 })) as Result
})
afterEach(async () => {
  await ledger.close()
  folder.remove()
})

const purge = () => ledger.endRun(RUN, { purge: true }, NOW)

/** Reads on after a purge behind the first piece. */
async function readOverPurge(pieces: AsyncGenerator<Buffer>): Promise<void> {
  expect((await pieces.next()).done).toBe(false)
  await purge()
  for await (const _ of pieces);
}

describe('a reader of a run that is purged', () => {
  it('gets an error in the middle of the value', async () => {
    const whole = { start: 0, end: result.totalBytes }
    const code = await codeOf(readOverPurge(valueBytes(context, result, whole)))
    expect(['evicted', 'not_found']).toContain(code)
  })

  it('gets an error in the middle of the text view', async () => {
    expect(['evicted', 'not_found']).toContain(
      await codeOf(readOverPurge(viewBytes(context, result, { start: 0, end: result.viewBytes }))),
    )
  })

  it('gets an error for the content that it asks for again', async () => {
    await purge()
    expect(['evicted', 'not_found']).toContain(await codeOf(contentOf(context, result, 'auto')))
  })
})
