// Calls that use up their deadlines beside calls that take a moment. What is counted is who is answered first, not how soon.
import { afterEach, describe, expect, it } from 'vitest'
import { ThreadValidator } from '../../../src/validation/pool/thread-validator.ts'
import { codeOf } from '../../support/ledger.ts'
import { json, slice } from '../support.ts'

const EVIL = slice({ pattern: '^(a+)+$' })
const TEXT = slice(`${'a'.repeat(60)}!`)
/** Of processor time: long enough for the other calls to come and go within one of them. */
const VALIDATE_MS = 5_000
const HOSTILE = 8
const INNOCENT = 20

describe('callers who use up their deadlines', () => {
  let validator: ThreadValidator
  afterEach(() => validator.close())

  // Fault: both threads were theirs, so that every other call waited for all of theirs.
  it.each<[name: string, callerOf: (n: number) => { tenant: string; connection: string }]>([
    ['over connections of the same tenant', (n) => ({ tenant: 'a', connection: String(n) })],
    ['of another tenant', () => ({ tenant: 'b', connection: 'x' })],
  ])('do not delay a caller whose calls are short: %s', async (_, callerOf) => {
    validator = new ThreadValidator({ validateMs: VALIDATE_MS, compileMs: 30_000, waitMs: 300_000 })
    await validator.compile(slice({}))
    let late = 0
    const hostile = Array.from({ length: HOSTILE }, (_, n) =>
      codeOf(validator.validate(EVIL, TEXT, { caller: callerOf(n) })).then(() => late++),
    )
    const caller = { tenant: 'a', connection: 'innocent' }
    const schema = slice({ properties: { n: { pattern: '^[a-z]+$' } } })
    for (let n = 0; n < INNOCENT; n++) {
      const { valid } = await validator.validate(schema, json('{"n":"abc"}'), { caller })
      expect(valid).toBe(true)
    }
    // Each takes five seconds of a processor; before, all were answered first.
    expect(late).toBeLessThan(HOSTILE / 2)
    await validator.close()
    await Promise.all(hostile)
  })

  it('cannot fill the queue: an innocent call takes the place of one of theirs', async () => {
    validator = new ThreadValidator({ validateMs: VALIDATE_MS, compileMs: 30_000, waitMs: 300_000 })
    const codes = Array.from({ length: 100 }, (_, n) =>
      codeOf(validator.validate(EVIL, TEXT, { caller: { tenant: 'a', connection: String(n) } })),
    )
    const caller = { tenant: 'b', connection: 'innocent' }
    expect((await validator.validate(slice({}), slice(1), { caller })).valid).toBe(true)
    await validator.close()
    expect(await Promise.all(codes)).toContain('overloaded')
  })
})
