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
  type ThreadData,
  type ToThread,
} from './messages.ts'
import { Progress } from './progress.ts'
import { stoppingGuard } from './stopping.ts'

const post = (message: FromThread): void => parentPort?.postMessage(message)
const { limits, progress: memory } = workerData as ThreadData
const progress = new Progress(memory)
const watch: { -readonly [Key in keyof Watch]: Watch[Key] } = {
  onPhase: (phase) => progress.begin(phase),
  guard: (_phase, _bytes, work) => work(),
}
const validator = new AjvValidator(limits, watch)

async function answer({ bytes, schemaBytes, hasValue, options }: ToThread): Promise<Answer> {
  progress.begin('read')
  const buffer = Buffer.from(bytes.buffer)
  const schema = new JsonSlice(buffer, 0, schemaBytes)
  try {
    if (!hasValue) return { warnings: await validator.compile(schema) }
    const value = new JsonSlice(buffer, schemaBytes)
    return { validation: await validator.validate(schema, value, options) }
  } catch (error) {
    return answerTo(error)
  } finally {
    progress.rest()
  }
}

// A schema that runs away leaves the processor to requests. Elsewhere this would be said of the whole process.
if (process.platform === 'linux') setPriority(constants.priority.PRIORITY_BELOW_NORMAL)

// The first schema takes many times longer than others, so it is one of ours, and has no deadline.
await validator.compile(new JsonSlice(Buffer.from('{"type":"object"}')))
watch.guard = stoppingGuard(limits, progress)
progress.rest()
parentPort?.on('message', (message: ToThread) => void answer(message).then(post))
post({ ready: true })
