// R2 1, R4: no second name of the ledger and no removed lock file lets another process write. All of these ended with two
// processes that gave the same handles.
import { copyFileSync, linkSync, mkdirSync, renameSync, rmSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import Database from 'better-sqlite3'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { openLedger } from '../../src/ledger/open.ts'
import { NOW, POLICY, putText, RUN, temporaryFolder } from '../support/ledger.ts'
import { type Process, startProcess } from './processes.ts'

const ROUNDS = 50
const CONTENDERS = 3
const TIMEOUT_MS = 240_000

describe('a ledger that a process has open', () => {
  let folder: ReturnType<typeof temporaryFolder>
  let path: string
  let other: string
  const started: Process[] = []
  beforeEach(async () => {
    folder = temporaryFolder()
    path = join(folder.path, 'ledger.db')
    other = join(folder.path, 'other.db')
    const ledger = await openLedger(path, POLICY)
    await ledger.append(RUN, putText('kept'), NOW)
    await ledger.close()
  })
  afterEach(async () => {
    for (const process of started.splice(0)) await process.kill()
    folder.remove()
  })

  const start = async (at: string): Promise<Process> => {
    const process = startProcess('contend', at)
    started.push(process)
    await process.written('ready\n')
    return process
  }
  /** A process that has the ledger at `path` open. */
  const hold = async (): Promise<Process> => {
    const holder = await start(path)
    expect(await holder.ask('open')).toBe('open')
    return holder
  }
  /** The answer of a second process that opens the ledger at `at`. */
  const second = async (at: string): Promise<string> => (await start(at)).ask('open')

  it('is refused to a second process when its lock file was removed', async () => {
    const holder = await hold()
    rmSync(`${path}.lock`)
    expect(await second(path)).toMatch(
      /^refused the ledger .* is open in another process.* lock file was removed/,
    )
    await holder.ask('close')
    expect(await second(path)).toBe('open')
  })

  it('is refused when the lock file was replaced, and when the log is not empty', async () => {
    await hold()
    rmSync(`${path}.lock`)
    const db = new Database(path)
    db.exec('UPDATE tenants SET runs = runs')
    expect(await second(path)).toMatch(/^refused the ledger .* is open in another process/)
    expect(db.prepare('SELECT count(*) FROM results').pluck().get()).toBe(1)
    db.close()
  })

  it('is refused under a hard link that was made while it runs', async () => {
    await hold()
    linkSync(path, other)
    expect(await second(other)).toMatch(
      /^refused the ledger .*other\.db has 2 names \(hard links\)/,
    )
  })

  it('is refused under a hard link whose first name is gone', async () => {
    await hold()
    linkSync(path, other)
    rmSync(path)
    expect(await second(other)).toMatch(
      /^refused the ledger .*other\.db is open in another process/,
    )
  })

  it('is refused under the name that it was moved to', async () => {
    const holder = await hold()
    renameSync(path, other)
    expect(await second(other)).toMatch(
      /^refused the ledger .*other\.db is open in another process/,
    )
    const moved = join(folder.path, 'folder')
    mkdirSync(moved)
    renameSync(other, join(moved, 'ledger.db'))
    renameSync(`${path}.lock`, join(moved, 'ledger.db.lock'))
    expect(await second(join(moved, 'ledger.db'))).toMatch(
      /^refused .* is in use by another process/,
    )
    await holder.kill()
    expect(await second(join(moved, 'ledger.db'))).toBe('open')
  })

  it('is refused under a symbolic link', async () => {
    await hold()
    symlinkSync(path, other)
    expect(await second(other)).toMatch(/^refused the ledger .* is in use by another process/)
  })

  it(
    'is had by one of those that start at the same time, in every round',
    async () => {
      const contenders = await Promise.all(Array.from({ length: CONTENDERS }, () => start(path)))
      for (let round = 0; round < ROUNDS; round++) {
        // every other round, nobody finds the lock file that was recorded
        if (round % 2 === 1) rmSync(`${path}.lock`)
        const answers = await Promise.all(contenders.map((contender) => contender.ask('open')))
        expect(answers.filter((answer) => answer === 'open').length, answers.join('\n')).toBe(1)
        await Promise.all(contenders.map((contender) => contender.ask('close')))
      }
    },
    TIMEOUT_MS,
  )
})

describe('a ledger that no process has open', () => {
  let folder: ReturnType<typeof temporaryFolder>
  let path: string
  beforeEach(async () => {
    folder = temporaryFolder()
    path = join(folder.path, 'ledger.db')
    await (await openLedger(path, POLICY)).close()
  })
  afterEach(() => folder.remove())

  it('is refused while it has two names, and opened when one is left', async () => {
    const other = join(folder.path, 'other.db')
    linkSync(path, other)
    for (const name of [path, other]) {
      await expect(openLedger(name, POLICY)).rejects.toMatchObject({
        code: 'ledger_unavailable',
        message: expect.stringContaining('has 2 names (hard links)'),
      })
    }
    rmSync(path)
    await (await openLedger(other, POLICY)).close()
  })

  it('is opened after a move, as a copy, and without its lock file', async () => {
    const moved = join(folder.path, 'moved.db')
    renameSync(path, moved)
    await (await openLedger(moved, POLICY)).close()
    copyFileSync(moved, path)
    await (await openLedger(path, POLICY)).close()
    rmSync(`${path}.lock`)
    await (await openLedger(path, POLICY)).close()
  })

  it('is opened while a tool reads it', async () => {
    const reader = new Database(path, { readonly: true })
    expect(reader.prepare('SELECT count(*) FROM results').pluck().get()).toBe(0)
    const ledger = await openLedger(path, POLICY)
    await ledger.append(RUN, putText('kept'), NOW)
    reader.close()
    await ledger.close()
  })

  it('is opened after a crash that left a log, without its lock file, with all that was kept', async () => {
    const child = startProcess('append', path, '1')
    await child.written('\n')
    await child.kill()
    rmSync(`${path}.lock`)
    const ledger = await openLedger(path, POLICY)
    expect(await ledger.findResult(RUN, { number: 1 })).toBeDefined()
    await ledger.close()
  })
})
