import { afterAll, describe, expect, it } from 'vitest'
import { type Answer, type RunCalls, startApi } from '../support/api.ts'
import { SECOND_MS } from '../support/ledger.ts'

const TTL_SECONDS = 100
const RETENTION_SECONDS = 1000

const api = await startApi({
  COATCHECK_RUN_TTL_SECONDS: String(TTL_SECONDS),
  COATCHECK_RETENTION_SECONDS: String(RETENTION_SECONDS),
})
afterAll(() => api.close())

const pass = (seconds: number): void => {
  api.clock.now += seconds * SECOND_MS
}

/** Puts, resolves and changes. */
const writes = async (run: RunCalls): Promise<readonly Answer<object>[]> => [
  await run.put('{"tool_use_id":"a","output":"kept"}'),
  await run.putRaw('x', 'text/plain'),
  await run.resolve('{"arguments":"$r1"}'),
  await run.open('{"ttl_seconds":1000}'),
  await run.tool('t', '{"input_schema":{}}'),
]

async function expectReadable(run: RunCalls): Promise<void> {
  expect((await run.recall('{"id":"a"}')).body.content).toBe('kept')
  expect((await run.recall('{"id":"r1"}')).body.content).toBe('kept')
  expect((await run.value('r1')).text).toBe('"kept"')
  expect((await run.content('r1')).body.content).toBe('kept')
  expect((await run.list()).body.items).toHaveLength(1)
}

async function expectGone(run: RunCalls): Promise<void> {
  for (const { status, body } of [
    await run.recall('{"id":"a"}'),
    await run.value('r1'),
    await run.content('r1'),
    await run.result('r1'),
    await run.list(),
    ...(await writes(run)),
  ]) {
    expect([status, body.code]).toEqual([410, 'evicted'])
  }
}

async function keptRun(): Promise<RunCalls> {
  const run = api.newRun()
  expect((await run.put('{"tool_use_id":"a","output":"kept"}')).status).toBe(201)
  return run
}

describe('DELETE', () => {
  it('ends a run: no put, resolve or change any more, but its evidence is there', async () => {
    const run = await keptRun()
    const ended = await run.end()
    expect(ended.body).toEqual({
      run_id: run.id,
      purged: false,
      results: 1,
      kept_bytes: 6,
      erased: null,
    })
    for (const { status, body } of await writes(run)) {
      expect([status, body.code]).toEqual([410, 'ended'])
      expect(body.detail).toContain(run.id)
    }
    await expectReadable(run)
    expect((await run.read()).body).toMatchObject({ state: 'ended', results: 1 })
  })

  it('again is no error', async () => {
    const run = await keptRun()
    await run.end()
    const { body } = await run.read()
    pass(10)
    expect((await run.end()).body).toMatchObject({ results: 1, kept_bytes: 6 })
    expect((await run.read()).body.ended_at).toBe(body.ended_at)
  })

  it('of an unknown run counts nothing and makes nothing', async () => {
    const run = api.newRun()
    for (const query of ['', '?purge=true', '?purge=false']) {
      const { status, body } = await run.end(query)
      expect(status).toBe(200)
      expect(body).toEqual({
        run_id: run.id,
        purged: query === '?purge=true',
        results: 0,
        kept_bytes: 0,
        erased: query === '?purge=true' ? 'done' : null,
      })
    }
    expect((await run.read()).status).toBe(404)
  })

  it('with purge erases everything, and numbering goes on if the name comes back', async () => {
    const run = await keptRun()
    await run.put('{"output":2}')
    expect((await run.end('?purge=true')).body).toEqual({
      run_id: run.id,
      purged: true,
      results: 2,
      kept_bytes: 7,
      erased: 'done',
    })
    for (const { status, body } of [
      await run.read(),
      await run.recall('{"id":"a"}'),
      await run.value('r1'),
      await run.list(),
    ]) {
      expect([status, body.code]).toEqual([404, 'not_found'])
    }
    await api.restart()
    const put = await run.put('{"tool_use_id":"a","output":"again"}')
    expect([put.status, put.body.handle, put.body.evidence_id]).toEqual([201, 'r3', 'a'])
    expect((await run.value('r1')).status).toBe(404)
    expect((await run.resolve('{"arguments":"$r1"}')).body.unresolved[0]).toMatchObject({
      reason: 'unknown_handle',
      available: ['r3'],
    })
    expect((await run.read()).body).toMatchObject({ state: 'open', results: 1 })
  })

  it('with purge frees the name of an ended run, of an expired one, and of an evicted one', async () => {
    const ways = [
      async (run: RunCalls) => void (await run.end()),
      async () => pass(TTL_SECONDS + 1),
      async () => pass(TTL_SECONDS + RETENTION_SECONDS + 2),
    ]
    for (const end of ways) {
      const run = await keptRun()
      await end(run)
      expect((await run.put('{"output":1}')).status).toBe(410)
      expect((await run.end('?purge=true')).status).toBe(200)
      expect((await run.put('{"output":1}')).body.handle).toBe('r2')
    }
  })

  it.each(['?purge=yes', '?purge=1', '?purged=true', '?purge='])('refuses %s', async (query) => {
    const run = await keptRun()
    expect((await run.end(query)).status).toBe(400)
    expect((await run.read()).body.state).toBe('open')
  })

  it('may come with a JSON content type and no body', async () => {
    const run = await keptRun()
    const answer = await api.call('DELETE', run.path, undefined, {
      'content-type': 'application/json',
    })
    expect(answer.status).toBe(200)
  })
})

