import { once } from 'node:events'
import { connect } from 'node:net'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import manifest from '../../package.json' with { type: 'json' }
import { buildApp } from '../../src/http/app.ts'
import type { Ledger } from '../../src/ledger/ledger.ts'
import { openLedger } from '../../src/ledger/open.ts'
import { openWith } from '../../src/ledger/sqlite/open.ts'
import type { ToWriter } from '../../src/ledger/sqlite/protocol/messages.ts'
import { startThread } from '../../src/ledger/sqlite/protocol/thread.ts'
import type { RunLimits } from '../../src/runs/context.ts'
import type { Validator } from '../../src/validation/validator.ts'
import { numberedLines, startApi } from '../support/api.ts'
import { NOW, POLICY, putText, RUN, temporaryFolder } from '../support/ledger.ts'

const UNUSED = {} as Validator
const LIMITS: RunLimits = {
  maxJsonDepthLevels: 8,
  defaultVerbatimChars: 2000,
  maxVerbatimChars: 2000,
  maxResolvedBytes: 1024,
  maxReferences: 1_000,
  maxErrors: 20,
  maxToolsPerRun: 1_000,
  maxListBytes: 4_194_304,
  inlineBytes: 262_144,
}

const api = await startApi()
afterAll(() => api.close())

/** The samples by name with labels. */
async function samples(): Promise<ReadonlyMap<string, number>> {
  const { status, headers, text } = await api.call('GET', '/metrics')
  expect(status).toBe(200)
  expect(headers['content-type']).toMatch(/^text\/plain/)
  const lines = text.split('\n').filter((line) => line !== '' && !line.startsWith('#'))
  return new Map(
    lines.map((line) => {
      const space = line.lastIndexOf(' ')
      return [line.slice(0, space), Number(line.slice(space + 1))]
    }),
  )
}

