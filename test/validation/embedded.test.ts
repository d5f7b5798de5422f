import { describe, expect, it } from 'vitest'
import { judge, property, refusal } from './support.ts'

const at = (schema: unknown, value: unknown) => judge(schema, value).then(({ valid }) => valid)

const DRAFT_07 = 'http://json-schema.org/draft-07/schema#'
const text = { type: 'string' }
const X = 'https://example.test/x'
/** A schema that only refers to a document that it carries along. */
const whole = (document: object, ref = X) => ({
  $ref: ref,
  $defs: { x: { $id: X, ...document } },
})

describe('documents inside of a schema', () => {
  it.each([
    ['a part, by its place', whole({ $ref: '#/$defs/a', $defs: { a: text } })],
    ['a part, by its anchor', whole({ $ref: '#a', $defs: { part: { $anchor: 'a', ...text } } })],
    ['another document', whole({ $ref: 'y', $defs: { y: { $id: 'y', ...text } } })],
    [
      'a part of draft-07',
      {
        $schema: DRAFT_07,
        allOf: [{ $ref: X }],
        definitions: { x: { $id: X, $ref: '#/definitions/a', definitions: { a: text } } },
      },
    ],
    [
      'a part of a URN',
      {
        $ref: 'urn:example:x',
        $defs: { x: { $id: 'urn:example:x', $ref: '#/$defs/a', $defs: { a: text } } },
      },
    ],
  ])('one that only refers on to %s is judged by that', async (_, schema) => {
    expect(await at(schema, 'a')).toBe(true)
    expect(await at(schema, 5)).toBe(false)
  })

  it('errors are told from the root of the whole schema', async () => {
    const { errors } = await judge(whole({ $ref: '#/$defs/a', $defs: { a: text } }), 5)
    expect(errors.map((error) => error.schema_path)).toEqual(['#/$defs/x/$defs/a/type'])
  })

  it('one that only refers to itself ends in an error', async () => {
    const { valid, errors } = await judge(whole({ $ref: '#' }), 5)
    expect(valid).toBe(false)
    expect(errors[0]).toMatchObject({ code: 'unchecked' })
  })

  it('an anchor is looked for in the document that refers to it', async () => {
    const document = { properties: { p: { $ref: '#a' } }, $defs: { a: { $anchor: 'a', ...text } } }
    const { $ref, $defs } = whole(document)
    const schema = { $ref, $defs: { other: { $anchor: 'a', type: 'number' }, ...$defs } }
    expect(await at(schema, { p: 'a' })).toBe(true)
    expect(await at(schema, { p: 5 })).toBe(false)
  })

  it('a name of draft-07 is one of its document', async () => {
    const schema = {
      $schema: DRAFT_07,
      $id: 'https://example.test/root',
      allOf: [{ $ref: 'x#name' }],
      definitions: { x: { $id: 'x', definitions: { a: { $id: '#name', ...text } } } },
    }
    expect(await at(schema, 'a')).toBe(true)
    expect(await at(schema, 5)).toBe(false)
  })
})

describe('meta-schemas inside of a schema', () => {
  const META = 'https://example.test/meta'
  const by = ($schema: unknown, rest: object = {}) => ({
    $schema: META,
    $defs: { meta: { $id: META, $schema } },
    ...rest,
  })

  it('a schema is read as its meta-schema is, when that one is inside', async () => {
    const tuple = { items: [text] }
    expect(await at(by(DRAFT_07, tuple), [5])).toBe(false)
    expect(await at(by('https://json-schema.org/draft/2019-09/schema', tuple), ['a'])).toBe(true)
    const { facts } = await refusal(by('https://json-schema.org/draft/2020-12/schema', tuple))
    expect(facts).toMatchObject({ schema_path: '#/items' })
  })

  it('all keywords of its dialect hold, whatever vocabularies it names', async () => {
    const $schema = 'https://json-schema.org/draft/2020-12/schema'
    const $vocabulary = { 'https://json-schema.org/draft/2020-12/vocab/core': true }
    const schema = by($schema, { minimum: 3, $defs: { m: { $id: META, $schema, $vocabulary } } })
    expect(await at(schema, 2)).toBe(false)
  })

  it.each([
    ['describes itself', by(META)],
    ['says nothing of its own dialect', by(undefined)],
    ['is in no dialect that is known', by('https://example.test/other')],
    ['is not there', { $schema: META, $defs: { other: { $schema: DRAFT_07 } } }],
    ['has no name', { $schema: '', $id: META, $defs: { other: { $schema: DRAFT_07 } } }],
  ])('a schema whose meta-schema %s is refused', async (_, schema) => {
    const { code, facts } = await refusal(schema)
    expect(code).toBe('invalid_schema')
    expect(facts).toMatchObject({ schema_path: '#/$schema' })
  })
})

describe('references that only an inherited member would answer', () => {
  it.each([
    './constructor',
    'constructor#',
    '%63onstructor',
    `${X}#/$defs/toString`,
    '#/$defs/__proto__',
  ])('%s leads nowhere', async ($ref) => {
    const schema = { ...property({ $ref }), $defs: { x: { $id: X, $defs: {} }, toString: true } }
    const { code, message } = await refusal(schema)
    expect(code).toBe('invalid_schema')
    expect(message).toContain('not in it')
  })

  it('the same name in the document that is meant is found', async () => {
    const schema = whole({ $defs: { constructor: text } }, `${X}#/$defs/constructor`)
    expect(await at(schema, 'a')).toBe(true)
    expect(await at(schema, 5)).toBe(false)
  })

  it.each([
    ['$dynamicRef', 'https://json-schema.org/draft/2020-12/schema'],
    ['$recursiveRef', 'https://json-schema.org/draft/2019-09/schema'],
  ])('a %s to one is refused', async (keyword, $schema) => {
    const { facts } = await refusal({ $schema, ...property({ [keyword]: '#constructor' }) })
    expect(facts).toMatchObject({
      reference: '#constructor',
      schema_path: `#/properties/x/${keyword}`,
    })
  })

  it.each([['#/'], [`${X}#/`]])('%s is not the root', async ($ref) => {
    const parts = { '': text, $defs: { x: { $id: X, '': text } } }
    const { facts } = await refusal({ ...property({ $ref }), ...parts })
    expect(facts).toMatchObject({ reference: $ref, schema_path: '#/properties/x/$ref' })
  })

  it('a reference to what is no schema is refused', async () => {
    const { facts } = await refusal({ ...property({ $ref: '#/required' }), required: ['x'] })
    expect(facts).toMatchObject({ reference: '#/required', schema_path: '#/properties/x/$ref' })
  })
})
