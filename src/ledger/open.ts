/**
 * The ledger that a setting names: a path, or a `file://` URL, of a SQLite file. The only place that knows which kinds there
 * are.
 */
import { fileURLToPath } from 'node:url'
import { CoatcheckError } from '../core/errors.ts'
import type { Ledger, LedgerPolicy } from './ledger.ts'
import { type LedgerOptions, openSqliteLedger } from './sqlite/open.ts'

const SCHEME = /^([a-z][a-z0-9+.-]*):\/\//i

/** Throws `ledger_unavailable`, `ledger_corrupt` or `storage_full` with a detail for whoever set the location. */
export async function openLedger(
  location: string,
  policy: LedgerPolicy,
  options: LedgerOptions = {},
): Promise<Ledger> {
  const scheme = SCHEME.exec(location)?.[1]?.toLowerCase()
  if (scheme === undefined) return openSqliteLedger(location, policy, options)
  if (scheme === 'file') return openSqliteLedger(fileURLToPath(location), policy, options)
  const detail = `a ledger is a path or a file:// URL; there is none for ${scheme}://`
  throw new CoatcheckError('ledger_unavailable', detail)
}
