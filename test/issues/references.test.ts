// Calls with many references, or with names of many megabytes, once cost time or memory by their square.
import { afterAll, describe, expect, it } from 'vitest'
import { parseJson } from '../../src/core/json/scan.ts'
import { findReferences, pointerTo } from '../../src/core/references.ts'
import { type ResolveBody, type RunCalls, startApi } from '../support/api.ts'

const POINTER_NAME_BYTES = 256
const MAX_REFERENCES = 100_000
const MAX_ERRORS = 3

const few = await startApi({ COATCHECK_MAX_REFERENCES: '5' })
const many = await startApi({
  COATCHECK_MAX_REFERENCES: String(MAX_REFERENCES),
  COATCHECK_MAX_ERRORS: String(MAX_ERRORS),
})
const usual = await startApi()
afterAll(async () => {
  for (const api of [few, many, usual]) await api.close()
})

const references = (count: number, reference: (n: number) => string): string =>
  JSON.stringify(Array.from({ length: count }, (_, n) => reference(n)))

/** What the sentinel of an invalid call says. */
function messageOf({ failure }: ResolveBody): string {
  const [sentinel] = Object.values(failure as Readonly<Record<string, { message?: string }>>)
  return sentinel?.message ?? ''
}

async function runWithOne(api: typeof usual): Promise<RunCalls> {
  const run = api.newRun()
  expect((await run.put('{"output":{"a":1}}')).body.handle).toBe('r1')
  return run
}

describe('references past the limit', () => {
  // Fault: there was none, and each reference adds to the answer.
  it('are refused with the limit and its value, resolvable or not', async () => {
    const run = await runWithOne(few)
    for (const reference of ['$r1', '$r9', '$r1.a']) {
      const within = await run.resolve(`{"arguments":${references(5, () => reference)}}`)
      expect(within.status).toBe(200)
      const past = await run.resolve(`{"arguments":${references(6, () => reference)}}`)
      expect(past.status).toBe(422)
      expect(past.body).toMatchObject({ code: 'over_limit', limit: 'references', value: 5 })
      expect(past.body.detail).toContain('5 references')
    }
  })

  it('are those past 1,000 where no setting says otherwise; other strings do not count', async () => {
    const run = await runWithOne(usual)
    const args = (count: number): string =>
      `{"arguments":[${references(count, () => '$r1')},${references(2_000, () => '$HOME')}]}`
    expect((await run.resolve(args(1_000))).status).toBe(200)
    expect((await run.resolve(args(1_001))).body).toMatchObject({
      limit: 'references',
      value: 1_000,
    })
  })
})

describe('a reference of many characters', () => {
  const SHOWN_CHARS = 256
  const long = `$r9.${'é😀'.repeat(100_000)}`
  const shown = `${[...long].slice(0, SHOWN_CHARS).join('')}…`

  // Fault: it was repeated whole, several times: in the list, in the error and in the failure.
  it('that stands for nothing is told of by its start, and stays as it is in the arguments', async () => {
    const run = await runWithOne(usual)
    const call = JSON.stringify({ mode: 'strict', arguments: { a: long } })
    const { body, text } = await run.resolve(call)
    expect(body.arguments).toEqual({ a: long })
    expect(text.length).toBeLessThan(call.length + 10 * SHOWN_CHARS)
    expect(body.unresolved).toMatchObject([{ reference: shown, at: '/a', available: ['r1'] }])
    expect(body.errors).toMatchObject([{ reference: shown, received: JSON.stringify(shown) }])
    expect(body.errors[0]?.message).toBe(
      `${shown} stands for nothing (unknown handle; there is r1)`,
    )
    expect(messageOf(body)).toContain(`${shown} stands for nothing`)
  })

  it('is told of whole where it is not longer than that, and with whole characters', async () => {
    const run = await runWithOne(usual)
    const most = `$r9.${'😀'.repeat(SHOWN_CHARS - 4)}`
    const half = `$r9.${'\\ud83d'.repeat(SHOWN_CHARS)}`
    const { body } = await run.resolve(`{"arguments":["${most}","${half}"]}`)
    expect(body.unresolved[0]?.reference).toBe(most)
    expect(body.unresolved[1]?.reference).toBe(`$r9.${'\ufffd'.repeat(SHOWN_CHARS - 4)}…`)
  })

  it('is told of by its start where its value does not fit', async () => {
    const run = usual.newRun()
    const name = 'n'.repeat(1_000)
    await run.put(JSON.stringify({ output: { [name]: 'text' } }))
    const { body } = await run.resolve(
      JSON.stringify({ arguments: [`$r1.${name}`], input_schema: { items: { type: 'number' } } }),
    )
    expect(body.resolved).toEqual([`r1.${name}`])
    expect(body.errors[0]?.reference).toBe(`$r1.${'n'.repeat(SHOWN_CHARS - 4)}…`)
  })
})

describe('where a reference stands', () => {
  // Fault: each reference held the whole pointer to it, so that a long name was kept a thousand times.
  it('is told by the start of a very long name', async () => {
    const run = usual.newRun()
    const name = 'é/'.repeat(1_000)
    const { body } = await run.resolve(JSON.stringify({ arguments: { [name]: ['x', '$r1'] } }))
    const at = body.unresolved[0]?.at ?? ''
    expect(at.endsWith('…/1')).toBe(true)
    const shown = at.slice(1, -'…/1'.length).replaceAll('~1', '/')
    expect(name.startsWith(shown)).toBe(true)
    expect(Buffer.byteLength(shown)).toBeGreaterThan(POINTER_NAME_BYTES / 2)
    expect(Buffer.byteLength(shown)).toBeLessThanOrEqual(POINTER_NAME_BYTES)
    expect(at.isWellFormed()).toBe(true)
  })

  it('is not made up before it is asked for, nor whole: 1,000 of them below a name of 20 MB', () => {
    const value = references(1_000, () => '$r1')
    const args = parseJson(Buffer.from(`{"${'n'.repeat(20_000_000)}":${value}}`))
    const found = findReferences(args)
    expect(found).toHaveLength(1_000)
    for (const reference of found) expect(pointerTo(reference).length).toBeLessThan(300)
  })
})

