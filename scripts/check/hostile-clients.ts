/**
 * Hostile clients in their own thread, so that their work on answers does not count as the
 * service's time. They get a time to stop, send until then, and report how often each request got
 * each answer.
 */
import { parentPort, workerData } from 'node:worker_threads'
import { Client } from './client.ts'
import { type HostileRequest, hostileRequests } from './hostile-requests.ts'

/** Data that the thread of hostile clients is started with. */
export interface HostileData {
  readonly url: string
  readonly clients: number
  readonly bytes: number
}

/** Number of answers by kind of request and status. */
export type HostileAnswers = ReadonlyMap<string, number>

const { url, clients, bytes } = workerData as HostileData
const client = new Client(url)
const requests = hostileRequests(bytes)

async function attack({ method, path, sent, what }: HostileRequest): Promise<string> {
  const { status } = await client.send(method, path, sent)
  return `${what}: ${status}`
}

parentPort?.on('message', async (untilMs: number) => {
  const answers = new Map<string, number>()
  await Promise.all(
    Array.from({ length: clients }, async (_, first) => {
      for (let next = first; Date.now() < untilMs; next++) {
        const answer = await attack(requests[next % requests.length] as HostileRequest)
        answers.set(answer, (answers.get(answer) ?? 0) + 1)
      }
    }),
  )
  parentPort?.postMessage(answers satisfies HostileAnswers)
})
