// Opens the ledger at the path given, puts, closes it if told to, and has nothing more to do.
import { openLedger } from '../../../src/ledger/open.ts'
import { NOW, POLICY, putText, RUN } from '../../support/ledger.ts'

const ledger = await openLedger(process.argv[2] as string, POLICY)
const puts = Array.from({ length: 20 }, (_, n) => ledger.append(RUN, putText(`text ${n}`), NOW))
if (process.argv[3] === 'close') await ledger.close()
process.stdout.write(`${(await Promise.all(puts)).length} kept\n`)