describe('references to handles that are not there', () => {
  // Fault: the sizes of all that was found before were added up again for every handle: five billion additions here.
  it('cost by their number, not its square', async () => {
    const run = await runWithOne(many)
    const args = references(MAX_REFERENCES, (n) => `$r${n + 2}`)
    const { status, body } = await run.resolve(`{"arguments":${args}}`)
    expect(status).toBe(200)
    expect(body.unresolved).toHaveLength(MAX_REFERENCES)
    expect(body.unresolved.at(-1)).toEqual({
      reference: `$r${MAX_REFERENCES + 1}`,
      at: `/${MAX_REFERENCES - 1}`,
      reason: 'unknown_handle',
      available: ['r1'],
    })
  })

  // Fault: a strict call listed them all, and the failure for the model too.
  it('are listed in a strict call up to the limit on errors, in the failure too, and counted', async () => {
    const run = await runWithOne(many)
    const args = references(10, (n) => `$r${n + 2}`)
    const { body } = await run.resolve(`{"arguments":${args},"mode":"strict"}`)
    expect(body.errors).toHaveLength(MAX_ERRORS)
    expect([body.errors_total, body.unresolved.length, body.valid]).toEqual([10, 10, false])
    const told = messageOf(body).match(/\$r\d+ stands for nothing/g) ?? []
    expect(told).toEqual(['$r2', '$r3', '$r4'].map((name) => `${name} stands for nothing`))
  })

  it('count with what the schema refuses towards one limit', async () => {
    const run = await runWithOne(many)
    const args = '["$r2","$r3",true,true,true]'
    const schema = '"input_schema":{"items":{"type":"string"}}'
    const { body } = await run.resolve(`{"arguments":${args},"mode":"strict",${schema}}`)
    expect(body.errors.map(({ path }) => path)).toEqual(['/0', '/1', '/2'])
    expect(body.errors_total).toBe(5)
  })

  // Fault: what the schema says of the reference's own text was said of its value.
  it.each(['strict', 'lenient'])('have no value to be wrong in a %s call', async (mode) => {
    const run = await runWithOne(usual)
    const schema = '{"properties":{"rows":{"type":"array"},"n":{"type":"string"}}}'
    const { body } = await run.resolve(
      `{"mode":"${mode}","arguments":{"rows":"$r1.gone","n":1},"input_schema":${schema}}`,
    )
    expect(messageOf(body)).toContain('/rows: $r1.gone stands for nothing (path not found')
    expect(messageOf(body)).not.toContain('the value of')
    const found = body.errors.map(({ path, code, reference }) => [path, code, reference])
    const ofRows = ['/rows', 'unresolved_reference', '$r1.gone']
    const expected = mode === 'strict' ? [ofRows, ['/n', 'type', null]] : [['/n', 'type', null]]
    expect(found.slice(0, expected.length)).toEqual(expected)
  })

  // Fault: it was an error once as a reference and once as a text of the wrong type.
  it('are one error in a strict call, whatever the schema says of their text', async () => {
    const run = await runWithOne(usual)
    const schema = '{"properties":{"n":{"type":"integer","minLength":9,"enum":[1]}}}'
    const { body } = await run.resolve(
      `{"mode":"strict","arguments":{"n":"$r9"},"input_schema":${schema}}`,
    )
    expect(body.errors.map(({ path, code }) => [path, code])).toEqual([
      ['/n', 'unresolved_reference'],
    ])
    expect([body.valid, body.errors_total]).toEqual([false, 1])
    expect(messageOf(body).match(/\/n:/g)).toHaveLength(1)
  })

  // Fault: the model was told once that it stands for nothing, and once that its text has the wrong type.
  it('are told once in the failure of a lenient call, with what is wanted in their place', async () => {
    const run = await runWithOne(usual)
    const { body } = await run.resolve(
      '{"arguments":{"n":"$r9","m":1},"input_schema":{"properties":{"n":{"type":"integer"},"m":{"type":"string"}}}}',
    )
    expect(messageOf(body)).toMatch(
      /: \/n: \$r9 stands for nothing \(unknown handle; there is r1\); wanted is an integer; \/m: must be a string, not a number$/,
    )
    expect([body.errors.length, body.errors_total]).toEqual([2, 2])
  })

  // Fault: of thirty results the model was told of twenty as if there were no more.
  it('that name no result are told that there is more than what is listed', async () => {
    const run = await runWithOne(usual)
    for (let n = 2; n <= 30; n++) await run.put('{"output":1}')
    const { body } = await run.resolve('{"mode":"strict","arguments":"$r99"}')
    expect(messageOf(body)).toContain('(unknown handle; the first 20 are r1, r2, ')
  })

  // Fault: a lenient call told the model of the wrong type alone, which it could not mend.
  it('are named in the failure of a lenient call that is invalid, with what there is', async () => {
    const run = await runWithOne(usual)
    const { body } = await run.resolve(
      '{"arguments":{"n":"$r9"},"input_schema":{"properties":{"n":{"type":"integer"}}}}',
    )
    expect([body.valid, body.errors_total]).toEqual([false, 1])
    expect(body.errors[0]?.code).toBe('type')
    expect(messageOf(body)).toMatch(/\/n: \$r9 stands for nothing \(unknown handle; there is r1\)/)
    expect(messageOf(body)).toContain('integer')
  })
})