describe('a run that idles', () => {
  it('expires after its time: as ended, with a code of its own', async () => {
    const run = await keptRun()
    pass(TTL_SECONDS)
    expect((await run.resolve('{"arguments":1}')).status).toBe(200)
    pass(TTL_SECONDS + 1)
    for (const { status, body } of await writes(run)) {
      expect([status, body.code]).toEqual([410, 'expired'])
      expect(body).toMatchObject({ limit: 'ttl_seconds', value: TTL_SECONDS })
    }
    await expectReadable(run)
    expect((await run.read()).body.state).toBe('expired')
  })

  it('is kept open by any request that is about it, also by a read', async () => {
    const run = await keptRun()
    const requests = [
      () => run.read(),
      () => run.list(),
      () => run.value('r1'),
      () => run.content('r1'),
      () => run.result('r1'),
      () => run.recall('{"id":"a"}'),
      () => run.resolve('{"arguments":1}'),
      () => run.open(),
      () => run.put('{"tool_use_id":"a","output":"kept"}'),
      () => api.call('HEAD', `${run.path}/results/r1/value`),
    ]
    for (const request of requests) {
      pass(TTL_SECONDS - 1)
      expect((await request()).status).toBe(200)
    }
    pass(TTL_SECONDS - 1)
    expect((await run.put('{"output":1}')).status).toBe(201)
    expect((await run.read()).body.state).toBe('open')
  })

  it('counts from its last request after a restart as well', async () => {
    const run = await keptRun()
    pass(TTL_SECONDS - 1)
    await run.read()
    await api.restart()
    pass(TTL_SECONDS - 1)
    expect((await run.put('{"output":1}')).status).toBe(201)
  })

  it('is not brought back by a read after its time', async () => {
    const run = await keptRun()
    pass(TTL_SECONDS + 1)
    await run.read()
    await run.recall('{"id":"a"}')
    expect((await run.put('{"output":1}')).body.code).toBe('expired')
  })

  it('has the time that it was given', async () => {
    const run = await keptRun()
    await run.open('{"ttl_seconds":1000}')
    pass(999)
    expect((await run.open('{"ttl_seconds":10}')).status).toBe(200)
    pass(11)
    expect((await run.put('{"output":1}')).body).toMatchObject({ code: 'expired', value: 10 })
  })
})

describe('retention', () => {
  it('counts from the end; then the evidence is gone, and says so', async () => {
    const [ended, expired] = [await keptRun(), await keptRun()]
    await ended.end()
    pass(RETENTION_SECONDS)
    await expectReadable(ended)
    pass(1)
    await expectGone(ended)
    pass(TTL_SECONDS)
    await expectGone(expired)
    const { status, body } = await ended.read()
    expect([status, body.state]).toEqual([200, 'evicted'])
  })

  it('of evicted runs is the same after a restart', async () => {
    const run = await keptRun()
    await run.end()
    pass(RETENTION_SECONDS + 1)
    await api.restart()
    await expectGone(run)
    expect((await run.end()).status).toBe(200)
  })
})

describe('what cannot be put into', () => {
  it('says which of the reasons it is, and what to do', async () => {
    const [full, gone] = [await startApi({ COATCHECK_MAX_RESULTS_PER_RUN: '1' }), api.newRun()]
    const fullRun = full.newRun()
    await fullRun.put('{"output":1}')
    const [expired, evicted] = [await keptRun(), await keptRun()]
    await evicted.end()
    pass(RETENTION_SECONDS + 1)
    const answers = [
      await gone.read(),
      await (await endedNow()).put('{"output":1}'),
      await expired.put('{"output":1}'),
      await evicted.put('{"output":1}'),
      await fullRun.put('{"output":1}'),
    ]
    await full.close()
    expect(answers.map(({ status, body }) => [status, body.code])).toEqual([
      [404, 'not_found'],
      [410, 'ended'],
      [410, 'expired'],
      [410, 'evicted'],
      [422, 'over_limit'],
    ])
    const advice = [
      /begins with its first put/,
      /another run/,
      /another run/,
      /Purge it/,
      /another run/,
    ]
    for (const [n, { body }] of answers.entries()) expect(body.detail).toMatch(advice[n] as RegExp)
  })
})

async function endedNow(): Promise<RunCalls> {
  const run = await keptRun()
  await run.end()
  return run
}
