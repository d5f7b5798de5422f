/**
 * Brings a ledger's schema to the version of this release by `migrations/sqlite/NNNN_name.sql`, in
 * order. Each file runs in a transaction with its version (`user_version`). A ledger of a later
 * version is refused, since writing to it by old rules could damage it.
 */
import { readdirSync, readFileSync } from 'node:fs'
import type Database from 'better-sqlite3'
import { CoatcheckError } from '../../../core/errors.ts'
import { purgedSlot } from '../rows/purged-slot.ts'

const FOLDER = new URL('../../migrations/sqlite/', import.meta.url)

/**
 * Migrates the ledger `db` at `path`. Throws `ledger_unavailable` for a ledger of a later version.
 */
export function migrate(db: Database.Database, path: string): void {
  const files = readdirSync(FOLDER).filter((name) => name.endsWith('.sql'))
  files.sort()
  const version = db.pragma('user_version', { simple: true }) as number
  if (version > files.length) {
    throw new CoatcheckError(
      'ledger_unavailable',
      `the ledger ${path} has version ${version}, and this release knows ${files.length}; start a newer release`,
    )
  }
  db.function('purged_slot', { deterministic: true }, (run) => purgedSlot(String(run)))
  for (const [index, file] of files.entries()) {
    if (index >= version) step(db, readFileSync(new URL(file, FOLDER), 'utf8'), index + 1)
  }
}

function step(db: Database.Database, sql: string, version: number): void {
  db.transaction(() => {
    db.exec(sql)
    db.pragma(`user_version = ${version}`)
  }).immediate()
}
