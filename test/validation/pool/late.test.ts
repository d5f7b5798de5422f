// The processor is taken from a validation while it works: its process is stopped for longer than every deadline. What the
// clock says must not count against the call, its schema, or the thread.
import { fork } from 'node:child_process'
import { once } from 'node:events'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'
import type { Outcome } from '../processes/stopped.ts'

const PROCESS = fileURLToPath(new URL('../processes/stopped.ts', import.meta.url))
const INTO_THE_CALL_MS = 50
/** Longer than the deadlines of the process, 2 s each, and what a large value has besides. */
const STOPPED_MS = 8_000
const PATIENT_MS = 60_000
const IMPATIENT_MS = 3_000

async function stoppedWhile(kind: string, waitMs: number): Promise<Outcome> {
  const child = fork(PROCESS, [kind, String(waitMs)])
  try {
    await once(child, 'message')
    await sleep(INTO_THE_CALL_MS)
    child.kill('SIGSTOP')
    await sleep(STOPPED_MS)
    const outcome = once(child, 'message')
    child.kill('SIGCONT')
    child.send('continue')
    return (await outcome)[0] as Outcome
  } finally {
    child.kill('SIGKILL')
  }
}

describe('a validation that the processor was taken from', () => {
  it.concurrent.each(['alternatives', 'pattern', 'compiling'])(
    'is finished and not refused, and its thread goes on: %s',
    async (kind) => {
      expect(await stoppedWhile(kind, PATIENT_MS)).toEqual({
        code: null,
        limit: null,
        ended: 0,
      })
    },
  )

  it.concurrent('is overloaded past the time it may wait, and its thread goes on', async () => {
    expect(await stoppedWhile('pattern', IMPATIENT_MS)).toEqual({
      code: 'overloaded',
      limit: 'validation_wait_seconds',
      ended: 0,
    })
  })
})
