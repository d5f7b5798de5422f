import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { serialize } from '../../src/http/reply/reply.ts'
import { holds } from '../support/json.ts'

const long = fc
  .tuple(
    fc.constantFrom('row "1",\n', 'é', '€ – ', '🦊', '\ud800'),
    fc.integer({ min: 1, max: 20_000 }),
  )
  .map(([unit, times]) => unit.repeat(times))
const member = fc.oneof(
  { weight: 3, arbitrary: long },
  fc.constantFrom(undefined, null, 0, true, '', 'short – ', { text: 'x' }, ['y']),
)

describe('an answer', () => {
  it('is the JSON that it would be without its long texts being encoded apart', () => {
    const answers = fc.dictionary(fc.oneof(fc.string(), fc.constantFrom('1', '"', '–')), member)
    holds(
      fc.property(answers, (answer) => {
        expect(serialize(answer).toString()).toBe(JSON.stringify(answer))
      }),
      300,
    )
  })

  it('is encoded once where it is long', () => {
    expect(serialize({ text: 'x'.repeat(16_384) })).toBeTypeOf('string')
    expect(serialize({ text: 'x'.repeat(16_385) })).toBeInstanceOf(Buffer)
  })
})
