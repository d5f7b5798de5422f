import { describe } from 'vitest'
import { openLedger } from '../../src/ledger/open.ts'
import { ledgerConforms } from './conformance.ts'

describe('the SQLite ledger', () => ledgerConforms((file, policy) => openLedger(file, policy)))
