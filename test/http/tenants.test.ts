// Several tokens, each with runs of its own: what one tenant has, no other sees, counts, changes or is told of.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { type Answer, type Headers, startApi } from '../support/api.ts'
import { SECOND_MS } from '../support/ledger.ts'

const folder = mkdtempSync(join(tmpdir(), 'coatcheck-tenants-'))
const file = join(folder, 'tokens')
writeFileSync(file, '# tenants\r\nacme:token-of-acme\n\nacme:next-of-acme\nzeta:token/of+zeta==\n')

const MAX_RUNS = 3
const TTL_SECONDS = 100
const api = await startApi({
  COATCHECK_TOKENS_FILE: file,
  COATCHECK_TOKEN: 'token-of-the-operator',
  COATCHECK_MAX_RUNS: String(MAX_RUNS),
  COATCHECK_RUN_TTL_SECONDS: String(TTL_SECONDS),
})
afterAll(async () => {
  await api.close()
  rmSync(folder, { recursive: true })
})

const JSON_TYPE = { 'content-type': 'application/json' }
const as = (token: string): Headers => ({ authorization: `Bearer ${token}` })
const ACME = as('token-of-acme')
const ZETA = as('token/of+zeta==')
const OPERATOR = as('token-of-the-operator')

const post = (who: Headers, path: string, body: string) =>
  api.call('POST', `/v1/runs/${path}`, body, { ...JSON_TYPE, ...who })
const get = (who: Headers, path: string) => api.call('GET', `/v1/runs${path}`, undefined, who)

/** Everything that can be asked of a run and its first result. */
async function readsOf(who: Headers, run: string): Promise<readonly Answer[]> {
  return [
    await get(who, `/${run}`),
    await get(who, `/${run}/results`),
    await get(who, `/${run}/results?tool_use_id=call`),
    await get(who, `/${run}/results/r1`),
    await get(who, `/${run}/results/r1/content`),
    await get(who, `/${run}/results/r1/value`),
    await post(who, `${run}/recall`, '{"id":"call"}'),
    await post(who, `${run}/recall`, '{"id":"r1"}'),
  ]
}

/** An answer as it is for any name of a run, without its request id. */
const shapeOf = ({ status, text }: Answer, run: string): string =>
  `${status} ${text.replaceAll(run, 'RUN').replace(/"instance":"[^"]*"/, '')}`

