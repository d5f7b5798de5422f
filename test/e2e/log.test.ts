// What the log of a real process says of requests that were refused.

import { connect } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { expect, it } from 'vitest'
import manifest from '../../package.json' with { type: 'json' }
import { startChild } from '../support/service.ts'

const BODY_BYTES = 700_000
const POLL_MS = 20

it('what is shed under load is a warning of one line, without a stack', async () => {
  const child = await startChild({
    env: { COATCHECK_MAX_JSON_BODY_BYTES: '1048576', COATCHECK_MAX_HELD_BODY_BYTES: '1024' },
  })
  const { hostname, port, host } = new URL(child.url)
  const stalled = connect({ host: hostname, port: Number(port) })
  try {
    const head = `POST /v1/runs/a/results HTTP/1.1\r\nhost: ${host}\r\ncontent-type: application/json\r\ncontent-length: ${BODY_BYTES}\r\n\r\n`
    stalled.write(head + ' '.repeat(BODY_BYTES - 1))
    const body = `{"output":"${'x'.repeat(BODY_BYTES)}"}`
    const headers = { 'content-type': 'application/json' }
    const held = /^coatcheck_held_body_bytes 6\d{5}$/m
    while (!held.test(await (await fetch(`${child.url}/metrics`)).text())) await sleep(POLL_MS)
    const answer = await fetch(`${child.url}/v1/runs/a/results`, { method: 'POST', headers, body })
    expect(answer.status).toBe(503)
  } finally {
    stalled.destroy()
    await child.stop()
  }
  const lines = child.output.split('\n').filter((line) => line.includes('"request refused"'))
  expect(JSON.parse(lines[0] as string)).toMatchObject({
    level: 40,
    request_id: expect.any(String),
    detail: expect.stringContaining('held_body_bytes'),
    limit: 'held_body_bytes',
    value: 1_048_576,
  })
  expect(child.output).not.toContain('"stack"')
})

it('the first line says the version, probes are logged at debug, and a short token is a warning', async () => {
  const env = { COATCHECK_TOKEN: 'fifteen-letters' }
  const child = await startChild({ env })
  const ready = await (await fetch(`${child.url}/readyz`)).json()
  await fetch(`${child.url}/nothing`)
  await child.stop()
  const lines = child.output
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as Record<string, unknown>)
  expect(lines[0]).toMatchObject({ version: manifest.version, node: process.versions.node })
  expect(ready).toEqual({ status: 'ok', version: manifest.version })
  const urls = lines.filter(({ msg }) => msg === 'request').map(({ url }) => url)
  expect(urls).toEqual(['/nothing'])
  const warned = lines.filter(({ level }) => level === 40).map(({ msg }) => msg)
  expect(warned).toContainEqual(expect.stringMatching(/^a token has fewer than 16 characters/))
  expect(child.output).not.toContain(env.COATCHECK_TOKEN)
})
