// Ends a thread whose answer has come but is not read yet, and has nothing more to do.
import { ValidationThread } from '../../../src/validation/pool/thread.ts'
import { slice } from '../support.ts'

const ENOUGH_MS = 500

const thread = new ValidationThread(
  {
    schemaBytes: 1000,
    errorsShown: 1,
    heapBytes: 67_108_864,
    compileMs: 60_000,
    validateMs: 60_000,
    waitMs: 60_000,
  },
  () => undefined,
)
await thread.ready
void thread.run({ schema: slice(true), value: slice(1) })
// This thread reads nothing meanwhile.
Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ENOUGH_MS)
await thread.end()
process.stdout.write('ended\n')
