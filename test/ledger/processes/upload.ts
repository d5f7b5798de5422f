// Uploads to the ledger at the path given, several at a time and some given up, until it is killed; prints each number once
// acknowledged.
import { writeSync } from 'node:fs'
import { openLedger } from '../../../src/ledger/open.ts'
import { chunksIn, NOW, POLICY, putText, RUN, streamed } from '../../support/ledger.ts'
import { textOf } from './text.ts'

const WRITERS = 4
const GIVEN_UP = 3
const STDOUT = 1

const ledger = await openLedger(process.argv[2] as string, POLICY)
let next = Number(process.argv[3])

async function write(): Promise<void> {
  for (;;) {
    const n = next++
    const put = putText(textOf(7 * n), { toolUseId: `call-${n}` })
    const upload = await ledger.openUpload(RUN, NOW)
    for (const chunk of chunksIn(put)) await upload.add([chunk])
    if (n % GIVEN_UP === 0) await upload.abort()
    else {
      const { result } = await upload.finish(streamed(put), NOW)
      writeSync(STDOUT, `${result.number} ${7 * n}\n`)
    }
  }
}

await Promise.all(Array.from({ length: WRITERS }, write))
