// Puts to the ledger at the path given, and purges the run, which it says before.
import { writeSync } from 'node:fs'
import { openLedger } from '../../../src/ledger/open.ts'
import { NOW, POLICY, putText, RUN } from '../../support/ledger.ts'
import { PURGED_RESULTS, textOf } from './text.ts'

const STDOUT = 1

const ledger = await openLedger(process.argv[2] as string, POLICY)
const puts = Array.from({ length: PURGED_RESULTS }, (_, n) => putText(textOf(n)))
await Promise.all(puts.map((put) => ledger.append(RUN, put, NOW)))
writeSync(STDOUT, 'purging\n')
await ledger.endRun(RUN, { purge: true }, NOW)
setInterval(() => undefined, 60_000)
