// Appends to the ledger at the path given, several at a time, until it is killed or fails; prints each number once
// acknowledged.
import { writeSync } from 'node:fs'
import { openLedger } from '../../../src/ledger/open.ts'
import { NOW, POLICY, putText, RUN } from '../../support/ledger.ts'
import { textOf } from './text.ts'

const WRITERS = 4
const STDOUT = 1

const ledger = await openLedger(process.argv[2] as string, POLICY)
let next = Number(process.argv[3])

async function write(): Promise<void> {
  for (;;) {
    const n = next++
    const { result } = await ledger.append(RUN, putText(textOf(n), { toolUseId: `call-${n}` }), NOW)
    writeSync(STDOUT, `${result.number} ${n}\n`)
  }
}

await Promise.all(Array.from({ length: WRITERS }, write)).catch((error: { code: string }) => {
  writeSync(STDOUT, `failed ${error.code}\n`)
  process.exit()
})
