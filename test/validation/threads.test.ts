// Real threads. What they are told to do takes for ever, so that only the deadline can end it.
import { execFile } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { afterEach, describe, expect, it } from 'vitest'
import type { JsonSlice } from '../../src/core/json/slice.ts'
import { QUEUE_BYTES, QUEUE_CALLS } from '../../src/validation/limits.ts'
import { ThreadValidator } from '../../src/validation/pool/thread-validator.ts'
import { codeOf } from '../support/ledger.ts'
import { json, slice } from './support.ts'

const EVIL = slice({ pattern: '^(a+)+$' })
const TEXT = slice(`${'a'.repeat(60)}!`)
/** Each level is judged twice by the one above. */
const BRANCHING = slice({
  $ref: '#/$defs/a',
  $defs: {
    a: {
      anyOf: Array(2).fill({ properties: { n: { $ref: '#/$defs/a' } }, not: { type: 'object' } }),
    },
  },
})
const CHAIN = json(`${'{"n":'.repeat(60)}1${'}'.repeat(60)}`)
const MANY_ALTERNATIVES = slice({
  items: { anyOf: Array.from({ length: 300 }, (_, i) => ({ const: i })) },
})
/** Each matches only the last alternative. */
const MANY_ITEMS = json(`[${Array(60_000).fill('299').join(',')}]`)
const ROW = slice({ type: 'object', properties: { n: { type: 'integer' } } })
const GOOD = slice({ n: 1 })

