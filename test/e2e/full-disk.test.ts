// A log that cannot be written: the service once ended by the error of its first line.
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { closeSync, openSync } from 'node:fs'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { afterAll, describe, expect, it } from 'vitest'
import type { PutAnswer } from '../../src/runs/answer.ts'
import { temporaryFolder } from '../support/ledger.ts'

const MAIN = fileURLToPath(new URL('../../src/main.ts', import.meta.url))
/** Every write to it fails with ENOSPC. */
const FULL = '/dev/full'
const START_MS = 30_000
const POLL_MS = 20

const folder = temporaryFolder()
afterAll(() => folder.remove())

/** The log would tell the port; nobody can read it here. */
async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  server.close()
  await once(server, 'close')
  if (address === null || typeof address === 'string') throw new TypeError('no port')
  return address.port
}

function startOnFullDisk(port: number): ChildProcess {
  const full = openSync(FULL, 'w')
  try {
    return spawn(process.execPath, [MAIN], {
      env: {
        PATH: process.env['PATH'],
        COATCHECK_PORT: String(port),
        COATCHECK_LEDGER: join(folder.path, 'ledger.db'),
        COATCHECK_LOG_LEVEL: 'trace',
      },
      stdio: ['ignore', full, 'inherit'],
    })
  } finally {
    closeSync(full)
  }
}

async function ready(url: string, child: ChildProcess): Promise<void> {
  const deadline = AbortSignal.timeout(START_MS)
  while (child.exitCode === null) {
    const answer = await fetch(`${url}/readyz`, { signal: deadline }).catch(() => undefined)
    if (answer?.status === 200) return
    deadline.throwIfAborted()
    await sleep(POLL_MS)
  }
  throw new Error(`it ended with ${child.exitCode}`)
}

describe('a service whose log is on a full disk', () => {
  it('answers all the same, and ends on SIGTERM with 0', async () => {
    const port = await freePort()
    const url = `http://127.0.0.1:${port}`
    const child = startOnFullDisk(port)
    const closed = once(child, 'close')
    try {
      await ready(url, child)
      for (let n = 1; n <= 20; n++) {
        const put = await fetch(`${url}/v1/runs/full/results`, {
          method: 'POST',
          headers: { 'content-type': 'text/plain' },
          body: `text ${n}`,
        })
        expect(put.status).toBe(201)
        expect(((await put.json()) as PutAnswer).handle).toBe(`r${n}`)
      }
      expect((await fetch(`${url}/v1/runs/full/results/r21`)).status).toBe(404)
      child.kill('SIGTERM')
      expect(await closed).toEqual([0, null])
    } finally {
      child.kill('SIGKILL')
    }
  })
})