describe('the metrics', () => {
  // Fault: the durations of the probes alone, and what Node says of itself, came to more than 20 KB.
  it('of a service that is only asked for health are small, and say its version', async () => {
    const idle = await startApi()
    try {
      for (const path of ['/livez', '/readyz', '/metrics']) await idle.call('GET', path)
      const { text } = await idle.call('GET', '/metrics')
      expect(Buffer.byteLength(text)).toBeLessThan(20_000)
      expect(text).not.toContain('route="/livez"')
      expect(text).toContain(`coatcheck_build_info{version="${manifest.version}"} 1`)
    } finally {
      await idle.close()
    }
  })

  it('say how many runs and results there are, and how old the oldest open run is', async () => {
    const own = await startApi()
    try {
      for (const id of ['a', 'b', 'c'])
        await own.call('PUT', `/v1/runs/${id}`, '{}', { 'content-type': 'application/json' })
      await own.call('DELETE', '/v1/runs/a')
      const { text } = await own.call('GET', '/metrics')
      const metric = (name: string) => new RegExp(`^coatcheck_${name} (.*)$`, 'm').exec(text)?.[1]
      expect(metric('runs\\{state="open"\\}')).toBe('2')
      expect(metric('runs\\{state="ended"\\}')).toBe('1')
      expect([metric('results'), metric('kept_bytes')]).toEqual(['0', '0'])
      expect(metric('oldest_open_run_seconds')).toBe('0')
    } finally {
      await own.close()
    }
  })

  it('count what was put, shown, recalled, missed and referenced', async () => {
    const run = api.newRun()
    const text = numberedLines(5000)
    const puts = [
      await run.putRaw(text, 'text/plain', '?tool_use_id=a'),
      await run.put('{"output":{"n":1}}'),
      await run.putRaw('x', 'image/png'),
      await run.put('{"failure":{"message":"m"}}'),
      await run.put('{"suspension":{"reason":"r","input_schema":{}}}'),
    ].map(({ body }) => body)
    expect((await run.putRaw(text, 'text/plain', '?tool_use_id=a')).status).toBe(200)
    await run.recall('{"id":"a"}')
    await run.recall('{"id":"r1","range":{"start":1,"end":2}}')
    await run.recall('{"id":"nope"}')
    await run.recall('{"id":"r3"}')
    await run.recall('{"id":"a","range":{"start":9999}}')
    await run.resolve('{"arguments":["$r2","$r2.n","$r9","$r2.x","$r4","$HOME"]}')
    const seen = await samples()
    const sum = (numbers: readonly number[]): number => numbers.reduce((a, b) => a + b, 0)
    const expected = {
      'coatcheck_puts_total{outcome="output",kind="text"}': 1,
      'coatcheck_puts_total{outcome="output",kind="json"}': 1,
      'coatcheck_puts_total{outcome="output",kind="binary"}': 1,
      'coatcheck_puts_total{outcome="failure",kind="json"}': 1,
      'coatcheck_puts_total{outcome="suspension",kind="json"}': 1,
      coatcheck_put_bytes_total: sum(puts.map(({ total_bytes }) => total_bytes)),
      coatcheck_produced_chars_total: sum(puts.map(({ total_chars }) => total_chars ?? 0)),
      coatcheck_shown_chars_total: sum(puts.map(({ content }) => [...(content ?? '')].length)),
      coatcheck_recalls_total: 2,
      'coatcheck_recall_misses_total{reason="not_found"}': 1,
      'coatcheck_recall_misses_total{reason="no_text_view"}': 1,
      'coatcheck_recall_misses_total{reason="invalid_range"}': 1,
      'coatcheck_references_total{result="resolved"}': 2,
      'coatcheck_references_total{result="unknown_handle"}': 1,
      'coatcheck_references_total{result="path_not_found"}': 1,
      'coatcheck_references_total{result="failure"}': 1,
      coatcheck_committed_puts_total: 6,
    }
    const got = Object.fromEntries(Object.keys(expected).map((name) => [name, seen.get(name)]))
    expect(got).toEqual(expected)
  })

  it('time requests by route, never by path, and commits', async () => {
    const run = api.newRun()
    await run.put('{"tool_use_id":"secret-id","output":"secret-content"}')
    await run.recall('{"id":"secret-id"}')
    await api.call('GET', '/secret-path')
    const seen = await samples()
    const count = (route: string, method: string, status: number): number | undefined =>
      seen.get(
        `coatcheck_http_request_duration_seconds_count{method="${method}",route="${route}",status="${status}"}`,
      )
    expect(count('/v1/runs/:run_id/results', 'POST', 201)).toBeGreaterThanOrEqual(1)
    expect(count('/v1/runs/:run_id/recall', 'POST', 200)).toBeGreaterThanOrEqual(1)
    expect(seen.get('coatcheck_commit_duration_seconds_count')).toBeGreaterThanOrEqual(1)
    expect([...seen.keys()].join('\n')).not.toMatch(/secret|run-\d/)
  })
})

const appOver = (ledger: Ledger) =>
  buildApp({
    maxHeldAnswerBytes: 1_048_576,
    context: { ledger, validator: UNUSED, limits: LIMITS, now: () => NOW },
    bodyLimits: {
      maxHeldBytes: 1_000_000,
      maxJsonBodyBytes: 1024,
      maxRawBodyBytes: 1024,
      maxJsonDepthLevels: 8,
      maxDecompressionRatio: 200,
      inlineBytes: 262_144,
    },
    access: { tokens: undefined, allowUnauthenticated: false },
  })

