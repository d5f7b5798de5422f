// Values that do not fit one piece: the same answers as for small ones, whole or not at all.
import { request } from 'node:http'
import { afterAll, describe, expect, it } from 'vitest'
import { type RunCalls, startApi } from '../support/api.ts'

const cached = await startApi()
const bare = await startApi({ COATCHECK_CHUNK_CACHE_BYTES: '0' })
const small = await startApi({ COATCHECK_MAX_RESOLVED_BYTES: '100000' })
afterAll(async () => {
  for (const api of [cached, bare, small]) await api.close()
})

const rows = Array.from({ length: 20_000 }, (_, id) => ({ id, name: `é ${id}`, at: '\u2028"' }))
const JSON_VALUE = ` {"rows": ${JSON.stringify(rows)}, "n": 1.0 } `
const STRING = JSON.stringify('漢字🦊\0\n'.repeat(30_000))
const TEXT = '\u0001 "quoted" \\ 漢字🦊é\r\n'.repeat(20_000)

/** r1: a JSON value with white space around it; r2: a string; r3: a raw text. */
async function filled(run: RunCalls): Promise<RunCalls> {
  await run.putRaw(JSON_VALUE, 'application/vnd.x+json')
  await run.put(`{"output":${STRING}}`)
  await run.putRaw(TEXT, 'text/plain')
  return run
}

const REST =
  '"unresolved":[],"valid":null,"errors":[],"errors_total":0,"warnings":[],"failure":null}'
const CASES: readonly (readonly [args: string, resolved: string, names: string])[] = [
  ['{"x":"$r1"}', `{"x":${JSON_VALUE.trim()}}`, '["r1"]'],
  ['"$r1.rows"', JSON.stringify(rows), '["r1.rows"]'],
  ['["$r1.rows.5000.name", "$r1.n"]', '["é 5000", 1.0]', '["r1.rows.5000.name","r1.n"]'],
  ['"$r2"', STRING, '["r2"]'],
  [
    '{"a":["$r3"],"b":"$r3"}',
    `{"a":[${JSON.stringify(TEXT)}],"b":${JSON.stringify(TEXT)}}`,
    '["r3","r3"]',
  ],
  [
    '["$r2", "$r1#/rows/1", "$r1#" ]',
    `[${STRING}, ${JSON.stringify(rows[1])}, ${JSON_VALUE.trim()} ]`,
    '["r2","r1#/rows/1","r1#"]',
  ],
]

describe.each([
  ['a cache', cached],
  ['none', bare],
] as const)('a large reference, with %s', async (_, api) => {
  const run = await filled(api.newRun())

  it.each(CASES)(
    '%s is answered with its bytes and their length',
    async (args, resolved, names) => {
      const { status, headers, text, bytes } = await run.resolve(`{"arguments":${args}}`)
      expect(status).toBe(200)
      expect(headers['content-type']).toBe('application/json; charset=utf-8')
      expect(headers['content-length']).toBe(String(bytes.length))
      expect(headers['x-request-id']).toBeDefined()
      expect(text === `{"arguments":${resolved},"resolved":${names},${REST}`).toBe(true)
    },
  )

  it('that comes often is there each time', async () => {
    const row = JSON.stringify(rows.slice(7, 9))
    const args = '{"a":"$r1.rows.7","b":"$r1#/rows/8","n":"$r1.n","s":["$r2","$r1.rows.7"]},'
    const once = `{"a":${JSON.stringify(rows[7])},"b":${JSON.stringify(rows[8])},"n":1.0,"s":[${STRING},${JSON.stringify(rows[7])}]},`
    const { status, text } = await run.resolve(`{"arguments":[${args.repeat(20)}${row}]}`)
    expect(status).toBe(200)
    expect(text.startsWith(`{"arguments":[${once.repeat(20)}${row}],`)).toBe(true)
  })

  it('is the same when it is validated', async () => {
    const plain = await run.resolve('{"arguments":{"x":"$r1"}}')
    const schema = '{"properties":{"x":{"required":["rows"]}}}'
    const { text } = await run.resolve(`{"arguments":{"x":"$r1"},"input_schema":${schema}}`)
    expect(text === plain.text.replace('"valid":null', '"valid":true')).toBe(true)
  })
})

describe('the limit on resolved bytes', () => {
  it('is met before a value is read or built', async () => {
    const run = await filled(small.newRun())
    for (const args of ['"$r1"', '"$r1.rows"', '"$r2"', '"$r3"']) {
      const { status, body } = await run.resolve(`{"arguments":${args}}`)
      expect([args, status, body.code]).toEqual([args, 422, 'over_limit'])
      expect(body.detail).toMatch(/at least [0-9]{6,} bytes/)
    }
    expect((await run.resolve('{"arguments":["$r1.n","$r3.x"]}')).body.resolved).toEqual(['r1.n'])
  })
})

describe('a connection', async () => {
  const url = await bare.listen()
  const LARGE = 'x\n'.repeat(10_000_000)

  /** Asks for r1 resolved, and calls `then` with the first bytes in hand; how the reply ended. */
  function ask(
    run: RunCalls,
    then: (stop: () => void) => Promise<void>,
  ): Promise<{ received: number; promised: number; complete: boolean }> {
    return new Promise((resolve, reject) => {
      const headers = { 'content-type': 'application/json' }
      const call = request(`${url}${run.path}/resolve`, { method: 'POST', headers }, (reply) => {
        let received = 0
        reply.once('data', () => {
          reply.pause()
          then(() => call.destroy()).then(() => reply.resume(), reject)
        })
        reply.on('data', (piece: Buffer) => {
          received += piece.length
        })
        reply.on('error', () => undefined)
        reply.on('close', () =>
          resolve({
            received,
            promised: Number(reply.headers['content-length']),
            complete: reply.complete,
          }),
        )
      })
      call.on('error', reject)
      call.end('{"arguments":["$r1"]}')
    })
  }

  it('breaks when the value is erased on the way: no short reply looks whole', async () => {
    const run = bare.newRun()
    await run.putRaw(LARGE, 'text/plain')
    const { received, promised, complete } = await ask(run, async () => {
      await run.end('?purge=true')
    })
    expect(complete).toBe(false)
    expect(received).toBeLessThan(promised)
  })

  it('is read by the pace of a slow client, to the end', async () => {
    const run = bare.newRun()
    await run.putRaw(LARGE, 'text/plain')
    const { received, promised, complete } = await ask(
      run,
      () => new Promise((ok) => setTimeout(ok, 50)),
    )
    expect([received, complete]).toEqual([promised, true])
  })

  it('may be left in the middle; the service goes on', async () => {
    const run = bare.newRun()
    await run.putRaw(LARGE, 'text/plain')
    const { complete } = await ask(run, async (stop) => stop())
    expect(complete).toBe(false)
    expect((await run.resolve('{"arguments":1}')).status).toBe(200)
  })
})