describe('validation in threads', () => {
  let validator: ThreadValidator
  const started = (limits: ConstructorParameters<typeof ThreadValidator>[0] = {}) => {
    // Time enough for whatever is not meant to be late, on a busy machine.
    validator = new ThreadValidator({
      compileMs: 30_000,
      validateMs: 30_000,
      waitMs: 60_000,
      ...limits,
    })
    return validator
  }
  afterEach(() => validator.close())

  it('answers and refuses as validation in this thread does', async () => {
    started()
    expect(await validator.validate(ROW, GOOD)).toEqual({
      valid: true,
      errors: [],
      errorsTotal: 0,
      setAside: [],
      setAsideTotal: 0,
      warnings: [],
    })
    const wrong = await validator.validate(ROW, json('{"n":"x"}'))
    expect(wrong.errors[0]).toMatchObject({ path: '/n', code: 'type' })
    expect(await validator.compile(slice({ colour: 1 }))).toMatchObject([
      { schema_path: '#/colour' },
    ])
    await expect(validator.compile(slice({ type: 'dict' }))).rejects.toMatchObject({
      code: 'invalid_schema',
      facts: { schema_path: '#/type' },
    })
    await expect(validator.validate(ROW, json('not json'))).rejects.toThrow(SyntaxError.name)
  })

  it('leaves the bytes it is given as they are', async () => {
    started()
    const value = json('{"n":1}')
    await validator.validate(ROW, value)
    expect(value.toString()).toBe('{"n":1}')
  })

  it.each<[name: string, schema: JsonSlice, value: JsonSlice]>([
    ['nested repetition', EVIL, TEXT],
    ['alternatives that overlap', slice({ pattern: '^(a|a?)+$' }), TEXT],
    ['no unicode mode', slice({ pattern: '^(\\-?a+)+$' }), TEXT],
    [
      'a pattern of names',
      slice({ patternProperties: { '^(a+)+$': false } }),
      slice({ [`${'a'.repeat(60)}!`]: 1 }),
    ],
    ['references in circles', BRANCHING, CHAIN],
    ['a long text', slice({ pattern: '^(([a-z])+.)+[A-Z]([a-z])+$' }), slice('a'.repeat(60_000))],
  ])('a value that takes for ever is an answer: %s', async (_, schema, value) => {
    started({ validateMs: 200 })
    await expect(validator.validate(schema, value)).rejects.toMatchObject({
      code: 'over_limit',
      facts: { limit: 'validate_ms', value: 200 },
    })
  })

  it.each<[name: string, schema: JsonSlice, value: JsonSlice, cause: RegExp]>([
    ['a pattern', EVIL, TEXT, /has patterns/],
    ['references', BRANCHING, CHAIN, /has references/],
    ['neither', MANY_ALTERNATIVES, MANY_ITEMS, /to validate \(validate_ms\)\. Reference/],
  ])('what is blamed for slowness is in the schema: %s', async (_, schema, value, cause) => {
    started({ validateMs: 1 })
    const error: unknown = await validator.validate(schema, value).catch((thrown) => thrown)
    expect(error).toMatchObject({ code: 'over_limit', facts: { limit: 'validate_ms' } })
    expect(String(error)).toMatch(cause)
    expect(/pattern/.test(String(error))).toBe(schema === EVIL)
  })

  it('a schema that takes too long to compile is an answer', async () => {
    started({ compileMs: 1 })
    const properties = Object.fromEntries(
      Array.from({ length: 5_000 }, (_, i) => [`p${i}`, { minimum: i }]),
    )
    await expect(validator.validate(slice({ properties }), GOOD)).rejects.toMatchObject({
      code: 'over_limit',
      facts: { limit: 'compile_ms', value: 1 },
    })
  })

  it('a call that is late fails alone, and what comes after is answered', async () => {
    started({ validateMs: 300 })
    const late = Array.from({ length: 5 }, () => codeOf(validator.validate(EVIL, TEXT)))
    const others = Array.from({ length: 20 }, () => validator.compile(ROW))
    expect(await Promise.all(late)).toEqual(Array(5).fill('over_limit'))
    expect(await Promise.all(others)).toEqual(Array(20).fill([]))
  })

  it('what waits is bounded', async () => {
    started()
    const calls = Array.from({ length: QUEUE_CALLS + 10 }, () => codeOf(validator.compile(ROW)))
    const codes = await Promise.all(calls)
    expect(codes.filter((code) => code === 'overloaded')).toHaveLength(10)
    expect(codes.filter((code) => code === undefined)).toHaveLength(QUEUE_CALLS)
  })

  it('a call past the bound is told which it is', async () => {
    started()
    const fits = Array.from({ length: QUEUE_CALLS }, () => codeOf(validator.compile(ROW)))
    await expect(validator.compile(ROW)).rejects.toMatchObject({
      message: `${QUEUE_CALLS} calls wait to be validated, which is the limit. Send it again in a moment.`,
      facts: { limit: 'validation_calls', value: QUEUE_CALLS },
    })
    await Promise.all(fits)
    const large = json(`"${'x'.repeat(QUEUE_BYTES / 2)}"`)
    const two = [1, 2].map(() => codeOf(validator.validate(ROW, large)))
    await expect(validator.validate(ROW, large)).rejects.toMatchObject({
      code: 'overloaded',
      facts: { limit: 'validation_bytes', value: QUEUE_BYTES },
    })
    await validator.close()
    expect(await Promise.all(two)).toEqual(['overloaded', 'overloaded'])
  })

  it('a value whose objects could fill the heap is refused before they are made', async () => {
    started({ heapBytes: 67_108_864 })
    const objects = json(`[${'{},'.repeat(3_000_000)}{}]`)
    await expect(validator.validate(slice(true), objects)).rejects.toMatchObject({
      code: 'over_limit',
      facts: { limit: 'validation_heap_bytes', value: 67_108_864 },
    })
    expect((await validator.validate(ROW, GOOD)).valid).toBe(true)
  })

  it('a heap that fills up ends the thread, and nothing else', async () => {
    started({ heapBytes: 67_108_864, schemaBytes: 10_000_000 })
    const allOf = Array.from({ length: 100_000 }, (_, i) => ({ minimum: i }))
    await expect(validator.compile(slice({ allOf }))).rejects.toMatchObject({
      code: 'over_limit',
      facts: { limit: 'validation_heap_bytes', value: 67_108_864 },
    })
    expect((await validator.validate(ROW, GOOD)).valid).toBe(true)
  })

  it('a stack that runs out is an answer', async () => {
    started()
    const { errors } = await validator.validate(slice({ $ref: '#' }), slice(5))
    expect(errors[0]?.code).toBe('unchecked')
    const deep = json('['.repeat(200_000) + ']'.repeat(200_000))
    expect(await codeOf(validator.validate(slice({ items: { $ref: '#' } }), deep))).toBe(undefined)
  })

  it('close ends what runs and what waits', async () => {
    started()
    await validator.compile(ROW)
    const calls = Array.from({ length: 6 }, () => codeOf(validator.validate(EVIL, TEXT)))
    await validator.close()
    expect(await Promise.all(calls)).toEqual(Array(6).fill('overloaded'))
    await expect(validator.compile(ROW)).rejects.toMatchObject({ code: 'overloaded' })
  })

  it('a thread that is ending is waited for, also by a process that has nothing else to do', async () => {
    const path = fileURLToPath(new URL('processes/end.ts', import.meta.url))
    const { stdout } = await promisify(execFile)(process.execPath, [path])
    expect(stdout).toBe('ended\n')
  })
})
