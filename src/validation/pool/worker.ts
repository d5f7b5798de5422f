/** The thread that validates: one call at a time, each answered. It holds no addon, so that it may be ended anywhere. */
import { constants, setPriority } from 'node:os'
import { parentPort, workerData } from 'node:worker_threads'
import { JsonSlice } from '../../core/json/slice.ts'
import { AjvValidator } from '../ajv/ajv-validator.ts'
import type { Watch } from '../ajv/compiled-schema.ts'
import {
  type Answer,
  answerTo,
  type FromThread,
  type Outcome,
  type ThreadData,
  type ToThread,
  type Used,
} from './messages.ts'
import { Progress, threadCpuUs } from './progress.ts'
import { type Budget, stoppingGuard, Unfinished } from './stopping.ts'

const US_PER_MS = 1000

const post = (message: FromThread): void => parentPort?.postMessage(message)
const { limits, progress: memory } = workerData as ThreadData
const progress = new Progress(memory)
const watch: { -readonly [Key in keyof Watch]: Watch[Key] } = {
  onPhase: (phase) => progress.begin(phase),
  guard: (_phase, _bytes, work) => work(),
}
const validator = new AjvValidator(limits, watch)

/** Processor time of the call at hand, in milliseconds. */
let compiledMs = 0
const budget: Budget = {
  quickMs: undefined,
  spend: (phase, ms) => {
    if (phase === 'compile') compiledMs += ms
  },
}

async function outcomeOf(message: ToThread): Promise<Outcome> {
  const beganAtUs = threadCpuUs()
  budget.quickMs = message.quickMs
  compiledMs = 0
  progress.begin('read')
  const answer = await answerOf(message)
  progress.rest()
  const callMs = (threadCpuUs() - beganAtUs) / US_PER_MS
  const used: Used = { callMs, judgingMs: Math.max(0, callMs - compiledMs) }
  return answer === undefined ? { unfinished: true, used } : { answer, used }
}

/** Undefined when the call is left unfinished. */
async function answerOf(message: ToThread): Promise<Answer | undefined> {
  const { bytes, schemaBytes, hasValue, options } = message
  const buffer = Buffer.from(bytes.buffer)
  const schema = new JsonSlice(buffer, 0, schemaBytes)
  try {
    if (!hasValue) return { warnings: await validator.compile(schema) }
    const value = new JsonSlice(buffer, schemaBytes)
    return { validation: await validator.validate(schema, value, options) }
  } catch (error) {
    return error instanceof Unfinished ? undefined : answerTo(error)
  }
}

// A schema that runs away leaves the processor to requests. Elsewhere this would be said of the whole process.
if (process.platform === 'linux') setPriority(constants.priority.PRIORITY_BELOW_NORMAL)

// The first schema takes many times longer than others, so it is one of ours, and has no deadline.
await validator.compile(new JsonSlice(Buffer.from('{"type":"object"}')))
watch.guard = stoppingGuard(limits, progress, budget)
progress.rest()
parentPort?.on('message', (message: ToThread) => void outcomeOf(message).then(post))
post({ ready: true })
