// Real descriptors: a file, a full disk, a pipe that nobody reads.
import { execFileSync } from 'node:child_process'
import { closeSync, constants, openSync, readFileSync, readSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { LogLines } from '../src/log-lines.ts'
import { temporaryFolder } from './support/ledger.ts'

const PIPE_BYTES = 1_048_576

describe('the lines of the log', () => {
  let folder: ReturnType<typeof temporaryFolder>
  const open: number[] = []
  const opened = (path: string, flags: string | number): number => {
    const fd = openSync(path, flags)
    open.push(fd)
    return fd
  }
  beforeEach(() => {
    folder = temporaryFolder()
  })
  afterEach(() => {
    for (const fd of open.splice(0)) closeSync(fd)
    folder.remove()
  })

  it('are written in their order, a moment later', async () => {
    const path = join(folder.path, 'log')
    const lines = new LogLines(opened(path, 'a'))
    lines.write('one\n')
    lines.write('zwei ü\n')
    expect(readFileSync(path, 'utf8')).toBe('')
    await vi.waitFor(() => expect(readFileSync(path, 'utf8')).toBe('one\nzwei ü\n'))
    lines.write('three\n')
    lines.flushSync()
    expect(readFileSync(path, 'utf8')).toBe('one\nzwei ü\nthree\n')
  })

  it('are written at once when there are many', () => {
    const path = join(folder.path, 'log')
    const lines = new LogLines(opened(path, 'a'))
    const line = `${'x'.repeat(999)}\n`
    for (let n = 0; n < 20; n++) lines.write(line)
    expect(readFileSync(path, 'utf8')).toBe(line.repeat(17))
    lines.flushSync()
    expect(readFileSync(path, 'utf8')).toBe(line.repeat(20))
  })

  it('are lost on a full disk, and nothing else is', () => {
    const lines = new LogLines(opened('/dev/full', 'w'))
    lines.write('one\n')
    expect(() => lines.flushSync()).not.toThrow()
    lines.write('two\n')
    expect(() => lines.flushSync()).not.toThrow()
  })

  it('wait for a slow reader, up to a bound, and hold nobody up', () => {
    const path = join(folder.path, 'pipe')
    execFileSync('mkfifo', [path])
    const fd = opened(path, constants.O_RDWR | constants.O_NONBLOCK)
    const lines = new LogLines(fd)
    const line = (n: number): string => `${n} ${'x'.repeat(99_000)}\n`
    for (let n = 0; n < 40; n++) {
      lines.write(line(n))
      lines.flushSync()
    }
    // To the last, since what waits would go to whatever file gets the descriptor next.
    let text = ''
    for (let part = read(fd); part !== ''; part = read(fd)) {
      text += part
      lines.flushSync()
    }
    const got = text.split('\n').filter((part) => part !== '')
    expect(got.length).toBeGreaterThan(11)
    expect(got.slice(0, 11)).toEqual(got.slice(0, 11).map((_, n) => line(n).trimEnd()))
    expect(got.length).toBeLessThan(40)
  })
})

/** What is in a pipe; empty when nothing is. */
function read(pipe: number): string {
  const buffer = Buffer.alloc(PIPE_BYTES)
  try {
    return buffer.toString('latin1', 0, readSync(pipe, buffer))
  } catch {
    return ''
  }
}
