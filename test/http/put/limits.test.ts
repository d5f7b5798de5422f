import { Agent, request } from 'node:http'
import { afterAll, describe, expect, it } from 'vitest'
import { startApi } from '../../support/api.ts'

const KB = 1024

const api = await startApi({
  COATCHECK_MAX_JSON_BODY_BYTES: String(2 * KB),
  COATCHECK_MAX_RAW_BODY_BYTES: String(4 * KB),
  COATCHECK_MAX_JSON_DEPTH_LEVELS: '10',
  COATCHECK_MAX_RUNS: '8',
  COATCHECK_MAX_RESULTS_PER_RUN: '3',
  COATCHECK_MAX_BYTES_PER_RUN: '5000',
})
const url = await api.listen()
afterAll(() => api.close())

const json = (bytes: number): string => `{"output":"${'x'.repeat(bytes - 13)}"}`

describe('a body past its limit', () => {
  it('is refused with the limit and its value, JSON and raw, and nothing is kept', async () => {
    const run = api.newRun()
    const cases = [
      [await run.put(json(2 * KB + 1)), 'json_body_bytes', 2 * KB],
      [await run.putRaw('x'.repeat(4 * KB + 1), 'text/plain'), 'raw_body_bytes', 4 * KB],
      [await run.putRaw('x'.repeat(2 * KB + 1), 'application/x+json'), 'json_body_bytes', 2 * KB],
      [await run.resolve(`{"arguments":"${'x'.repeat(2 * KB)}"}`), 'json_body_bytes', 2 * KB],
    ] as const
    for (const [{ status, body }, limit, value] of cases) {
      expect(status).toBe(413)
      expect(body).toMatchObject({ code: 'body_too_large', limit, value })
      expect(body.detail).toContain(String(value))
    }
    expect((await run.read()).status).toBe(404)
  })

  it('is not past it with exactly that many bytes', async () => {
    const run = api.newRun()
    expect((await run.put(json(2 * KB))).status).toBe(201)
    await run.end('?purge=true')
    expect((await run.putRaw('x'.repeat(4 * KB), 'text/plain')).status).toBe(201)
    await run.end('?purge=true')
  })

  it('is noticed in chunks too, where no length says so before', async () => {
    const run = api.newRun()
    const pieces = Array.from({ length: 10 }, () => 'x'.repeat(KB))
    const answer = await send(`${run.path}/results`, pieces)
    expect(answer.status).toBe(413)
    expect(JSON.parse(answer.text)).toMatchObject({
      code: 'body_too_large',
      limit: 'raw_body_bytes',
    })
    expect((await run.read()).status).toBe(404)
  })
})

describe('a connection', () => {
  it('goes on after a problem', async () => {
    const run = api.newRun()
    const agent = new Agent({ keepAlive: true, maxSockets: 1 })
    const statuses = []
    for (const type of ['text/plain; charset=latin1', 'text/plain']) {
      const { status, reused } = await send(`${run.path}/results`, ['x'], { type, agent })
      statuses.push([status, reused])
    }
    agent.destroy()
    expect(statuses).toEqual([
      [415, false],
      [201, true],
    ])
    await run.end('?purge=true')
  })
})

describe('a body in pieces', () => {
  it('is whole however it is cut, also inside a character', async () => {
    const run = api.newRun()
    const text = Buffer.from('你好🦊é\r\n')
    const pieces = Array.from(text, (byte) => Buffer.from([byte]))
    expect((await send(`${run.path}/results`, pieces)).status).toBe(201)
    expect((await run.value('r1')).bytes).toEqual(text)
    await run.end('?purge=true')
  })

  it('that breaks off is not kept', async () => {
    const run = api.newRun()
    await new Promise<void>((resolve) => {
      const call = request(`${url}${run.path}/results`, {
        method: 'POST',
        headers: { 'content-type': 'text/plain', 'content-length': '100' },
      })
      call.on('error', () => resolve())
      call.write('only the first part', () => call.destroy(new Error('gone')))
    })
    expect((await run.read()).status).toBe(404)
    expect((await run.putRaw('whole', 'text/plain')).body.handle).toBe('r1')
    await run.end('?purge=true')
  })
})

describe('a limit of the ledger', () => {
  it('on results of a run is named, and the run goes on as it was', async () => {
    const run = api.newRun()
    for (let n = 0; n < 3; n++) expect((await run.put(`{"output": ${n}}`)).status).toBe(201)
    const { status, body } = await run.put('{"output": 3}')
    expect(status).toBe(422)
    expect(body).toMatchObject({ code: 'over_limit', value: 3 })
    expect(body.limit).toContain('results')
    expect((await run.read()).body.results).toBe(3)
    await run.end('?purge=true')
  })

  it('on bytes of a run is named', async () => {
    const run = api.newRun()
    expect((await run.putRaw('x'.repeat(4000), 'text/plain')).status).toBe(201)
    const { status, body } = await run.putRaw('x'.repeat(1001), 'text/plain')
    expect([status, body.code, body.value]).toEqual([422, 'over_limit', 5000])
    expect(body.limit).toContain('bytes')
    expect((await run.putRaw('x'.repeat(1000), 'text/plain')).body.handle).toBe('r2')
    await run.end('?purge=true')
  })

  it('on runs is named, by a put and by PUT', async () => {
    const runs = Array.from({ length: 8 }, () => api.newRun())
    for (const run of runs) expect((await run.open()).status).toBe(201)
    const more = api.newRun()
    for (const { status, body } of [await more.put('{"output": 1}'), await more.open()]) {
      expect([status, body.code, body.value]).toEqual([422, 'over_limit', 8])
      expect(body.limit).toContain('runs')
    }
    for (const run of runs) await run.end('?purge=true')
    expect((await more.open()).status).toBe(201)
  })

  it('on depth is the setting, also of raw JSON', async () => {
    const run = api.newRun()
    const nested = (levels: number): string => '['.repeat(levels) + ']'.repeat(levels)
    for (const put of [
      await run.put(`{"output": ${nested(10)}}`),
      await run.putRaw(nested(11), 'application/x+json'),
    ]) {
      expect([put.status, put.body.code]).toEqual([400, 'json_too_deep'])
      expect(put.body.detail).toContain('10')
    }
  })
})

/** Sends `pieces` one by one, without a length. */
function send(
  path: string,
  pieces: readonly (string | Buffer)[],
  { type = 'text/plain', agent }: { readonly type?: string; readonly agent?: Agent } = {},
): Promise<{
  readonly status: number | undefined
  readonly text: string
  readonly reused: boolean
}> {
  return new Promise((resolve, reject) => {
    const headers = { 'content-type': type }
    const call = request(url + path, { method: 'POST', headers, agent }, (reply) => {
      let text = ''
      reply.setEncoding('utf8').on('data', (piece: string) => {
        text += piece
      })
      reply.on('end', () => resolve({ status: reply.statusCode, text, reused: call.reusedSocket }))
    })
    call.on('error', reject)
    const write = (i: number): void => {
      const piece = pieces[i]
      if (piece === undefined) call.end()
      else call.write(piece, () => setImmediate(write, i + 1))
    }
    write(0)
  })
}
