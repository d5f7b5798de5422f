// Ledgers of earlier versions, brought to the one of this code.
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import Database from 'better-sqlite3'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { migrate } from '../../../../src/ledger/sqlite/file/migrate.ts'
import { temporaryFolder } from '../../../support/ledger.ts'

const MIGRATIONS = new URL('../../../../src/ledger/migrations/sqlite/', import.meta.url)

describe('a ledger of an earlier version', () => {
  let folder: ReturnType<typeof temporaryFolder>
  let db: Database.Database

  beforeEach(() => {
    folder = temporaryFolder()
    db = new Database(join(folder.path, 'ledger.db'))
  })
  afterEach(() => {
    db.close()
    folder.remove()
  })

  /** A ledger as it was before the migration whose name holds `name`. */
  function before(name: string): void {
    const files = readdirSync(MIGRATIONS).toSorted()
    const count = files.findIndex((file) => file.includes(name))
    for (const file of files.slice(0, count)) {
      db.exec(readFileSync(new URL(file, MIGRATIONS), 'utf8'))
    }
    db.pragma(`user_version = ${count}`)
  }

  it('has the tools of its runs counted', () => {
    before('tool_totals')
    const run = db.prepare(
      `INSERT INTO runs (tenant, run, state, format, ttl_seconds, verbatim_limit_chars, created_at, last_request_at)
       VALUES ('', ?, 'open', 'reference', 60, 30000, 1, 1)`,
    )
    const { lastInsertRowid: key } = run.run('with')
    run.run('without')
    const tool = db.prepare('INSERT INTO tools (run, name, input_schema) VALUES (?, ?, ?)')
    tool.run(key, 'é', Buffer.from('{}'))
    tool.run(key, 'b', Buffer.from('true'))
    migrate(db, folder.path)
    expect(db.prepare('SELECT run, tool_count, tool_bytes FROM runs ORDER BY run').all()).toEqual([
      { run: 'with', tool_count: 2, tool_bytes: 9 },
      { run: 'without', tool_count: 0, tool_bytes: 0 },
    ])
  })
})
