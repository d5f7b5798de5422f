// For each line of standard input, tries to open the ledger at the path given; says `open` or `refused`, and closes it again at
// the next line.
import { createInterface } from 'node:readline'
import { openFile } from '../../../src/ledger/sqlite/file/file.ts'

const path = process.argv[2] as string
let file: ReturnType<typeof openFile> | undefined
process.stdout.write('ready\n')
for await (const line of createInterface({ input: process.stdin })) {
  file?.close()
  file = undefined
  if (line === 'close') process.stdout.write('closed\n')
  else {
    try {
      file = openFile(path)
      process.stdout.write('open\n')
    } catch (error) {
      process.stdout.write(`refused ${(error as Error).message}\n`)
    }
  }
}
