import { describe, expect, it } from 'vitest'
import { AjvValidator } from '../../src/validation/ajv/ajv-validator.ts'
import { json, judge, one, property, said, slice } from './support.ts'

describe('words', () => {
  it('a string that holds the wanted JSON is told to be one', async () => {
    const error = await one(property({ type: 'array' }), { x: '["u1","u2"]' })
    expect(error).toEqual({
      path: '/x',
      code: 'type',
      message:
        'must be an array, not a string that holds JSON: send the array itself, without quotes and escapes around it',
      expected: 'an array',
      received: 'string "[\\"u1\\",\\"u2\\"]"',
      schema_path: '#/properties/x/type',
    })
    expect((await one({ type: ['object', 'null'] }, '{"a":1}')).message).toContain(
      'send the object',
    )
    expect((await one({ type: 'integer' }, '42')).message).toContain('send 42 without quotes')
    expect((await one({ type: ['boolean', 'null'] }, 'true')).message).toContain('send true')
    expect((await one({ type: 'boolean' }, '42')).message).toBe('must be a boolean, not a string')
    expect((await one({ type: 'array' }, '{}')).message).toBe('must be an array, not a string')
  })

  it('a number is shown as it was written', async () => {
    const schema = slice(property({ type: 'string' }))
    const validator = new AjvValidator()
    const { errors } = await validator.validate(schema, json('{"x":0,"x": 12345678901234567890}'))
    expect(errors[0]?.received).toBe('number 12345678901234567890')
    const small = await validator.validate(schema, json('{"x":1.5}'))
    expect(small.errors[0]?.received).toBe('number 1.5')
  })

  it('a required member is named with what it should be', async () => {
    const schema = { required: ['a'], properties: { a: { enum: ['x', 1] } } }
    expect(await one(schema, { b: 1 })).toMatchObject({
      message: 'lacks the required member "a"',
      expected: 'member "a": one of "x", 1',
      received: 'object (members "b")',
    })
    expect(await one({ required: ['toString'] }, {})).toMatchObject({
      expected: 'member "toString"',
      received: 'object (no members)',
    })
  })

  it.each<[schema: unknown, value: unknown, message: string, expected: string | null]>([
    [
      { type: 'string', nullable: true },
      [1],
      'must be a string or null, not an array',
      'a string or null',
    ],
    [{ type: 'number' }, null, 'must be a number, not null', 'a number'],
    [
      { additionalProperties: false, properties: { a: {} } },
      { b: 1 },
      'must not have the member "b"; its members are "a"',
      'only "a"',
    ],
    [{ additionalProperties: false }, { b: 1 }, 'must not have the member "b"', null],
    [{ unevaluatedProperties: false }, { b: 1 }, 'must not have the member "b"', null],
    [
      { enum: ['a', null, [1], { k: 1 }] },
      1,
      'must be one of "a", null, an array of 1 item, an object (members "k")',
      'one of "a", null, an array of 1 item, an object (members "k")',
    ],
    [{ enum: [] }, 1, 'must be one of (none)', 'one of (none)'],
    [{ const: 5 }, 6, 'must be 5', '5'],
    [{ minimum: 3 }, 2, 'must be at least 3', 'at least 3'],
    [{ exclusiveMaximum: 3 }, 3, 'must be less than 3', 'less than 3'],
    [{ multipleOf: 2 }, 3, 'must be a multiple of 2', 'a multiple of 2'],
    [{ minLength: 1 }, '', 'must have at least 1 character, but has 0', 'at least 1 character'],
    [{ maxLength: 1 }, '😀😀', 'must have at most 1 character, but has 2', 'at most 1 character'],
    [{ minItems: 2 }, [1], 'must have at least 2 items, but has 1', 'at least 2 items'],
    [{ maxProperties: 0 }, { a: 1 }, 'must have at most 0 members, but has 1', 'at most 0 members'],
    [
      { prefixItems: [{}], items: false },
      [1, 2],
      'must have at most 1 item, but has 2',
      'at most 1 item',
    ],
    [{ unevaluatedItems: false }, [1], 'must have at most 0 items, but has 1', 'at most 0 items'],
    [
      { contains: { const: 1 } },
      [],
      'must contain at least 1 matching item (1)',
      'at least 1 matching item',
    ],
    [
      { contains: true, minContains: 1, maxContains: 2 },
      [1, 2, 3],
      'must contain at least 1 and at most 2 matching items',
      'at least 1 and at most 2 matching items',
    ],
    [{ pattern: '^a' }, 'b', 'must match the pattern "^a"', 'pattern ^a'],
    [{ format: 'date' }, 'b', 'must have the format "date"', 'format date'],
    [
      { dependentRequired: { a: ['b'] } },
      { a: 1 },
      'has the member "a", and therefore must have "b" as well',
      'member "b"',
    ],
    [{ not: { type: 'number' } }, 3, 'must not match what "not" excludes', 'not number'],
    [{ not: true }, 3, 'must not match what "not" excludes', null],
    [
      { oneOf: [true, { minimum: 1 }] },
      3,
      'must match exactly one of 2 alternatives, but matches both 0 and 1',
      null,
    ],
  ])('%j refuses %j', async (schema, value, message, expected) => {
    expect(await one(schema, value)).toMatchObject({ message, expected })
  })

  // Fault: what each alternative expects was listed as if the value had to fit all of them.
  it.each(['anyOf', 'oneOf'])('alternatives that all failed are one error: %s', async (keyword) => {
    const alternatives = [
      { type: 'null' },
      { type: 'object', required: ['a', 'b'] },
      { type: ['string', 'array'] },
      { minimum: 9 },
    ]
    const among = keyword === 'anyOf' ? 'at least one of 4' : 'exactly one of 4'
    expect(await one({ [keyword]: alternatives }, 5)).toMatchObject({
      path: '',
      code: keyword,
      schema_path: `#/${keyword}`,
      message: `must match ${among} alternatives, but matches none: either it must be null, not a number; or it must be an object, not a number; or it must be a string or an array, not a number; or it must be at least 9`,
      expected: 'null | object with "a", "b" | string or array | other',
    })
  })

  it('alternatives that are references, and unions in them, are one error', async () => {
    const schema = {
      type: 'object',
      properties: {
        before: { type: 'string' },
        x: { anyOf: [{ $ref: '#/$defs/text' }, { $ref: '#/$defs/point' }] },
        after: { $ref: '#/$defs/text' },
      },
      $defs: {
        text: { type: 'string' },
        number: { oneOf: [{ type: 'number' }, { type: 'null' }] },
        point: { required: ['y', 'z'], properties: { y: { $ref: '#/$defs/number' } } },
      },
    }
    const validation = await judge(schema, { before: 1, x: { y: true }, after: 2 })
    expect(said(validation)).toEqual([
      '/before type: must be a string, not a number',
      '/x anyOf: must match at least one of 2 alternatives, but matches none: either it must be a string, not an object; or it lacks the required member "z" and its "/y" must match exactly one of 2 alternatives, but matches none: either it must be a number, not a boolean; or it must be null, not a boolean',
      '/after type: must be a string, not a number',
    ])
    expect(validation.errorsTotal).toBe(3)
  })

  it('a condition is told after what failed inside it', async () => {
    const conditional = json('{"if":{},"then":{"minimum":9}}')
    expect(said(await new AjvValidator().validate(conditional, json('5')))[1]).toBe(
      ' if: must match "then", as its "if" applies',
    )
  })

  // Fault: `2.50` was quoted as 2.5.
  it.each([
    ['{"enum":[1,2.50,1e2]}', '5', 'must be one of 1, 2.50, 1e2'],
    ['{"const":1.0}', '5', 'must be 1.0'],
    ['{"minimum":5.10}', '5', 'must be at least 5.10'],
    ['{"multipleOf":0.10}', '0.55', 'must be a multiple of 0.10'],
    ['{"enum":[2.50,9007199254740993]}', '5', 'must be one of 2.50, 9007199254740993'],
    ['{"maximum":2.50}', '9007199254740993', 'must be at most 2.50'],
    ['{"properties":{"a":{"const":2.50}},"required":["a"]}', '{}', 'lacks the required member "a"'],
  ])('numbers of a schema are quoted as written: %s', async (schema, value, message) => {
    const { errors } = await new AjvValidator().validate(json(schema), json(value))
    expect(errors.map((error) => error.message)).toEqual([message])
    if (message.includes('lacks')) expect(errors[0]?.expected).toBe('member "a": 2.50')
  })

  it('numbers of a schema are compared by value, however they are written', async () => {
    const schema = json('{"enum":[2.50,1e2,9007199254740993]}')
    for (const value of ['2.5', '100', '9007199254740993', '2.500']) {
      expect((await new AjvValidator().validate(schema, json(value))).valid).toBe(true)
    }
  })

  it('a member name that is not allowed is named', async () => {
    expect(said(await judge({ propertyNames: { maxLength: 3 } }, { abcd: 1 }))).toEqual([
      ' maxLength: has the member name "abcd", which must have at most 3 characters, but has 4',
      ' propertyNames: has a member whose name is not allowed: "abcd"',
    ])
  })

  it('keywords without words of their own are named', async () => {
    const schema = {
      $schema: 'https://json-schema.org/draft/2019-09/schema',
      unevaluatedItems: false,
    }
    const { errors } = await judge({ ...schema, dependentSchemas: { a: false } }, { a: 1 })
    expect(errors[0]?.code).toBe('false_schema')
  })

  // Fault: of many rows that are wrong in one way, the first were shown, and nothing of what was wrong besides.
  it.each([30, 3_000])('errors that differ are shown before repetitions: %i rows', async (rows) => {
    const schema = {
      properties: {
        rows: { items: { required: ['a', 'b'] } },
        last: { type: 'string' },
      },
    }
    const value = { rows: Array(rows).fill({ a: 1 }).concat({}), last: 1 }
    const { errors, errorsTotal } = await judge(schema, value)
    expect([errors.length, errorsTotal]).toEqual([20, rows + 3])
    expect(errors.at(-1)).toMatchObject({ path: '/last', code: 'type' })
    if (rows < 1_000)
      expect(errors.map(({ message }) => message)).toContain('lacks the required member "a"')
  })

  it('errors at paths that are set aside are listed apart, once a path', async () => {
    const schema = slice({
      properties: { x: { type: 'integer', const: 5 }, y: { type: 'integer' } },
    })
    const value = slice({ x: '$r1', y: 'z' })
    const validation = await new AjvValidator().validate(schema, value, { setAside: ['/x'] })
    expect(validation).toMatchObject({ valid: false, errorsTotal: 1, setAsideTotal: 2 })
    expect(validation.errors.map(({ path }) => path)).toEqual(['/y'])
    expect(validation.setAside.map(({ path, code }) => [path, code])).toEqual([['/x', 'type']])
  })

  it('paths are JSON Pointers', async () => {
    const schema = { additionalProperties: { additionalProperties: { type: 'string' } } }
    expect((await one(schema, { 'a/b': { '~': 1 } })).path).toBe('/a~1b/~0')
  })
})
