import { describe, expect, it } from 'vitest'
import { AjvValidator } from '../../src/validation/ajv/ajv-validator.ts'
import { json, judge, property, refusal, said, slice } from './support.ts'

const at = (schema: unknown, value: unknown) => judge(schema, value).then(({ valid }) => valid)

describe('what schemas in the wild carry', () => {
  it('unknown formats and keywords say nothing', async () => {
    const schema = {
      type: 'object',
      'x-vendor': true,
      id: 'not-an-id',
      properties: {
        n: { type: 'integer', format: 'uint64', 'x-order': 1 },
        d: { type: 'string', format: 'constructor' },
        l: { type: 'array', items: { type: 'string' }, additionalItems: false },
      },
    }
    expect(await at(schema, { n: 5, d: '3s', l: ['x'] })).toBe(true)
  })

  it('known formats are asserted', async () => {
    expect(await at({ format: 'email' }, 'nobody')).toBe(false)
    expect(await at({ format: 'email' }, 'a@example.test')).toBe(true)
  })

  it('defaults, coercion and stripping never make a value valid', async () => {
    expect(await at({ required: ['e'], properties: { e: { default: 1 } } }, {})).toBe(false)
    expect(await at({ type: 'integer' }, '42')).toBe(false)
    expect(await at({ type: 'integer' }, null)).toBe(false)
    expect(await at({ additionalProperties: false }, { a: 1 })).toBe(false)
  })

  it('empty values are values', async () => {
    const schema = { type: 'object', required: ['text'], properties: { text: { type: 'string' } } }
    expect(await at(schema, { text: '' })).toBe(true)
  })

  it('null needs to be among the allowed values, not only among the types', async () => {
    expect(await at({ type: ['null', 'string'], enum: ['FOO'] }, null)).toBe(false)
  })

  it('nullable adds null to a type and means nothing elsewhere', async () => {
    expect(await at({ type: 'string', nullable: true }, null)).toBe(true)
    expect(await at({ nullable: true, enum: ['a'] }, null)).toBe(false)
    expect(await at({ type: ['string', 'null'], nullable: false }, null)).toBe(true)
    expect(await at({ dependentRequired: { nullable: ['a'] } }, { nullable: 1 })).toBe(false)
  })

  it('$async makes no promise of a verdict', async () => {
    expect(await at({ $async: true, type: 'string' }, 5)).toBe(false)
  })

  it('boolean schemas allow everything or nothing', async () => {
    expect(await at(true, { a: 1 })).toBe(true)
    expect(said(await judge(false, 5))).toEqual([
      ' false_schema: is not allowed here: leave it out',
    ])
    const [error] = (await judge(property(false), { x: 1 })).errors
    expect(error).toMatchObject({ path: '/x', schema_path: '#/properties/x' })
  })

  it('patterns that only plain ECMAScript allows work, each for itself', async () => {
    const schema = {
      properties: { u: { pattern: '^https\\:\\/\\/' }, n: { pattern: "^[\\w\\'\\-]+$" } },
    }
    expect(await at(schema, { u: 'https://x', n: "Jo-O'N" })).toBe(true)
    expect(await at(schema, { u: 'ftp://x', n: 'a' })).toBe(false)
    expect(await at(schema, { u: 'https://x', n: 'a b' })).toBe(false)
    expect(await at({ pattern: '^.$' }, '😀')).toBe(true)
    expect(await at({ format: 'regex' }, '\\:')).toBe(true)
    expect(await at({ format: 'regex' }, '(')).toBe(false)
  })
})

