// What every script does with a command line that asks for help, or that it does not know.
import { spawnSync } from 'node:child_process'
import { globSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'

const ROOT = fileURLToPath(new URL('..', import.meta.url))
/** Those with a command line; others are their parts. */
const SCRIPTS = [
  'bench/run.ts',
  'bench/peers/main.ts',
  ...globSync('scripts/*.ts', { cwd: ROOT }),
  ...globSync('scripts/check/{hostile,kill,model,purge-load,soak,starved}.ts', { cwd: ROOT }),
].filter((name) => !name.endsWith('options.ts'))

function run(script: string, option: string) {
  const { status, stdout, stderr } = spawnSync(process.execPath, [script, option], {
    cwd: ROOT,
    encoding: 'utf8',
  })
  return { status, stdout, stderr }
}

describe('a script', () => {
  // Fault: `npm run check:hostile -- --help` ended in a stack.
  it.each(SCRIPTS)('says its options, and refuses others in a sentence: %s', (script) => {
    const help = run(script, '--help')
    expect(help).toMatchObject({ status: 0, stderr: '' })
    expect(help.stdout).toMatch(/^(?:npm run|node) .*\n.*\.\n[\s\S]*--help/)
    const wrong = run(script, '--no-such-option')
    expect(wrong).toMatchObject({ status: 2, stdout: '' })
    expect(wrong.stderr).toMatch(/^Unknown option '--no-such-option'/)
    expect(wrong.stderr).not.toMatch(/^\s+at /m)
  })

  // Fault: it ended in a traceback.
  it('in Python does so too', () => {
    const replay = (...args: string[]) =>
      spawnSync('python3', ['scripts/replay.py', ...args], { cwd: ROOT, encoding: 'utf8' })
    const help = replay('--help')
    expect([help.status, help.stderr]).toEqual([0, ''])
    expect(help.stdout).toContain(
      'scripts/replay.py http://127.0.0.1:8080 test/vectors [family ...]',
    )
    for (const args of [
      [],
      ['http://127.0.0.1:1'],
      ['http://127.0.0.1:1', 'test/vectors', 'none'],
    ]) {
      const wrong = replay(...args)
      expect([wrong.status, wrong.stdout]).toEqual([2, ''])
      expect(wrong.stderr).not.toContain('Traceback')
    }
  })
})
