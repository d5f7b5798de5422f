// Validates in a process that its parent stops and continues by signals, and tells what came of it and how many threads were
// ended. Each call needs a few hundred ms of processor time.
import { once } from 'node:events'
import type { Worker } from 'node:worker_threads'
import { CoatcheckError } from '../../../src/core/errors.ts'
import { ThreadValidator } from '../../../src/validation/pool/thread-validator.ts'
import { json, slice } from '../support.ts'

const LEAST_US = 200_000
const GROWTH = 1.25

export interface Outcome {
  readonly code: string | null
  readonly limit: unknown
  readonly ended: number
}

let ended = 0
process.on('worker', (worker: Worker) => {
  worker.on('exit', () => ended++)
})

const [kind = '', waitMs = ''] = process.argv.slice(2)
const validator = new ThreadValidator({
  compileMs: 2_000,
  validateMs: 2_000,
  schemaBytes: 10_000_000,
  waitMs: Number(waitMs),
})

const items = (count: number) => json(`[${Array(count).fill('1000').join(',')}]`)
const alternatives = (count: number) => Array.from({ length: count }, (_, i) => ({ const: i }))
const wide = (count: number) =>
  slice({ properties: Object.fromEntries(Array.from({ length: count }, (_, i) => [i, {}])) })

const CALLS: Readonly<Record<string, () => Promise<unknown>>> = {
  alternatives: () =>
    validator.validate(slice({ items: { anyOf: alternatives(300) } }), items(6_000)),
  compiling: () => validator.compile(wide(4_000)),
  // Cubic: slow enough to be stopped in, and far from its deadline.
  pattern: () => {
    const pattern = '^a*a*a*$'
    return validator.validate(slice({ pattern }), slice(textFor(new RegExp(pattern, 'u'))))
  },
}

/** A text that this machine takes at least {@link LEAST_US} of processor time to refuse. */
function textFor(pattern: RegExp): string {
  for (let chars = 200; ; chars *= GROWTH) {
    const text = `${'a'.repeat(chars)}b`
    const began = process.threadCpuUsage().user
    pattern.test(text)
    if (process.threadCpuUsage().user - began > LEAST_US) return text
  }
}

/** A machine that is busy already may need longer than `waitMs` to start a thread. */
async function compileSomething(): Promise<void> {
  try {
    await validator.compile(slice({ type: 'object' }))
  } catch {
    await compileSomething()
  }
}

await compileSomething()
const work = CALLS[kind]?.().then(
  () => ({ code: null, limit: null }),
  (error: unknown) => {
    if (!(error instanceof CoatcheckError)) throw error
    return { code: error.code, limit: error.facts['limit'] }
  },
)
process.send?.('running')
await once(process, 'message')
const outcome = await work
// By its answer, a thread that was ended before it is gone.
await compileSomething()
process.send?.({ ...outcome, ended })
await validator.close()
process.disconnect?.()
