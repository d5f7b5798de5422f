/**
 * Runs in every thread of a service before it, and harms the thread that it is told to: `{ thread, how }`. A message is
 * answered when that thread is there, and just before the harm is done.
 */
import { BroadcastChannel, isMainThread, threadName, Worker } from 'node:worker_threads'

export interface Harm {
  /** `main`, or the name that the thread was started with. */
  readonly thread: string
  /** A way that JavaScript has, or the path of an addon that crashes when it is loaded. */
  readonly how: 'throw' | 'reject' | 'fill memory' | 'start threads' | (string & {})
}

/** What threads tell each other: is it there; it is; now. */
type Told = 'who' | 'here' | 'harm'

interface Sent {
  readonly told: Told
  readonly to: Harm
}

const ASK_EVERY_MS = 50
/** Lets the answer to the test leave first. */
const ANSWER_MS = 200
const THREADS = 8
const PIECE_NUMBERS = 2_097_152

const own = isMainThread ? 'main' : (threadName ?? '')
const channel = new BroadcastChannel('crash')
channel.unref()

if (isMainThread) {
  process.on('message', (to: Harm) => void begin(to))
  // the service ends as it would without a channel
  process.channel?.unref()
} else {
  channel.onmessage = (event: unknown) => {
    const { told, to } = (event as { readonly data: Sent }).data
    if (to.thread !== own) return
    if (told === 'who') channel.postMessage({ told: 'here', to } satisfies Sent)
    else if (told === 'harm') setImmediate(() => harm(to))
  }
}

async function begin(to: Harm): Promise<void> {
  if (to.thread !== own) await found(to)
  process.send?.('found')
  setTimeout(() => {
    if (to.thread === own) harm(to)
    else channel.postMessage({ told: 'harm', to } satisfies Sent)
  }, ANSWER_MS)
}

function found(to: Harm): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>()
  const asking = setInterval(
    () => channel.postMessage({ told: 'who', to } satisfies Sent),
    ASK_EVERY_MS,
  )
  channel.onmessage = () => {
    clearInterval(asking)
    resolve()
  }
  return promise
}

function harm({ how }: Harm): void {
  if (how === 'throw') throw new Error('thrown in a test')
  else if (how === 'reject') void Promise.reject(new Error('rejected in a test'))
  else if (how === 'fill memory') fillMemory()
  else if (how === 'start threads') startThreads()
  else process.dlopen({ exports: {} }, how)
}

/** V8 reserves memory for each thread that it cannot do without. */
function startThreads(): void {
  for (let count = 0; count < THREADS; count++) new Worker('', { eval: true })
}

/** Fills the heap of this thread until V8 gives up. */
function fillMemory(): void {
  const pieces: unknown[] = []
  for (;;) pieces.push(new Array(PIECE_NUMBERS).fill(0.5))
}
