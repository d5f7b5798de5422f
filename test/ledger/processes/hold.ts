// Opens the ledger at the path given, says so or why not, and holds it until it is killed.
import { openLedger } from '../../../src/ledger/open.ts'
import { POLICY } from '../../support/ledger.ts'

try {
  await openLedger(process.argv[2] as string, POLICY)
  process.stdout.write('open\n')
  setInterval(() => undefined, 60_000)
} catch (error) {
  process.stdout.write(`${(error as Error).message}\n`)
}