describe('a tenant', () => {
  it('has its own run of a name that another has too', async () => {
    for (const [who, output] of [
      [ACME, 'of acme'],
      [ZETA, 'of zeta'],
      [OPERATOR, 'of the operator'],
    ] as const) {
      const put = await post(who, 'same/results', JSON.stringify({ tool_use_id: 'call', output }))
      expect([put.status, put.body['handle']]).toEqual([201, 'r1'])
    }
    expect((await get(ACME, '/same/results/r1/value')).text).toBe('"of acme"')
    expect((await post(ZETA, 'same/recall', '{"id":"call"}')).body['content']).toBe('of zeta')
    const resolved = await post(ACME, 'same/resolve', '{"arguments":{"a":"$r1"}}')
    expect(resolved.body['arguments']).toEqual({ a: 'of acme' })
  })

  it('reads by each of its tokens', async () => {
    expect((await get(as('next-of-acme'), '/same/results/r1/value')).text).toBe('"of acme"')
  })

  it('lists and counts only its own', async () => {
    await post(ACME, 'own/results', '{"output":1}')
    const listed = async (who: Headers) =>
      ((await get(who, '')).body['items'] as { run_id: string; results: number }[]).map(
        ({ run_id, results }) => [run_id, results],
      )
    expect(await listed(ACME)).toEqual([
      ['own', 1],
      ['same', 1],
    ])
    expect(await listed(ZETA)).toEqual([['same', 1]])
    expect(await listed(OPERATOR)).toEqual([['same', 1]])
  })

  it('is told of the runs of another what it is told of runs that never were', async () => {
    await post(ACME, 'private/results', '{"tool_use_id":"call","output":"hidden"}')
    const [foreign, absent] = [await readsOf(ZETA, 'private'), await readsOf(ZETA, 'nowhere')]
    expect(foreign.map((answer) => shapeOf(answer, 'private'))).toEqual(
      absent.map((answer) => shapeOf(answer, 'nowhere')),
    )
    for (const { status, body } of foreign) expect([status, body.code]).toEqual([404, 'not_found'])
    const resolved = await post(ZETA, 'private/resolve', '{"arguments":"$r1"}')
    expect(resolved.body).toMatchObject({ arguments: '$r1', resolved: [] })
    expect(resolved.text).not.toContain('hidden')
  })

  it.each(['', '?purge=true'])('ends nothing of another: DELETE%s', async (query) => {
    const { body } = await api.call('DELETE', `/v1/runs/private${query}`, undefined, ZETA)
    expect(body).toMatchObject({ results: 0, kept_bytes: 0 })
    expect((await get(ACME, '/private/results/r1/value')).text).toBe('"hidden"')
    expect((await get(ACME, '/private')).body['state']).toBe('open')
  })

  it('has tools that no other can call by name', async () => {
    const put = (who: Headers) =>
      api.call('PUT', '/v1/runs/same/tools/t', '{"input_schema":{}}', { ...JSON_TYPE, ...who })
    expect((await put(ACME)).status).toBe(201)
    const call = '{"arguments":1,"tool_name":"t"}'
    expect((await post(ACME, 'same/resolve', call)).status).toBe(200)
    expect((await post(ZETA, 'same/resolve', call)).body.code).toBe('tool_not_registered')
  })

  it('has the limit of runs for itself', async () => {
    // three are there: own, private, same
    const full = await post(ACME, 'fourth/results', '{"output":1}')
    expect([full.status, full.body.code, full.body.limit]).toEqual([422, 'over_limit', 'runs'])
    expect((await post(ZETA, 'second/results', '{"output":1}')).status).toBe(201)
  })

  it('does not keep the run of another from expiring, nor does a request without a token', async () => {
    for (const [who, state] of [
      [ZETA, 'expired'],
      [{}, 'expired'],
      [as('wrong'), 'expired'],
      [ACME, 'open'],
    ] as const) {
      await api.call('DELETE', '/v1/runs/idle?purge=true', undefined, OPERATOR)
      await api.call('DELETE', '/v1/runs/own?purge=true', undefined, ACME)
      await post(ACME, 'own/results', '{"output":1}')
      api.clock.now += (TTL_SECONDS - 1) * SECOND_MS
      await get(who, '/own/results')
      api.clock.now += 2 * SECOND_MS
      expect([who, (await get(ACME, '/own')).body['state']]).toEqual([who, state])
    }
  })

  it('does not read the metrics, which are of all; the operator does', async () => {
    const { status, body } = await api.call('GET', '/metrics', undefined, ACME)
    expect([status, body.code]).toEqual([401, 'unauthorized'])
    expect(body.detail).toMatch(/all tenants/)
    const { text } = await api.call('GET', '/metrics', undefined, OPERATOR)
    expect(text).toContain('coatcheck_puts_total')
    expect(text).not.toMatch(/acme|zeta|private/)
  })

  it('finds all of it after a restart', async () => {
    await api.restart()
    expect((await get(ACME, '/same/results/r1/value')).text).toBe('"of acme"')
    expect((await get(ZETA, '/same/results/r1/value')).text).toBe('"of zeta"')
  })
})

describe('with tokens in a file', () => {
  it('whoever has none of them is refused, and health is open', async () => {
    for (const who of [{}, as('token-of-nobody'), as('acme:token-of-acme'), as('')]) {
      const { status, body, text } = await get(who, '')
      expect([status, body.code]).toEqual([401, 'unauthorized'])
      expect(body.detail).toContain('COATCHECK_TOKENS_FILE')
      expect(text).not.toMatch(/token-of/)
    }
    for (const path of ['/livez', '/readyz', '/openapi.json']) {
      expect((await api.call('GET', path)).status).toBe(200)
    }
  })
})
