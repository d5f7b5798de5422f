// What must not be found again: secrets and payloads in the log, and what was purged in any file of the ledger.
import { execFileSync } from 'node:child_process'
import { readdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { temporaryFolder } from '../support/ledger.ts'
import { type ServiceChild, startChild } from '../support/service.ts'

/** In all that a client sends but for the names of runs. */
const SECRET = 'zq-secret-91fe'
const TOKEN = `${SECRET}-token`
const RUN = 'named-run'

const folder = temporaryFolder()
const tokens = join(folder.path, 'tokens')
let child: ServiceChild
beforeAll(async () => {
  writeFileSync(tokens, `acme:${TOKEN}\n`)
  const env = {
    COATCHECK_LOG_LEVEL: 'trace',
    COATCHECK_TOKENS_FILE: tokens,
    COATCHECK_MAX_SCHEMA_BYTES: '1024',
    COATCHECK_LEDGER: join(folder.path, 'data', 'ledger.db'),
  }
  child = await startChild({ env })
})
afterAll(async () => {
  await child.stop()
  folder.remove()
})

const HEADERS = { authorization: `Bearer ${TOKEN}`, cookie: SECRET, 'x-api-key': SECRET }
const JSON_TYPE = { 'content-type': 'application/json' }

async function call(method: string, path: string, body?: string | Buffer, more = {}) {
  const headers = { ...HEADERS, ...more }
  const content = body === undefined ? {} : { body: Buffer.from(body) }
  const reply = await fetch(`${child.url}${path}`, { method, headers, ...content })
  return { status: reply.status, text: await reply.text() }
}

/** Which files beside the ledger hold the secret; read by another process, which drops no lock of SQLite. */
function filesWithSecret(): readonly string[] {
  const at = dirname(child.ledger)
  return readdirSync(at).filter((name) => {
    const script = 'grep -c -a "$0" "$1" || true'
    return Number(execFileSync('sh', ['-c', script, SECRET, join(at, name)]).toString()) > 0
  })
}

const results = `/v1/runs/${RUN}/results`

/** Calls of every kind, good and bad, with the secret wherever a client can put one. */
async function sendSecrets(): Promise<void> {
  const envelope = JSON.stringify({
    tool_use_id: SECRET,
    tool_name: SECRET,
    output: { [SECRET]: SECRET },
  })
  const query = `?tool_use_id=${SECRET}-raw&tool_name=${SECRET}`
  const schema = JSON.stringify({ input_schema: { properties: { [SECRET]: { const: SECRET } } } })
  const text = { 'content-type': `text/plain; note=${SECRET}` }
  const good = [
    await call('POST', results, envelope, { ...JSON_TYPE, 'idempotency-key': SECRET }),
    await call('POST', results + query, `${SECRET}\n`.repeat(9_000), text),
    await call('POST', results, gzipSync(SECRET), { ...text, 'content-encoding': 'gzip' }),
    await call('PUT', `/v1/runs/${RUN}/tools/t`, schema, JSON_TYPE),
    await call(
      'POST',
      `/v1/runs/${RUN}/resolve`,
      `{"arguments":{"${SECRET}":"$r1"},"tool_name":"t"}`,
      JSON_TYPE,
    ),
    await call('POST', `/v1/runs/${RUN}/recall`, `{"id":"${SECRET}"}`, JSON_TYPE),
    await call('GET', `${results}/r1/value?path=${SECRET}`),
    await call('GET', `${results}/r2/value`),
  ]
  expect(good.map(({ status }) => status)).toEqual([201, 201, 201, 201, 200, 200, 200, 200])
  const bad = [
    await call('POST', results, `{"${SECRET}":1}`, JSON_TYPE),
    await call('POST', results, `{"output":${SECRET}`, JSON_TYPE),
    await call('POST', results, SECRET, { 'content-type': SECRET }),
    await call('POST', results, SECRET, { ...text, 'content-encoding': SECRET }),
    await call('POST', results, `{"output":1,"output":"${SECRET}"}`, JSON_TYPE),
    await call('POST', `/v1/runs/${RUN}/recall`, `{"id":"${SECRET}-none"}`, JSON_TYPE),
    await call('GET', `${results}/r1/value?pointer=${SECRET}`),
    await call('GET', `${results}/r1/value?${SECRET}=1`),
    await call('GET', `${results}?tool_use_id=%ff${SECRET}`),
    await call('GET', '/v1/runs', undefined, { authorization: `Bearer ${SECRET}-wrong` }),
    await call('GET', '/v1/runs', undefined, { authorization: `Basic ${SECRET}` }),
    await call(
      'PUT',
      `/v1/runs/${RUN}/tools/t`,
      `{"input_schema":{"type":"${SECRET}"}}`,
      JSON_TYPE,
    ),
    await call(
      'PUT',
      `/v1/runs/${RUN}/tools/t`,
      `{"input_schema":{"a":"${SECRET.repeat(200)}"}}`,
      JSON_TYPE,
    ),
    await call('GET', '/metrics'),
  ]
  for (const { status, text: answer } of bad)
    expect([status, answer]).toMatchObject([
      expect.toSatisfy((n: number) => n >= 400 && n < 500),
      {},
    ])
}

describe('a secret that was sent', () => {
  it('is not in the log, whatever the level, but the names of runs are', async () => {
    await sendSecrets()
    writeFileSync(tokens, `acme ${SECRET} without a colon\n`)
    while (!child.output.includes('cannot be used')) await new Promise((r) => setTimeout(r, 50))
    expect(child.output).toContain(RUN)
    const lines = child.output.split('\n').filter((line) => line.includes(SECRET))
    expect(lines).toEqual([])
  })

  it('is in no file of the ledger once its run was purged, nor is it answered from memory', async () => {
    expect(filesWithSecret()).not.toEqual([])
    expect((await call('DELETE', `/v1/runs/${RUN}?purge=true`)).status).toBe(200)
    expect(filesWithSecret()).toEqual([])
    for (const path of [
      `${results}/r1/value`,
      `${results}/r2/value`,
      `${results}?tool_use_id=${SECRET}`,
      `/v1/runs/${RUN}`,
    ]) {
      expect((await call('GET', path)).status).toBe(404)
    }
    const resolved = await call(
      'POST',
      `/v1/runs/${RUN}/resolve`,
      '{"arguments":["$r1","$r2"]}',
      JSON_TYPE,
    )
    expect(resolved.text).not.toContain(SECRET)
  })
})
