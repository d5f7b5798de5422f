/**
 * Makes a small ledger with the schema version of this release in `test/fixtures/ledgers/NNNN/`,
 * and its content as JSON beside it. Each later release must open it and find every value. An
 * existing fixture is never made again.
 */
import { hash } from 'node:crypto'
import { existsSync, mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { readConfig } from '../../src/config.ts'
import { startService } from '../../src/service.ts'

/** Folder of the fixtures. */
export const FIXTURES = fileURLToPath(new URL('../../test/fixtures/ledgers', import.meta.url))
const MIGRATIONS = new URL('../../src/ledger/migrations/sqlite/', import.meta.url)
const NUMBER_DIGITS = 4
const MADE_AT_MS = Date.UTC(2026, 11, 1)
/** Lines of a value that is slightly larger than one chunk. */
const LARGE_LINES = 8_000

/** A result of a fixture, as it must come back. */
export interface FixtureResult {
  readonly run: string
  readonly handle: string
  readonly type: string
  readonly sha256: string
}

/** The newest schema version that this release knows. */
export const schemaVersion = (): number =>
  readdirSync(MIGRATIONS).filter((name) => name.endsWith('.sql')).length

/** Ledger file of the fixture of a schema version; `results.json` is beside it. */
export const fixtureOf = (version: number): string =>
  `${FIXTURES}/${String(version).padStart(NUMBER_DIGITS, '0')}/ledger.db`

const VALUES: readonly (readonly [run: string, type: string, value: Buffer])[] = [
  [
    'first',
    'application/vnd.fixture+json',
    Buffer.from('{"n": 1.0, "10": 12345678901234567890, "__proto__": null}'),
  ],
  ['first', 'text/plain', Buffer.from('a line\r\nand another \u2028 \u{1f600}\n')],
  ['first', 'application/octet-stream', Buffer.from([0, 255, 254, 10, 13])],
  [
    'second',
    'text/plain',
    Buffer.from(Array.from({ length: LARGE_LINES }, (_, n) => `line ${n}\n`).join('')),
  ],
]

async function make(): Promise<void> {
  const path = fixtureOf(schemaVersion())
  if (existsSync(path)) {
    console.log(`there is one already: ${path}`)
    return
  }
  mkdirSync(fileURLToPath(new URL('.', `file://${path}`)), { recursive: true })
  const service = await startService(
    readConfig({ COATCHECK_LEDGER: path, COATCHECK_DISK_RESERVE_BYTES: '0' }),
    {
      now: () => MADE_AT_MS,
    },
  )
  const results: FixtureResult[] = []
  try {
    for (const [run, type, value] of VALUES) {
      const url = `/v1/runs/${run}/results`
      const headers = { 'content-type': type }
      const reply = await service.app.inject({ method: 'POST', url, headers, payload: value })
      const { handle } = reply.json<{ readonly handle: string }>()
      results.push({ run, handle, type, sha256: hash('sha256', value) })
    }
  } finally {
    await service.close()
  }
  // The ledger alone: a release opens copies that have no lock and no notes beside them.
  for (const name of ['.lock', '-commits']) rmSync(`${path}${name}`, { force: true })
  writeFileSync(path.replace('ledger.db', 'results.json'), `${JSON.stringify(results, null, 2)}\n`)
  console.log(`made ${path}`)
}

if (import.meta.main) await make()
