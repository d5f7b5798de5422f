// A ledger that any release has written is opened by this one, with every value as it was.
import { hash } from 'node:crypto'
import { copyFileSync, existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { FIXTURES, type FixtureResult } from '../../scripts/release/ledger-fixture.ts'
import { readConfig } from '../../src/config.ts'
import { startService } from '../../src/service.ts'
import { temporaryFolder } from '../support/ledger.ts'

const MADE_AT_MS = Date.UTC(2026, 11, 1)
const versions = existsSync(FIXTURES) ? readdirSync(FIXTURES).sort() : []

describe.skipIf(versions.length === 0)('a ledger of an earlier schema', () => {
  it.each(versions)('is opened, and has every value and the next number: %s', async (version) => {
    const folder = temporaryFolder()
    const path = join(folder.path, 'ledger.db')
    copyFileSync(join(FIXTURES, version, 'ledger.db'), path)
    const file = readFileSync(join(FIXTURES, version, 'results.json'), 'utf8')
    const results = JSON.parse(file) as readonly FixtureResult[]
    const config = readConfig({ COATCHECK_LEDGER: path })
    const { app, close } = await startService(config, { now: () => MADE_AT_MS })
    try {
      for (const { run, handle, sha256 } of results) {
        const reply = await app.inject(`/v1/runs/${run}/results/${handle}/value`)
        expect([reply.statusCode, hash('sha256', reply.rawPayload)]).toEqual([200, sha256])
      }
      const url = '/v1/runs/first/results'
      const headers = { 'content-type': 'text/plain' }
      const next = await app.inject({ method: 'POST', url, headers, payload: 'more' })
      const count = results.filter(({ run }) => run === 'first').length
      expect(next.json()).toMatchObject({ handle: `r${count + 1}` })
    } finally {
      await close()
      folder.remove()
    }
  })
})
