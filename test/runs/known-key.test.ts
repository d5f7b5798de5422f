// A value in pieces under an idempotency key that is there already: taken whole, and nothing of it kept on the way.
import Database from 'better-sqlite3'
import { afterAll, describe, expect, it } from 'vitest'
import type { Ledger } from '../../src/ledger/ledger.ts'
import { openLedger } from '../../src/ledger/open.ts'
import { putResult } from '../../src/runs/put.ts'
import { AjvValidator } from '../../src/validation/ajv/ajv-validator.ts'
import { codeOf, NOW, POLICY, RUN, temporaryFolder } from '../support/ledger.ts'
import { RUN_LIMITS } from '../support/limits.ts'

const PIECES = 32
const PIECE = Buffer.alloc(65_536, 'a line of text\n')

const folder = temporaryFolder()
const path = `${folder.path}/ledger.db`
const ledger: Ledger = await openLedger(path, POLICY)
const file = new Database(path, { readonly: true })
const validator = new AjvValidator()
afterAll(async () => {
  file.close()
  await ledger.close()
  folder.remove()
})

/** Puts `pieces` under a key. */
const put = (pieces: AsyncIterable<Uint8Array>) =>
  putResult({ ledger, validator, limits: RUN_LIMITS, now: () => NOW }, RUN, {
    toolUseId: '',
    toolName: null,
    idempotencyKey: 'k',
    render: 'auto',
    source: { pieces, kind: 'text', mediaType: 'text/plain' },
  })

/** Values on their way that the file has something of. */
const uploads = (): unknown => file.prepare('SELECT count(*) FROM uploads').pluck().get()

async function* pieces(atEnd: () => unknown): AsyncGenerator<Buffer> {
  for (let n = 0; n < PIECES; n++) yield Buffer.from(PIECE)
  await atEnd()
}

describe('a value in pieces whose key is known', () => {
  // Fault: all of it was written, whatever the run still had room for, and then erased.
  it('is answered as a retry when all of it came, and is not written', async () => {
    const seen: unknown[] = []
    const note = () => seen.push(uploads())
    const first = await put(pieces(note))
    const again = await put(pieces(note))
    expect(seen).toEqual([1, 0])
    expect(again).toEqual({ answer: first.answer, retried: true, shownChars: 0 })
  })

  it('is refused where it breaks off, and where the run ended meanwhile', async () => {
    const broken = pieces(() => {
      throw new Error('broken off')
    })
    await expect(put(broken)).rejects.toThrow('broken off')
    const late = pieces(() => ledger.endRun(RUN, { purge: false }, NOW))
    expect(await codeOf(put(late))).toBe('ended')
  })
})
