// What newcomers run first runs, and says at its end that every byte came back.
import { spawn, spawnSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type ServiceChild, startChild } from '../support/service.ts'

const CHECKOUT = fileURLToPath(new URL('../..', import.meta.url))
const TOKEN = 'a-token.of~some+length/=='

interface Ended {
  readonly code: number | null
  readonly stdout: string
  readonly stderr: string
}

function run(
  command: string,
  args: readonly string[],
  env: Record<string, string> = {},
): Promise<Ended> {
  const child = spawn(command, args, { cwd: CHECKOUT, env: { ...process.env, ...env } })
  let stdout = ''
  let stderr = ''
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    stdout += text
  })
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    stderr += text
  })
  return new Promise((resolve, reject) => {
    child.on('error', reject).on('close', (code) => resolve({ code, stdout, stderr }))
  })
}

const isThere = (command: string): boolean => spawnSync(command, ['--version']).status === 0
const lastLine = ({ stdout }: Ended): string => stdout.trimEnd().split('\n').at(-1) ?? ''

const EXAMPLES = [
  { name: 'Python', command: 'python3', args: ['examples/python/loop.py'], needs: ['python3'] },
  { name: 'curl', command: 'bash', args: ['examples/curl/loop.sh'], needs: ['bash', 'curl'] },
] as const

describe.each([
  { access: 'a token', settings: { COATCHECK_TOKEN: TOKEN } },
  { access: 'no token', settings: {} },
])('a service with $access', ({ settings }) => {
  let service: ServiceChild
  beforeAll(async () => {
    service = await startChild({ env: settings })
  })
  afterAll(async () => {
    await service.stop()
  })

  for (const { name, command, args, needs } of EXAMPLES) {
    it.skipIf(!needs.every(isThere))(
      `the ${name} example reads every byte back, twice`,
      async () => {
        // the second time in the same ledger: a start has a run of its own
        for (const _ of ['first', 'second']) {
          const ended = await run(command, args, {
            COATCHECK_TOKEN: '',
            ...settings,
            COATCHECK_URL: service.url,
          })
          expect(ended).toMatchObject({ code: 0, stderr: '' })
          expect(lastLine(ended)).toMatch(/^ok: .*every byte read back$/)
        }
      },
    )
  }
})

for (const { name, command, args, needs } of EXAMPLES) {
  it.skipIf(!needs.every(isThere))(`the ${name} example fails where no service is`, async () => {
    const ended = await run(command, args, { COATCHECK_URL: 'http://127.0.0.1:9' })
    expect(ended.code).toBe(1)
    expect(ended.stderr).toContain('no service answers at http://127.0.0.1:9')
  })
}

it('the demo shows a whole loop and recovers every byte', async () => {
  const ended = await run(process.execPath, ['scripts/demo.ts'])
  expect(ended).toMatchObject({ code: 0, stderr: '' })
  expect(lastLine(ended)).toMatch(/^recovered: every byte of 12 results /)
  expect(ended.stdout).toContain('omitted (')
  expect(ended.stdout).toContain('gets the value in place of $r3.')
  expect(ended.stdout).toContain('has failed 3 consecutive times')
  expect(ended.stdout).toContain('under the same id')
  expect(ended.stdout).toContain('[Compaction summary]')
  expect(ended.stdout.split('\n').length).toBeLessThan(200)
})
