import { describe } from 'vitest'
import { openLedger } from '../../src/ledger/open.ts'
import { ledgerConforms } from './conformance.ts'
import { openInProcess } from './in-process.ts'

describe('the SQLite ledger', () => ledgerConforms((file, policy) => openLedger(file, policy)))

describe('the SQLite ledger with its writer in this thread', () =>
  ledgerConforms(async (file, policy) => (await openInProcess(file, { policy })).ledger))
