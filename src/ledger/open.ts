/**
 * Opens the ledger that a setting names: the path or `file://` URL of a SQLite file. Only this file
 * knows which kinds of ledgers exist.
 */
import { fileURLToPath } from 'node:url'
import { CoatcheckError } from '../core/errors.ts'
import type { Ledger, LedgerPolicy } from './ledger.ts'
import { type LedgerOptions, openSqliteLedger } from './sqlite/open.ts'

const SCHEME = /^([a-z][a-z0-9+.-]*):\/\//i

/**
 * Opens or creates the ledger at `location`. Throws `ledger_unavailable`, `ledger_corrupt` or
 * `storage_full`, with a detail for the operator.
 */
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
