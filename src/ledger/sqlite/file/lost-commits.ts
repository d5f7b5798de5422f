/**
 * Finds what a log has lost, by the notes of the commits to it. The operator is told, and no lost
 * handle is given again.
 */
import { closeSync, existsSync, openSync } from 'node:fs'
import type Database from 'better-sqlite3'
import type { Tell } from '../../notice.ts'
import { PurgedNumbers } from '../rows/purged-numbers.ts'
import { RUN_CHECK, type RunRow } from '../rows/run-state.ts'
import type { GivenNumber, Noted, Position } from './commit-notes.ts'
import { readSalts } from './log-index.ts'

/** Most runs that the notice names. */
const NAMED_RUNS = 10
/**
 * Hex digits of the counter at the start of the salts. It counts how often the log has started
 * again.
 */
const COUNTER_DIGITS = 8
const HALF_OF_COUNTERS = 2 ** 31

/** The log as SQLite found it when it opened the ledger. */
export interface FoundLog {
  /** Salts of the log; empty for a log without a header, undefined without a log. */
  readonly salts: string | undefined
  /** Number of frames up to the last whole commit. */
  readonly frames: number
}

/**
 * Salts of the log of the ledger at `path`; see {@link FoundLog}. Must be read before SQLite opens
 * the ledger.
 */
export function saltsOfLog(path: string): FoundLog['salts'] {
  if (!existsSync(`${path}-wal`)) return undefined
  const log = openSync(`${path}-wal`, 'r')
  try {
    return readSalts(log)
  } finally {
    closeSync(log)
  }
}

/**
 * State of the log as `db` has recovered it. Must be read before anything else is written to it.
 */
export function foundLog(db: Database.Database, salts: FoundLog['salts']): FoundLog {
  const [{ log }] = db.pragma('wal_checkpoint(NOOP)') as [{ readonly log: number }]
  return { salts, frames: Math.max(0, log) }
}

/**
 * Compares the ledger with the notes, and sends a notice when something was lost. A run that was
 * given more numbers than the ledger knows goes on after the last one given. For a run that is
 * missing altogether, that number is kept as for a purged run.
 */
export function settleLostCommits(
  db: Database.Database,
  noted: Noted,
  { log, tell }: { readonly log: FoundLog; readonly tell: Tell },
): void {
  const lost = lostNumbers(db, noted.numbers)
  const frames = noted.position === undefined ? 0 : lostFrames(noted.position, log)
  if (lost.length === 0 && frames === 0) return
  db.transaction(() => {
    for (const each of lost) skip(db, each)
  }).immediate()
  const results = lost.reduce((sum, { from, to }) => sum + to - from + 1, 0)
  const message = `the ledger's log has lost its end, with changes that were acknowledged: ${results} results of ${lost.length} runs are gone. Their handles are not given again. Other changes may be gone too`
  tell({ level: 'error', message, facts: { lost: lost.slice(0, NAMED_RUNS), lostPages: frames } })
}

/** Numbers of a run that were given and are not in the ledger, `from` and `to` included. */
interface Lost {
  readonly tenant: string
  readonly run: string
  readonly from: number
  readonly to: number
}

function lostNumbers(db: Database.Database, numbers: readonly GivenNumber[]): readonly Lost[] {
  const given = new Map<string, GivenNumber>()
  for (const each of numbers) given.set(JSON.stringify([each[0], each[1]]), each)
  const last = db
    .prepare<[string, string], number>('SELECT last_number FROM runs WHERE tenant = ? AND run = ?')
    .pluck()
  const purged = new PurgedNumbers(db)
  return [...given.values()].flatMap(([tenant, run, to]) => {
    const from = (last.get(tenant, run) ?? purged.last({ tenant, run })) + 1
    return from <= to ? [{ tenant, run, from, to }] : []
  })
}

/** Number of frames that the log must have had and does not have. */
function lostFrames({ salts, frames, copied }: Position, log: FoundLog): number {
  if (log.salts === salts) return Math.max(0, frames - log.frames)
  if (log.salts === undefined) return frames - copied
  // A log is emptied, or starts again, only when all of it is in the ledger.
  return log.salts === '' || isLater(log.salts, salts) ? 0 : frames - copied
}

function isLater(salts: string, than: string): boolean {
  const steps = counterOf(salts) - counterOf(than)
  return steps >>> 0 < HALF_OF_COUNTERS
}

const counterOf = (salts: string): number => Number.parseInt(salts.slice(0, COUNTER_DIGITS), 16)

function skip(db: Database.Database, { tenant, run, from, to }: Lost): void {
  const byName = 'SELECT * FROM runs WHERE tenant = ? AND run = ?'
  const row = db.prepare<[string, string], RunRow>(byName).get(tenant, run)
  if (row === undefined) {
    new PurgedNumbers(db).keep({ tenant, run }, to)
    return
  }
  RUN_CHECK.require(row, { tenant, run })
  const lost_numbers = row.lost_numbers + to - from + 1
  const row_checksum = RUN_CHECK.of({ ...row, last_number: to, lost_numbers })
  db.prepare(
    `UPDATE runs SET last_number = $to, lost_numbers = $lost_numbers, row_checksum = $row_checksum
     WHERE key = $key`,
  ).run({ key: row.key, to, lost_numbers, row_checksum })
}
