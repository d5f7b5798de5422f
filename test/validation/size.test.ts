import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { AjvValidator } from '../../src/validation/ajv/ajv-validator.ts'
import { judge, one, property, slice } from './support.ts'

describe('size', () => {
  it('of 12,000 bad rows the first 20 are told and all are counted', async () => {
    const rows = Array.from({ length: 12_000 }, (_, i) => ({ id: `r${i}` }))
    const items = { type: 'object', properties: { id: { type: 'integer' } } }
    const { valid, errors, errorsTotal } = await judge(property({ type: 'array', items }), {
      x: rows,
    })
    expect(valid).toBe(false)
    expect(errorsTotal).toBe(12_000)
    expect(errors.map(({ path }) => path)).toEqual(errors.map((_, i) => `/x/${i}/id`))
    expect(errors).toHaveLength(20)
    expect(JSON.stringify(errors).length).toBeLessThan(16_384)
  })

  // Ajv's own code copies all errors so far for each bad row behind a reference: 400,000 rows would take minutes.
  it('bad rows behind a reference cost no more than their number', async () => {
    const node = {
      type: 'object',
      properties: { v: { type: 'integer' }, kids: { items: { $ref: '#/$defs/node' } } },
    }
    const kids = Array.from({ length: 400_000 }, () => ({ v: 'x' }))
    const validator = new AjvValidator()
    const schema = slice({ $ref: '#/$defs/node', $defs: { node } })
    await validator.compile(schema)
    const { errorsTotal } = await validator.validate(schema, slice({ v: 'y', kids }))
    expect(errorsTotal).toBe(400_001)
  })

  it('errors past counting are a refusal, so that alternatives cannot fill the memory', async () => {
    const anyOf = Array.from({ length: 25 }, (_, i) => ({ items: { const: `${i}` } }))
    await expect(judge({ anyOf }, Array(100_000).fill(0))).rejects.toMatchObject({
      code: 'over_limit',
      facts: { limit: 'counted_errors', value: 2_000_000 },
    })
  })

  it('the number of errors is the limit that was passed in', async () => {
    const validator = new AjvValidator({ errorsShown: 2 })
    const { errors, errorsTotal } = await validator.validate(
      slice({ items: { type: 'string' } }),
      slice([1, 2, 3]),
    )
    expect([errors.length, errorsTotal]).toEqual([2, 3])
  })

  it('long names, patterns, lists and values are clipped', async () => {
    const schema = {
      propertyNames: { pattern: '^(?:ab)+$', enum: Array.from({ length: 999 }, (_, i) => `${i}`) },
      additionalProperties: { pattern: 'a'.repeat(9_999), const: 'c'.repeat(999) },
    }
    const value = Object.fromEntries(
      Array.from({ length: 20 }, (_, i) => ['\u0001'.repeat(5_000) + i, 'é'.repeat(50_000)]),
    )
    const { errors, errorsTotal } = await judge(schema, value)
    expect(errors.length).toBeGreaterThanOrEqual(8)
    expect(errors.length).toBeLessThan(20)
    expect(errorsTotal).toBe(100)
    expect(Buffer.byteLength(JSON.stringify(errors))).toBeLessThan(16_384)
  })

  it('a long text is told by its start and its length', async () => {
    const error = await one({ const: 'c'.repeat(999) }, 'é'.repeat(50_000))
    expect(error.received).toBe(`string "${'é'.repeat(60)}…" (50000 chars)`)
    expect(error.expected).toBe(`"${'c'.repeat(60)}…"`)
  })

  it('any value gets well-formed, bounded and repeatable errors', async () => {
    const schema = slice({
      type: 'object',
      additionalProperties: { type: 'array', maxItems: 1 },
      maxProperties: 1,
    })
    const unit = fc.string({
      unit: fc.integer({ min: 0, max: 0xffff }).map((n) => String.fromCharCode(n)),
    })
    const value = fc.oneof(
      fc.dictionary(unit, fc.oneof(unit, fc.array(unit))),
      unit,
      fc.array(unit),
    )
    const [fresh, other] = [new AjvValidator(), new AjvValidator()]
    await fc.assert(
      fc.asyncProperty(value, async (data) => {
        const first = await fresh.validate(schema, slice(data))
        const again = await other.validate(schema, slice(data))
        expect(again).toEqual(first)
        for (const error of first.errors) {
          for (const text of Object.values(error)) expect(text?.isWellFormed() ?? true).toBe(true)
        }
        expect(first.valid).toBe(first.errorsTotal === 0)
      }),
      { seed: 7, numRuns: 60 },
    )
  })
})
