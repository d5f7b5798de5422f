import { afterEach, describe, expect, it, vi } from 'vitest'
import { JsonSlice } from '../../src/core/json/slice.ts'
import { AjvValidator } from '../../src/validation/ajv/ajv-validator.ts'
import { json, slice } from './support.ts'

describe('compiled schemas', () => {
  it('a schema is compiled once, however often it is used', async () => {
    const validator = new AjvValidator()
    for (let i = 0; i < 3_000; i++) {
      await validator.validate(slice({ properties: { q: { type: 'string' } } }), slice({ q: i }))
    }
    expect(validator.stats).toEqual({ cached: 1, compilations: 1 })
  })

  it('the same bytes inside another document are the same schema', async () => {
    const validator = new AjvValidator()
    await validator.compile(json('{"type":"string"}'))
    const outer = Buffer.from(' {"s":{"type":"string"}} ')
    await validator.compile(new JsonSlice(outer, 6, 23))
    expect(validator.stats.compilations).toBe(1)
  })

  it('no more are held than the limits say, by number and by bytes', async () => {
    const few = new AjvValidator({ cacheSchemas: 3 })
    for (let i = 0; i < 10; i++) await few.compile(slice({ title: `${i}` }))
    expect(few.stats).toEqual({ cached: 3, compilations: 10 })
    const small = new AjvValidator({ cacheSchemaBytes: 100 })
    for (let i = 0; i < 10; i++) await small.compile(slice({ title: 'x'.repeat(30) + i }))
    expect(small.stats.cached).toBe(2)
  })

  it('nothing is held after close', async () => {
    const validator = new AjvValidator()
    await validator.compile(slice(true))
    await validator.close()
    expect(validator.stats.cached).toBe(0)
  })

  it('a bug is not mistaken for a bad value', async () => {
    const validator = new AjvValidator()
    await expect(validator.validate(slice(true), json('not json'))).rejects.toThrow(SyntaxError)
  })
})

describe('silence', () => {
  afterEach(() => vi.restoreAllMocks())

  it('nothing is printed, whatever a schema holds', async () => {
    const writes = [
      vi.spyOn(process.stdout, 'write').mockReturnValue(true),
      vi.spyOn(process.stderr, 'write').mockReturnValue(true),
      ...(['log', 'warn', 'error', 'info', 'debug'] as const).map((name) =>
        vi.spyOn(console, name).mockReturnValue(),
      ),
    ]
    const validator = new AjvValidator()
    const schemas = [
      { format: 'uint64', 'x-y': 1, items: { minLength: 1 }, required: ['zz'] },
      { $ref: '#/$defs/none' },
      { pattern: '(' },
      { type: 'dict' },
    ]
    for (const schema of schemas) await validator.validate(slice(schema), slice(5)).catch(() => {})
    for (const write of writes) expect(write).not.toHaveBeenCalled()
  })
})
