// Measures how long each of the worst inputs holds the event loop of a service: the longest turn, by time of a processor.
import { startChild } from '../support/service.ts'
import type { WorstInput } from './worst-inputs.ts'

const TURNS = new URL('./preload/turns.ts', import.meta.url)
/** Any message starts a measurement. */
const START = 0

/** No call may hold the event loop longer. */
export const MOST_TURN_MS = 100

export interface Held {
  readonly input: WorstInput
  readonly turnMs: number
  readonly status: number
  /** Until the answer was there. */
  readonly wallMs: number
}

/** Asks one service for each input, one after the other. */
export async function* held(inputs: readonly WorstInput[]): AsyncGenerator<Held> {
  const child = await startChild({ preload: TURNS })
  try {
    // the first turns compile what is used
    for (const path of ['/readyz', '/v1/runs', '/metrics']) await fetch(child.url + path)
    for (const input of inputs) {
      const body = input.body?.()
      await child.tell(START)
      const since = performance.now()
      const status = await ask(child.url, input, body)
      const wallMs = performance.now() - since
      yield { input, turnMs: Number(await child.tell(START)), status, wallMs }
    }
  } finally {
    await child.stop()
  }
}

/** The status of the answer, all of which is read. */
async function ask(
  url: string,
  { route, path, headers = {} }: WorstInput,
  body: Buffer | undefined,
): Promise<number> {
  const method = route.split(' ', 1)[0] ?? ''
  const response = await fetch(url + path, {
    method,
    headers,
    ...(body && { body: new Uint8Array(body) }),
  })
  for await (const _ of response.body ?? []) {
  }
  return response.status
}
