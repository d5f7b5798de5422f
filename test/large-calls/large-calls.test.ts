// Large calls are answered in a thread, by the same application: the same answers, problems, counts and bytes.
import { afterAll, describe, expect, it } from 'vitest'
import { startApi } from '../support/api.ts'

/** So low that every other call is a large one. */
const SMALL = { COATCHECK_INLINE_BYTES: '1024' }
const here = await startApi()
const there = await startApi(SMALL)
afterAll(() => Promise.all([here.close(), there.close()]))

const PAD = 'x'.repeat(5_000)
const KEY = { 'idempotency-key': 'one' }

/** What both services answer to the same calls of a run of their own. */
async function both(
  calls: (run: ReturnType<typeof here.newRun>) => Promise<readonly unknown[]>,
): Promise<void> {
  const [one, other] = [here.newRun(), there.newRun()]
  const expected = JSON.stringify(await calls(one)).replaceAll(one.id, 'RUN')
  expect(JSON.stringify(await calls(other)).replaceAll(other.id, 'RUN')).toBe(expected)
}

const shown = ({ status, text }: { readonly status: number; readonly text: string }) => [
  status,
  text.replace(/"instance":"[^"]*"/, ''),
]

describe('a large call', () => {
  it('puts, reads, recalls and resolves as a small one does', () =>
    both(async (run) => [
      shown(await run.open(JSON.stringify({ tools: { t: { input_schema: { title: PAD } } } }))),
      shown(await run.put(`{"tool_use_id":"a","output":{"rows":[1.0,"${PAD}",{"x":"é"}]}}`)),
      // a retry, and another value under the same id
      shown(await run.put(`{"tool_use_id":"a","output":{"rows":[1.0,"${PAD}",{"x":"é"}]}}`)),
      shown(await run.put(`{"tool_use_id":"a","output":["${PAD}"]}`)),
      shown(await run.put(`{"tool_name":"t","failure":{"message":"${PAD}"}}`)),
      shown(await run.putRaw(`["${PAD}"]`, 'application/vnd.tool+json', '?tool_use_id=raw')),
      shown(await run.value('r1', '?path=rows.1')),
      shown(await run.value('r1', '?pointer=/rows&as=text', { range: 'bytes=-7' })),
      shown(await run.value('r1', '?path=none')),
      shown(await run.content('r1', '?render=verbatim')),
      shown(await run.content('r3')),
      shown(await run.recall('{"id":"a"}')),
      shown(await run.resolve(`{"arguments":{"a":"$r1.rows.2","b":"$r1.rows.9"},"tool_name":"t"}`)),
      shown(await run.resolve(`{"arguments":{"pad":"${PAD}","a":"$r2","n":"$r99"}}`)),
      shown(await run.list()).slice(0, 1),
    ]))

  it('is refused as a small one is', () =>
    both(async (run) => [
      shown(await run.put(`{"output":"${PAD}","x":1}`)),
      shown(await run.put(`{"output":"${PAD}"`)),
      shown(await run.put(`["${PAD}"]`)),
      shown(await run.tool('t', `{"input_schema":{"type":"${PAD}"}}`)),
      shown(await run.resolve(`{"arguments":{"a":"${PAD}"},"tool_name":"none"}`)),
    ]))

  it('is a retry by its key, also one whose value is too large to be shown here', async () => {
    const run = there.newRun()
    const first = await run.put(`{"output":{"a":"${PAD}"}}`, KEY)
    const again = await run.put('{"output":1}', KEY)
    expect([first.status, again.status]).toEqual([201, 200])
    expect(again.body).toEqual(first.body)
    expect((await run.put(`{"output":{"a":"${PAD}"}}`, KEY)).body).toEqual(first.body)
    expect((await run.read()).body).toMatchObject({ results: 1 })
  })

  it('is counted, has its headers, and answers a HEAD', async () => {
    const run = there.newRun()
    await run.put(`{"output":{"a":"${PAD}"}}`)
    const url = `${run.path}/results/r1/value?path=a`
    const get = await there.call('GET', url)
    const head = await there.call('HEAD', url)
    expect(get.headers).toMatchObject({
      'content-length': `${PAD.length + 2}`,
      'content-type': 'application/json',
      'x-content-type-options': 'nosniff',
    })
    expect([head.status, head.text, head.headers['content-length']]).toEqual([
      200,
      '',
      `${PAD.length + 2}`,
    ])
    const none = await there.call('GET', url, undefined, {
      'if-none-match': String(get.headers['etag']),
    })
    expect([none.status, none.text]).toEqual([304, ''])
    const { text } = await there.call('GET', '/metrics')
    expect(text).toMatch(/coatcheck_puts_total\{outcome="output",kind="json"\} [1-9]/)
  })

  it('is of its tenant and its time', async () => {
    const run = there.newRun()
    await run.put(`{"output":{"a":"${PAD}"}}`)
    there.clock.now += 60_000
    await run.put(`{"output":["${PAD}"]}`)
    const created = (await run.list()).body.items.map(({ created_at }) => Date.parse(created_at))
    expect((created[1] ?? 0) - (created[0] ?? 0)).toBe(60_000)
  })
})

describe('a large call that takes more than it may', () => {
  it('is a 422 with the limit, and the next one is answered', async () => {
    const api = await startApi({ ...SMALL, COATCHECK_LARGE_CALL_CPU_SECONDS: '1' })
    try {
      const members = Array.from({ length: 1_500_000 }, (_, n) => `"${(n * 7_919) % 1_500_007}":1`)
      const value = `{"value":{${members.join(',')}}}`
      const { status, body } = await api.json('POST', '/v1/content-string', value)
      expect([status, body]).toMatchObject([
        422,
        { code: 'over_limit', limit: 'large_call_cpu_seconds', value: 1 },
      ])
      const next = await api.json('POST', '/v1/content-string', `{"value":"${PAD}"}`)
      expect(next.status).toBe(200)
    } finally {
      await api.close()
    }
  })
})
