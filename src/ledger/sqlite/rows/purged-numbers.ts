/**
 * Last numbers of purged runs. When the name of a purged run is opened again, its numbering goes
 * on, so that no handle is given twice.
 *
 * The names are not kept. Each number is kept in a slot, which is part of a digest of the name. A
 * tenant has at most 1,048,576 slots, however many runs it purges, and they are kept for ever.
 * Names that share a slot go on after the greater number, so no handle is given twice. Synchronous,
 * in the caller's transaction.
 */
import type Database from 'better-sqlite3'
import type { RunRef } from '../../ledger.ts'
import { purgedSlot } from './purged-slot.ts'
import { damaged, RowCheck } from './row-checksum.ts'

interface Row {
  readonly tenant: string
  readonly slot: number
  readonly last_number: number
  /** Null in a row that a migration wrote. */
  readonly row_checksum: number | null
}

const CHECK = new RowCheck<Row>(['tenant', 'slot', 'last_number'])

/** Reads and writes the last numbers of purged runs. */
export class PurgedNumbers {
  readonly #sql: ReturnType<typeof prepare>

  constructor(db: Database.Database) {
    this.#sql = prepare(db)
  }

  /**
   * The last number that a purged run of this name may have given; 0 when none has. Throws
   * `ledger_corrupt`.
   */
  last({ tenant, run }: RunRef): number {
    const slot = purgedSlot(run)
    const row = this.#sql.find.get(tenant, slot)
    if (row !== undefined) return CHECK.require(row, { tenant, slot }).last_number
    if (this.#sql.findAgain.get(tenant, slot) !== undefined) throw damaged()
    return 0
  }

  /** Stores the last number of a run that is being purged. Throws `ledger_corrupt`. */
  keep(ref: RunRef, lastNumber: number): void {
    const last_number = Math.max(this.last(ref), lastNumber)
    if (last_number === 0) return
    const row = { tenant: ref.tenant, slot: purgedSlot(ref.run), last_number }
    this.#sql.keep.run({ ...row, row_checksum: CHECK.of(row) })
  }
}

function prepare(db: Database.Database) {
  return {
    find: db.prepare<[string, number], Row>(
      `SELECT tenant, slot, last_number, row_checksum FROM purged_numbers
       WHERE tenant = ? AND slot = ?`,
    ),
    findAgain: db
      .prepare<[string, number], number>(
        'SELECT 1 FROM purged_numbers INDEXED BY purged_numbers_again WHERE tenant = ? AND slot = ?',
      )
      .pluck(),
    keep: db.prepare<[Row]>(
      `INSERT INTO purged_numbers (tenant, slot, last_number, row_checksum)
       VALUES ($tenant, $slot, $last_number, $row_checksum)
       ON CONFLICT (tenant, slot) DO UPDATE
       SET last_number = excluded.last_number, row_checksum = excluded.row_checksum`,
    ),
  }
}
