// The contract of `src/ledger/ledger.ts`, as tests that every implementation passes. The parts by what they are about.
import type { Ledger, LedgerPolicy } from '../../src/ledger/ledger.ts'
import { limitsConform } from './conformance/limits.ts'
import { listsConform } from './conformance/lists.ts'
import { namesConform } from './conformance/names.ts'
import { resultsConform } from './conformance/results.ts'
import { retriesConform } from './conformance/retries.ts'
import { runsConform } from './conformance/runs.ts'
import { timesConform } from './conformance/times.ts'
import { uploadsConform } from './conformance/uploads.ts'
import { valuesConform } from './conformance/values.ts'

/** Opens, or opens again, the ledger in a file. */
export type Open = (file: string, policy: LedgerPolicy) => Promise<Ledger>

export function ledgerConforms(open: Open): void {
  runsConform(open)
  resultsConform(open)
  namesConform(open)
  retriesConform(open)
  valuesConform(open)
  limitsConform(open)
  listsConform(open)
  timesConform(open)
  uploadsConform(open)
}
