/**
 * Entry of a thread of large calls. It runs the application itself, with the ledger and the
 * validator of the main thread. It loads no native addon, so it can be ended at any point.
 */
import { parentPort, workerData } from 'node:worker_threads'
import type { FastifyBaseLogger } from 'fastify'
import { buildApp } from '../http/app.ts'
import { Metrics } from '../http/observability/metrics.ts'
import type { FromThread, Logged, ThreadData, ToThread } from './messages.ts'
import { remoteServices } from './remote.ts'

const post = (message: FromThread, transfer: ArrayBuffer[] = []): void =>
  parentPort?.postMessage(message, transfer)

const { services, limits, bodyLimits } = workerData as ThreadData
let call: Pick<ToThread, 'tenant' | 'now'> = { tenant: '', now: 0 }

const app = await buildApp({
  context: {
    ...remoteServices(services),
    limits: { ...limits, inlineBytes: Number.POSITIVE_INFINITY },
    now: () => call.now,
  },
  metrics: new Metrics({ tell: (counted) => post({ counted }) }),
  bodyLimits: { ...bodyLimits, inlineBytes: Number.POSITIVE_INFINITY },
  access: { tokens: undefined, allowUnauthenticated: true, tenant: () => call.tenant },
  loggerInstance: logger(),
  isDocumented: false,
})
await app.ready()

async function answer({ tenant, now, method, url, headers, body }: ToThread): Promise<void> {
  call = { tenant, now }
  const payload = body && Buffer.from(body.buffer, body.byteOffset, body.byteLength)
  const {
    statusCode,
    headers: answered,
    rawPayload,
  } = await app.inject({
    method: method as 'POST',
    url,
    headers,
    ...(payload === undefined ? {} : { payload }),
  })
  const bytes = ownMemory(rawPayload)
  const plain = Object.entries(answered).map(([name, value]) => [name, String(value)])
  const known = { status: statusCode, headers: Object.fromEntries(plain), body: bytes }
  post({ answer: known }, [bytes.buffer])
}

/** The bytes in memory that nothing else shares. */
function ownMemory(bytes: Buffer): Uint8Array<ArrayBuffer> {
  const isOwn = bytes.byteLength === bytes.buffer.byteLength && bytes.buffer instanceof ArrayBuffer
  return isOwn ? (bytes as Buffer<ArrayBuffer>) : new Uint8Array(bytes)
}

/**
 * Logger that sends warnings and errors to the main thread. The main thread also logs one line for
 * each request.
 */
function logger(): FastifyBaseLogger {
  const silent = (): void => undefined
  const at =
    (level: Logged['level']) =>
    (facts: unknown, text = ''): void =>
      post({ logged: { level, facts: { ...(facts as object) }, text } })
  const log = { level: 'warn', silent, trace: silent, debug: silent, info: silent }
  const faults = { warn: at('warn'), error: at('error'), fatal: at('error') }
  return { ...log, ...faults, child: logger } as unknown as FastifyBaseLogger
}

parentPort?.on('message', (message: ToThread) => void answer(message))
post({ ready: true })
