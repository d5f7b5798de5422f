import { describe, expect, it } from 'vitest'
import { AjvValidator } from '../../../src/validation/ajv/ajv-validator.ts'
import { json, judge, property, refusal, said, slice } from '../support.ts'

const at = (schema: unknown, value: unknown) => judge(schema, value).then(({ valid }) => valid)

describe('references', () => {
  const node = {
    type: 'object',
    properties: {
      v: { type: 'integer' },
      kids: { type: 'array', items: { $ref: '#/$defs/node' } },
    },
    required: ['v'],
  }
  const tree = { properties: { root: { $ref: '#/$defs/node' } }, $defs: { node } }

  it('a recursive schema tells where the value is wrong, and where the schema says so', async () => {
    const { errors } = await judge(tree, { root: { v: 1, kids: [{ v: 2, kids: [] }, { v: 'x' }] } })
    expect(errors).toHaveLength(1)
    expect(errors[0]).toMatchObject({
      path: '/root/kids/1/v',
      schema_path: '#/$defs/node/properties/v/type',
    })
    expect(await at(tree, { root: { v: 1, kids: [{ v: 2 }] } })).toBe(true)
  })

  it.each([
    ['#/$defs/Missing', '#/properties/x/$ref'],
    ['https://example.test/other.json', '#/properties/x/$ref'],
    ['constructor', '#/properties/x/$ref'],
    ['#/$defs/toString', '#/properties/x/$ref'],
    ['#/$defs/%/__proto__', '#/properties/x/$ref'],
  ])('%s, which leads nowhere, is named and never fetched', async ($ref, place) => {
    const { code, message, facts } = await refusal({ ...property({ $ref }), $defs: {} })
    expect(code).toBe('invalid_schema')
    expect(message).toContain(JSON.stringify($ref))
    expect(facts).toMatchObject({ reference: $ref, schema_path: place })
  })

  it('names of inherited members are names like any other', async () => {
    const schema = { $ref: '#/$defs/constructor', $defs: { constructor: { type: 'string' } } }
    expect(await at(schema, 'a')).toBe(true)
    expect(await at(schema, 5)).toBe(false)
    const part = { $ref: '#/$defs/valueOf' }
    const embedded = property({
      $id: 'https://example.test/x',
      properties: { part },
      $defs: { valueOf: { type: 'string' } },
    })
    expect(await at(embedded, { x: { part: 5 } })).toBe(false)
  })

  it('a meta-schema may be referred to, and brought along', async () => {
    const id = 'https://json-schema.org/draft/2020-12/schema'
    const { valid, errors } = await judge({ $ref: id }, { minLength: 'x' })
    expect(valid).toBe(false)
    expect(errors[0]?.schema_path).toContain('type')
    expect(await at({ $id: id, type: 'string' }, 'a')).toBe(true)
  })

  it('a reference that only leads back to itself ends in an error', async () => {
    const { valid, errors, errorsTotal } = await judge({ $ref: '#' }, 5)
    expect({ valid, errorsTotal }).toEqual({ valid: false, errorsTotal: 1 })
    expect(errors[0]).toMatchObject({ code: 'unchecked', path: '' })
    const loop = {
      $ref: '#/$defs/a',
      $defs: { a: { $ref: '#/$defs/b' }, b: { $ref: '#/$defs/a' } },
    }
    expect((await refusal(loop)).code).toBe('invalid_schema')
  })

  // Ajv's default repeats the part's code for each reference, which would take minutes here.
  it('a large part that is referred to often is compiled once', async () => {
    const names = (count: number, of: object) =>
      Object.fromEntries(Array.from({ length: count }, (_, i) => [`p${i}`, of]))
    const part = { properties: names(500, { type: 'string' }) }
    const schema = { properties: names(3_000, { $ref: '#/$defs/part' }), $defs: { part } }
    expect(await at(schema, { p7: { p8: 9 } })).toBe(false)
  })

  it('five thousand properties compile, and a schema too large is refused', async () => {
    const properties = Object.fromEntries(
      Array.from({ length: 5_000 }, (_, i) => [`p${i}`, { type: 'string' }]),
    )
    expect(await at({ type: 'object', properties }, { p1: 'x' })).toBe(true)
    const { code, facts } = await refusal({ description: 'x'.repeat(262_144) })
    expect(code).toBe('over_limit')
    expect(facts).toEqual({ limit: 'schema_bytes', value: 262_144 })
  })

  it('ids of one schema are unknown to the next', async () => {
    const validator = new AjvValidator()
    const $id = 'https://example.test/shared'
    const first = slice({ $id, type: 'string', $defs: { inner: { $id: 'urn:x:inner' } } })
    const second = slice({ $id, type: 'number' })
    expect((await validator.validate(first, slice('a'))).valid).toBe(true)
    expect((await validator.validate(second, slice(5))).valid).toBe(true)
    expect((await validator.validate(first, slice(5))).valid).toBe(false)
    await expect(validator.compile(slice({ $ref: $id }))).rejects.toMatchObject({
      facts: { reference: $id },
    })
    await expect(validator.compile(slice({ $ref: 'urn:x:inner' }))).rejects.toMatchObject({
      code: 'invalid_schema',
    })
  })
})

describe('members named like inherited ones', () => {
  const schema = json(
    '{"properties":{"__proto__":{"type":"string"},"constructor":{"type":"number"}},' +
      '"patternProperties":{"^z":true},"additionalProperties":false,"required":["__proto__"]}',
  )
  const check = (text: string) => new AjvValidator().validate(schema, json(text))

  it('they are declared, required and refused like any other', async () => {
    expect((await check('{"__proto__":"a","constructor":1,"z":1}')).valid).toBe(true)
    const { errors } = await check('{"__proto__":1}')
    expect(errors.map((error) => [error.path, error.schema_path])).toEqual([
      ['/__proto__', '#/properties/__proto__/type'],
    ])
    expect(said(await check('{"toString":1}')).map((text) => text.split(':')[0])).toEqual([
      ' required',
      ' additionalProperties',
    ])
  })

  it('equality looks at no member of the values but their own', async () => {
    const twice = [
      { valueOf: 1, constructor: 2 },
      { constructor: 2, valueOf: 1 },
    ]
    expect(said(await judge({ uniqueItems: true }, twice))).toEqual([
      ' uniqueItems: must not repeat an item: items 0 and 1 are equal',
    ])
    expect(await at({ uniqueItems: true }, [1, '1', [1], { a: 1 }, { a: '1' }, null])).toBe(true)
    expect(await at({ uniqueItems: false }, [1, 1])).toBe(true)
    expect(await at({ const: { constructor: [1], b: 2 } }, { b: 2, constructor: [1] })).toBe(true)
    expect(await at({ enum: ['x', { toString: 1 }] }, { toString: 2 })).toBe(false)
    expect(await at({ enum: ['x'] }, ['x'])).toBe(false)
  })
})
