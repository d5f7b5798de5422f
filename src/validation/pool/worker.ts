/**
 * The validation thread. Handles one call at a time and answers each. It loads no native addon, so
 * it can be ended at any point.
 */
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

/** Processor time that the current call used to compile, in milliseconds. */
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

/** Undefined when the call was stopped unfinished. */
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

// A slow schema leaves the processor to requests. On other systems the priority would apply to the
// whole process.
if (process.platform === 'linux') setPriority(constants.priority.PRIORITY_BELOW_NORMAL)

// Compiling the first schema takes many times longer than others. So the first is a fixed one,
// without a deadline.
await validator.compile(new JsonSlice(Buffer.from('{"type":"object"}')))
watch.guard = stoppingGuard(limits, progress, budget)
progress.rest()
parentPort?.on('message', (message: ToThread) => void outcomeOf(message).then(post))
post({ ready: true })