describe('dialects', () => {
  it.each([
    'https://json-schema.org/draft/2020-12/schema#',
    'http://json-schema.org/draft/2020-12/schema',
    'http://json-schema.org/schema#',
  ])('%s is 2020-12', async ($schema) => {
    expect(await at({ $schema, prefixItems: [{ type: 'string' }] }, [5])).toBe(false)
  })

  it.each([
    'http://json-schema.org/draft-07/schema#',
    'https://json-schema.org/draft-07/schema',
    'http://json-schema.org/draft-06/schema#/',
    'https://json-schema.org/draft/2019-09/schema#',
  ])('%s has tuples in items', async ($schema) => {
    expect(await at({ $schema, items: [{ type: 'string' }] }, [5])).toBe(false)
  })

  it('a schema without $schema is 2020-12, and a tuple in items is told how to mend', async () => {
    expect(await at({ prefixItems: [{ type: 'string' }] }, [5])).toBe(false)
    const { message, facts } = await refusal({ items: [{ type: 'string' }] })
    expect(message).toContain('prefixItems')
    expect(facts).toMatchObject({ schema_path: '#/items' })
  })

  it('draft-04 is refused with what to change', async () => {
    const { code, message } = await refusal({ $schema: 'http://json-schema.org/draft-04/schema#' })
    expect(code).toBe('invalid_schema')
    expect(message).toMatch(/draft-04.*\$id.*exclusiveMinimum/)
  })

  it('an unknown dialect is named', async () => {
    const error = await refusal({ $schema: 'https://example.test/my-meta' })
    expect(error.message).toContain('"https://example.test/my-meta"')
    expect(error.facts).toMatchObject({ schema_path: '#/$schema' })
    expect((await refusal({ $schema: 5 })).message).toContain('not a string')
  })
})

describe('schemas that are none', () => {
  it('a type that JSON Schema does not have is named with its place, the outermost first', async () => {
    const schema = { type: 'dict', properties: { n: { type: 'float' } } }
    const { code, message, facts } = await refusal(schema)
    expect(code).toBe('invalid_schema')
    expect(message).toMatch(/"#\/type".*"dict" is not a JSON Schema type/)
    expect(facts).toMatchObject({ schema_path: '#/type' })
    const inner = await refusal(property({ type: ['string', 'float'] }))
    expect(inner.facts).toMatchObject({ schema_path: '#/properties/x/type/1' })
    const draft7 = await refusal({
      $schema: 'http://json-schema.org/draft-07/schema#',
      items: { type: 'any' },
    })
    expect(draft7.facts).toMatchObject({ schema_path: '#/items/type' })
  })

  it('a property that is called type is not taken for a type', async () => {
    const { message } = await refusal({ properties: { type: 'dict' } })
    expect(message).toContain('"#/properties/type"')
    expect(message).toContain('must be an object or a boolean')
  })

  it('other misuse of a keyword is told with what may stand there', async () => {
    const { message } = await refusal(property({ minLength: [] }))
    expect(message).toBe(
      'The schema is invalid at "#/properties/x/minLength" by 2020-12: it must be an integer, not an array.',
    )
  })

  it('a schema is an object or a boolean', async () => {
    expect((await refusal([])).message).toContain('not array')
    expect((await refusal('x')).message).toContain('not string')
  })

  it('a pattern that is no regular expression is told with its place', async () => {
    expect((await refusal(property({ pattern: '(' }))).facts).toMatchObject({
      schema_path: '#/properties/x/pattern',
    })
    expect((await refusal({ patternProperties: { '(/': {} } })).facts).toMatchObject({
      schema_path: '#/patternProperties/(~1',
    })
  })

  it('two parts of one name do not compile', async () => {
    const { code, message } = await refusal({
      $defs: { a: { $anchor: 'a', type: 'string' }, b: { $anchor: 'a' } },
    })
    expect(code).toBe('invalid_schema')
    expect(message).toContain('#a')
  })

  it('a schema over the limit is refused by it', async () => {
    const validator = new AjvValidator({ schemaBytes: 100 })
    await validator.compile(slice({ description: 'x'.repeat(50) }))
    await expect(validator.compile(slice({ description: 'x'.repeat(100) }))).rejects.toMatchObject({
      code: 'over_limit',
      facts: { limit: 'schema_bytes', value: 100 },
    })
  })

  it('nesting past the stack is a refusal, not a crash', async () => {
    const text = `${'{"not":'.repeat(20_000)}{}${'}'.repeat(20_000)}`
    const validator = new AjvValidator({ schemaBytes: 1_000_000 })
    await expect(validator.compile(json(text))).rejects.toMatchObject({ code: 'invalid_schema' })
  })
})
