// Tokens: what a file of them may hold, and that it is rotated while the service runs.
import { execFileSync } from 'node:child_process'
import { mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, describe, expect, it } from 'vitest'
import { readConfig } from '../../src/config.ts'
import { parseTokens, TokenSet } from '../../src/http/auth/tokens.ts'
import { TokensFile } from '../../src/http/auth/tokens-file.ts'
import { startService } from '../../src/service.ts'

const POLL_MS = 20
const folder = mkdtempSync(join(tmpdir(), 'coatcheck-tokens-'))
afterAll(() => rmSync(folder, { recursive: true }))

describe('a text of tokens', () => {
  it('has one in a line, with comments, empty lines, a BOM and any line ends', () => {
    expect(parseTokens('\uFEFF# all\r\na:x\r\n\n  b-1.c:y~/+== \n:z')).toEqual([
      { tenant: 'a', token: 'x' },
      { tenant: 'b-1.c', token: 'y~/+==' },
      { tenant: '', token: 'z' },
    ])
  })

  it.each([
    ['nothing', '', /no token/],
    ['only comments', '# a:b\n', /no token/],
    ['a token alone', 'a:b\nsecret-word', /line 2 is not tenant:token/],
    ['a tenant with a space', 'secret word:x', /tenant of line 1/],
    ['a tenant that is too long', `${'a'.repeat(65)}:x`, /tenant of line 1/],
    ['no token', 'a:', /token of line 1/],
    ['a token with a space', 'a:secret word', /token of line 1/],
    ['a token with a colon', 'a:secret:word', /token of line 1/],
  ])('is refused, by the line and without its content: %s', (_, text, message) => {
    expect(() => parseTokens(text)).toThrow(message)
    expect(() => parseTokens(text)).not.toThrow(/secret/)
  })

  it('may not give one token to two tenants', () => {
    const entry = (tenant: string) => ({ tenant, token: 'secret' })
    expect(() => new TokenSet([entry('a'), entry('b')])).toThrow(/another tenant/)
    expect(() => new TokenSet([entry('a'), entry('b')])).not.toThrow(/secret/)
    expect(new TokenSet([entry('a'), entry('a')]).tenantOf('secret')).toBe('a')
  })
})

describe('a file of tokens', () => {
  const path = join(folder, 'rotated')
  /** As a careful editor does it: beside, then in its place. */
  const replace = (text: string): void => {
    writeFileSync(`${path}.new`, text)
    renameSync(`${path}.new`, path)
  }

  it('is read again when it changes, and while it is broken its last good tokens stay', async () => {
    replace('a:first\n')
    const file = await TokensFile.open(path, [{ tenant: '', token: 'fixed' }])
    const logged: string[] = []
    const log = {
      info: (line: string) => void logged.push(line),
      // each of these tokens is short; `test/e2e/log.test.ts` has the warning
      warn: () => undefined,
      error: (line: string) => void logged.push(`error: ${line}`),
    }
    const lines = async (count: number): Promise<void> => {
      while (logged.length < count) await sleep(POLL_MS)
    }
    const tenants = () => ['first', 'second', 'third', 'fixed'].map((t) => file.tenantOf(t))
    file.watch(log)
    expect(tenants()).toEqual(['a', undefined, undefined, ''])
    replace('a:second\n')
    await lines(1)
    expect(tenants()).toEqual([undefined, 'a', undefined, ''])
    replace('a:second\na third without colon\n')
    await lines(2)
    expect(tenants()).toEqual([undefined, 'a', undefined, ''])
    rmSync(path)
    await lines(3)
    expect(tenants()).toEqual([undefined, 'a', undefined, ''])
    // said once, however often it is looked at
    await sleep(2_500)
    expect(logged).toEqual([
      'the tokens were read again',
      `error: COATCHECK_TOKENS_FILE ${path} cannot be used: line 2 is not tenant:token; the tokens from before stay valid`,
      `error: COATCHECK_TOKENS_FILE ${path} cannot be used: no such file or directory: ${path} (stat, ENOENT); the tokens from before stay valid`,
    ])
    writeFileSync(path, 'b:third\n')
    await lines(4)
    expect(tenants()).toEqual([undefined, undefined, 'b', ''])
    file.close()
  })

  function pipeIn(name: string): string {
    const pipe = join(folder, name)
    execFileSync('mkfifo', [pipe])
    return pipe
  }

  it.each([
    [
      'is not there',
      () => join(folder, 'nowhere'),
      /nowhere cannot be used: no such file or directory: .*nowhere \(stat, ENOENT\)/,
    ],
    ['is a folder', () => folder, /it is no file/],
    ['is a pipe', () => pipeIn('pipe'), /it is no file/],
    ['is broken', () => writeIn('broken', 'secret-word'), /line 1 is not tenant:token/],
    ['is empty', () => writeIn('empty', ''), /no token/],
    ['is far too large', () => writeIn('large', 'a'.repeat(1_100_000)), /more than 1048576 bytes/],
    [
      'has the operator token for a tenant',
      () => writeIn('both', 'a:operator-1'),
      /another tenant/,
    ],
  ])('that %s keeps the service from starting, and makes no ledger', async (_, at, reason) => {
    const start = startService(
      readConfig({
        COATCHECK_LEDGER: join(folder, 'never', 'ledger.db'),
        COATCHECK_TOKEN: 'operator-1',
        COATCHECK_TOKENS_FILE: at(),
      }),
    )
    const message = await start.then(
      () => 'it started',
      (error: Error) => error.message,
    )
    expect(message).toMatch(/COATCHECK_TOKENS_FILE/)
    expect(message).toMatch(reason)
    expect(message).not.toMatch(/secret|operator-1|LEDGER/)
  })

  it('is enough for an address that others can reach', () => {
    const config = readConfig({ COATCHECK_HOST: '0.0.0.0', COATCHECK_TOKENS_FILE: path })
    expect(config.COATCHECK_HOST).toBe('0.0.0.0')
  })
})

function writeIn(name: string, text: string): string {
  const path = join(folder, name)
  writeFileSync(path, text)
  return path
}

describe('the token of the operator', () => {
  // Fault: with the line end of a secret's file, nobody could send it.
  it.each(['abc\n', ' abc', 'a b', 'tøken', 'a,b', '==', 'a=b'])(
    'is refused at the start when no client could send it, and is not shown: %j',
    async (token) => {
      const ledger = join(folder, 'refused.db')
      const settings = { COATCHECK_TOKEN: token, COATCHECK_LEDGER: ledger }
      const start = startService(readConfig(settings))
      await expect(start).rejects.toThrow(
        /^COATCHECK_TOKEN is not one or more letters, digits and "\._~\+\/-", with "=" only at its end$/,
      )
    },
  )
})