describe('health', () => {
  // R5: nothing showed that a disk was about to be full
  it('tells the room on the disk, and the sizes of the ledger and its log', async () => {
    await api.newRun().putRaw(numberedLines(5000), 'text/plain', '?tool_use_id=a')
    const found = await samples()
    expect(found.get('coatcheck_free_disk_bytes')).toBeGreaterThan(0)
    expect(found.get('coatcheck_ledger_bytes')).toBeGreaterThan(0)
    expect(found.get('coatcheck_ledger_log_bytes')).toBeGreaterThan(0)
  })

  it('is alive and ready while the ledger answers', async () => {
    for (const path of ['/livez', '/readyz']) {
      const { status, body } = await api.call('GET', path)
      expect([status, body['status']]).toEqual([200, 'ok'])
    }
  })

  it('is alive but not ready when the ledger does not answer', async () => {
    const folder = temporaryFolder()
    const ledger = await openLedger(join(folder.path, 'ledger.db'), POLICY)
    const app = await appOver(ledger)
    expect((await app.inject('/readyz')).statusCode).toBe(200)
    await ledger.close()
    const ready = await app.inject('/readyz')
    expect([ready.statusCode, ready.json().code]).toEqual([503, 'ledger_unavailable'])
    expect(ready.json().detail).not.toContain(folder.path)
    expect((await app.inject('/livez')).statusCode).toBe(200)
    await app.close()
    folder.remove()
  })

  it('is alive but not ready when the writer of the ledger has ended, and reads go on', async () => {
    const folder = temporaryFolder()
    const path = join(folder.path, 'ledger.db')
    const port = startThread({ path, policy: POLICY })
    const ledger = await openWith(port, { path, policy: POLICY, options: {} })
    const app = await appOver(ledger)
    const url = '/v1/runs/run-1/results'
    const put = () => app.inject({ method: 'POST', url, payload: { output: 'kept' } })
    expect((await put()).statusCode).toBe(201)
    expect((await app.inject('/readyz')).statusCode).toBe(200)
    port.post(null as unknown as ToWriter, [])
    await port.gone()
    for (const reply of [await put(), await app.inject('/readyz')]) {
      expect([reply.statusCode, reply.json().code]).toEqual([503, 'ledger_unavailable'])
    }
    expect((await app.inject('/livez')).statusCode).toBe(200)
    expect((await app.inject(`${url}/r1/value`)).payload).toBe('"kept"')
    await app.close()
    await ledger.close()
    folder.remove()
  })

  it('refuses puts while too many wait, and says when to come again', async () => {
    const folder = temporaryFolder()
    const options = { queue: { puts: 0 } }
    const ledger = await openLedger(join(folder.path, 'ledger.db'), POLICY, options)
    const app = await appOver(ledger)
    const url = '/v1/runs/run-1/results'
    const reply = await app.inject({ method: 'POST', url, payload: { output: 1 } })
    expect([reply.statusCode, reply.headers['retry-after']]).toEqual([503, '1'])
    expect(reply.json()).toMatchObject({ code: 'overloaded', limit: 'queued_puts', value: 0 })
    expect((await app.inject('/readyz')).statusCode).toBe(200)
    await app.close()
    await ledger.close()
    folder.remove()
  })

  it('refuses such a put before its body is read, and reads on where the connection lasts', async () => {
    const folder = temporaryFolder()
    const options = { queue: { puts: 0 } }
    const ledger = await openLedger(join(folder.path, 'ledger.db'), POLICY, options)
    const app = await appOver(ledger)
    const socket = connect(Number(new URL(await app.listen({ port: 0 })).port))
    socket.setEncoding('latin1')
    socket.write(
      'POST /v1/runs/run-1/results HTTP/1.1\r\nhost: localhost\r\ncontent-type: text/plain\r\ncontent-length: 1000\r\n\r\n',
    )
    const [refused] = (await once(socket, 'data')) as [string]
    expect(refused).toMatch(/^HTTP\/1\.1 503 [\s\S]*\r\nretry-after: 1\r\n[\s\S]*"overloaded"/)
    socket.write(`${'x'.repeat(1000)}GET /livez HTTP/1.1\r\nhost: localhost\r\n\r\n`)
    expect((await once(socket, 'data'))[0]).toMatch(/^HTTP\/1\.1 200 /)
    socket.destroy()
    await app.close()
    await ledger.close()
    folder.remove()
  })

  it('tells how much waits to be committed', async () => {
    const folder = temporaryFolder()
    const ledger = await openLedger(join(folder.path, 'ledger.db'), POLICY)
    const app = await appOver(ledger)
    const queue = async () =>
      /coatcheck_queued_puts (\d+)[\s\S]*coatcheck_queued_bytes (\d+)/
        .exec((await app.inject('/metrics')).payload)
        ?.slice(1)
    // no answer of the writer arrives within this turn
    const put = ledger.append(RUN, putText('four'), NOW)
    expect(ledger.queued()).toEqual({ puts: 1, bytes: 4 })
    await put
    expect(await queue()).toEqual(['0', '0'])
    await app.close()
    await ledger.close()
    folder.remove()
  })
})
