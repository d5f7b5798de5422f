// What keeps the service from starting: told in one line, with status 1, and whatever is there stays as it is.
import {
  chmodSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  truncateSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import Database from 'better-sqlite3'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { ConfigSchema } from '../../src/config.ts'
import { openLedger } from '../../src/ledger/open.ts'
import { NOW, POLICY, putText, RUN, temporaryFolder } from '../support/ledger.ts'
import { type ChildOptions, startChild, startRefused } from '../support/service.ts'

const HEADER_BYTES = 16_384
const REFUSAL = /^coatcheck does not start: .*$/gm
const OF_ROOT = process.getuid?.() === 0
/** Modes of files bind root as well without these. */
const AS_ANYONE = OF_ROOT ? ['setpriv', '--bounding-set=-dac_override,-dac_read_search'] : []

const folder = temporaryFolder()
afterAll(() => folder.remove())
/** Of a ledger with some results in it. */
let ledgerBytes: Buffer
beforeAll(async () => {
  const path = join(folder.path, 'good.db')
  const ledger = await openLedger(path, POLICY)
  for (let n = 0; n < 20; n++) await ledger.append(RUN, putText(`text ${n} `.repeat(2_000)), NOW)
  await ledger.close()
  ledgerBytes = readFileSync(path)
})

/** The line that says why there is no start. */
async function refusalOf(options: ChildOptions): Promise<string> {
  const { code, output } = await startRefused(options)
  expect(code, output).toBe(1)
  const [line = '', ...more] = output.match(REFUSAL) ?? []
  expect([line === '', more, output.match(/^\s+at /m)], output).toEqual([false, [], null])
  return line
}

/** What is in a folder, but for the lock, which holds nothing and stays. */
const contents = (path: string): ReadonlyMap<string, Buffer> =>
  new Map(
    readdirSync(path)
      .filter((name) => !name.endsWith('.lock'))
      .map((name) => [name, readFileSync(join(path, name))]),
  )

const place = (): string => mkdtempSync(join(folder.path, 'place-'))

describe('a start on a file that is no sound ledger', () => {
  it.each([
    ['a text', (path: string) => writeFileSync(path, 'notes\n'), /is not a Coatcheck ledger/],
    [
      'the database of another program',
      (path: string) => void new Database(path).exec('CREATE TABLE theirs (a)').close(),
      /is not a Coatcheck ledger/,
    ],
    [
      'a ledger with spoilt pages',
      (path: string) => writeFileSync(path, Buffer.from(ledgerBytes).fill(0xa5, HEADER_BYTES)),
      /the ledger .*ledger\.db is damaged .* restore it .*malformed.*SQLITE_CORRUPT/,
    ],
    [
      'a ledger whose copy was cut short',
      (path: string) => {
        writeFileSync(path, ledgerBytes)
        truncateSync(path, 3 * HEADER_BYTES)
      },
      /malformed.*SQLITE_CORRUPT/,
    ],
  ])('is refused and changes nothing: %s', async (_what, make, reason) => {
    const at = place()
    const path = join(at, 'ledger.db')
    make(path)
    const before = contents(at)
    const line = await refusalOf({ env: { COATCHECK_LEDGER: path } })
    expect(line).toMatch(reason)
    expect(line).toContain(path)
    expect(contents(at)).toEqual(before)
  })

  it('leaves no lock beside a file that is not its own', async () => {
    const at = place()
    writeFileSync(join(at, 'notes.md'), 'notes\n')
    await refusalOf({ env: { COATCHECK_LEDGER: join(at, 'notes.md') } })
    expect(readdirSync(at)).toEqual(['notes.md'])
  })
})

describe('a start where no ledger can be written', () => {
  it.each([
    ['a folder', (path: string) => mkdirSync(path), /ledger\.db is a folder; name a file in it/],
    [
      'a file that may only be read',
      (path: string) => {
        writeFileSync(path, ledgerBytes)
        chmodSync(path, 0o444)
      },
      /the ledger .*ledger\.db cannot be written; /,
    ],
    [
      'a ledger in a folder that takes no files',
      (path: string) => {
        writeFileSync(path, ledgerBytes)
        chmodSync(join(path, '..'), 0o555)
      },
      /the ledger's folder .* cannot be written; /,
    ],
  ])('is refused and makes nothing: %s', async (what, make, reason) => {
    const at = place()
    const path = join(at, 'ledger.db')
    make(path)
    const before = readdirSync(at)
    const line = await refusalOf({ env: { COATCHECK_LEDGER: path }, wrapper: AS_ANYONE })
    expect(line).toMatch(reason)
    expect(line).toContain(`COATCHECK_LEDGER=${path}`)
    expect(readdirSync(at).filter((name) => !name.endsWith('.lock'))).toEqual(before)
    if (before.length > 0 && what !== 'a folder') {
      chmodSync(path, 0o600)
      expect(readFileSync(path).equals(ledgerBytes)).toBe(true)
    }
  })

  it.each([
    ['below a file', (at: string) => join(at, 'file', 'ledger.db')],
    ['where no folder can be made', () => '/proc/nowhere/ledger.db'],
  ])('is refused with what to do: %s', async (_, pathIn) => {
    const at = place()
    writeFileSync(join(at, 'file'), 'notes')
    const path = pathIn(at)
    expect(await refusalOf({ env: { COATCHECK_LEDGER: path } })).toContain(
      `the ledger ${path} cannot be opened; choose a path where this user may make and write files: `,
    )
  })

  it('is refused while another process has the ledger, which goes on', async () => {
    const env = { COATCHECK_LEDGER: join(place(), 'shared.db') }
    const child = await startChild({ env })
    expect(await refusalOf({ env })).toMatch(/shared\.db is in use by another process/)
    const put = await fetch(`${child.url}/v1/runs/shared/results`, {
      method: 'POST',
      headers: { 'content-type': 'text/plain' },
      body: 'still here',
    })
    expect(put.status).toBe(201)
    expect(await child.stop()).toEqual({ code: 0, signal: null })
  })
})

describe('a start with settings that cannot be', () => {
  it('names every one of them, with its value and its range', async () => {
    const env = Object.fromEntries(
      Object.entries(ConfigSchema.properties)
        .filter(([, schema]) => 'minimum' in schema)
        .map(([name, schema]) => [name, String(Number(Object(schema).minimum) - 1)]),
    )
    const line = await refusalOf({ env: { ...env, COATCHECK_LOG_LEVEL: 'loud' } })
    expect(Object.keys(env).length).toBeGreaterThan(10)
    for (const [name, value] of Object.entries(env)) {
      const { minimum, maximum } = Object(ConfigSchema.properties)[name]
      expect(line).toContain(
        `${name} must be an integer from ${minimum} to ${maximum}, and is "${value}"`,
      )
    }
    expect(line).toContain('COATCHECK_LOG_LEVEL must be one of ')
  })

  it.each([
    [{ COATCHECK_HOST: '0.0.0.0' }, 'COATCHECK_TOKEN'],
    [{ COATCHECK_HOST: '192.0.2.1', COATCHECK_TOKEN: 'x' }, 'COATCHECK_HOST=192.0.2.1'],
  ])('says which: %o', async (env, word) => {
    expect(await refusalOf({ env: env as unknown as Record<string, string> })).toContain(word)
  })
})
