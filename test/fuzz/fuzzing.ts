// Sends a service requests made from its own OpenAPI document, a few at a time, and judges each answer. What a request meets
// depends on those before it; the same seed on a new ledger sends the same ones.
import { readFileSync } from 'node:fs'
import fc from 'fast-check'
import { parse } from 'yaml'
import { Client } from '../../scripts/check/client.ts'
import { exampleRequests } from '../../scripts/openapi/example-requests.ts'
import type { OpenApiDocument } from '../../src/http/docs/openapi-document.ts'
import { Judge } from './judging.ts'
import { type FuzzRequest, requestsOf } from './requests.ts'

const DOCUMENT = new URL('../../openapi.yaml', import.meta.url)
/** Requests that are under way at the same time. */
export const AT_A_TIME = 4
/** After so many groups all begins anew. */
const RENEWED_GROUPS = 100
/** Before the name of a run that is none of hostile text. */
const NAMED_RUN = /^\/v1\/runs\/(?=(?:demo|[a-c]|n\d+)(?:[/?]|$))/

/** Small, so that limits, ends and evictions are met as well. */
export const FUZZED_SETTINGS: Readonly<Record<string, string>> = {
  COATCHECK_MAX_JSON_BODY_BYTES: '131072',
  COATCHECK_MAX_RAW_BODY_BYTES: '2097152',
  COATCHECK_MAX_RESOLVED_BYTES: '262144',
  COATCHECK_MAX_RESULTS_PER_RUN: '300',
  COATCHECK_MAX_BYTES_PER_RUN: '8388608',
  COATCHECK_MAX_SCHEMA_BYTES: '16384',
  COATCHECK_MAX_REFERENCES: '100',
  COATCHECK_RETENTION_SECONDS: '5',
  COATCHECK_VALIDATION_HEAP_BYTES: '134217728',
  COATCHECK_LOG_LEVEL: 'info',
}

export interface Fuzzed {
  readonly requests: number
  /** How often each status was answered. */
  readonly statuses: ReadonlyMap<number, number>
}

export class Fuzzer {
  readonly #document: OpenApiDocument
  readonly #judge: Judge
  readonly #client: Client
  readonly #groups: fc.Arbitrary<readonly FuzzRequest[]>
  readonly #statuses = new Map<number, number>()
  #requests = 0
  #era = 0

  constructor(url: string) {
    this.#document = parse(readFileSync(DOCUMENT, 'utf8')) as OpenApiDocument
    this.#judge = new Judge(this.#document)
    this.#client = new Client(url)
    this.#groups = fc.array(requestsOf(this.#document), {
      minLength: AT_A_TIME,
      maxLength: AT_A_TIME,
    })
  }

  get fuzzed(): Fuzzed {
    return { requests: this.#requests, statuses: this.#statuses }
  }

  /** Throws with the smallest group of requests of which one is answered with what is not declared. */
  async run(groups: number, seed: number): Promise<void> {
    let group = 0
    const property = fc.asyncProperty(this.#groups, async (requests) => {
      if (group++ % RENEWED_GROUPS === 0) await this.#renew()
      const wrong = await Promise.all(requests.map((request) => this.#send(request)))
      if (wrong.flat().length > 0) throw new Error(wrong.flat().join('\n'))
    })
    await fc.assert(property, { numRuns: groups, seed })
  }

  /** Purges all runs, as most have ended by then, and begins new ones: numbers of a purged run would go on. */
  async #renew(): Promise<void> {
    this.#era++
    const { body } = await this.#client.send('GET', '/v1/runs?limit=1000')
    const { items } = JSON.parse(body.toString()) as { items: readonly { run_id: string }[] }
    for (const { run_id: run } of items) {
      await this.#client.send('DELETE', `/v1/runs/${run}?purge=true`)
    }
    for (const { method, url, payload } of exampleRequests(this.#document)) {
      const sent = payload === undefined ? {} : { type: 'application/json', body: payload }
      await this.#client.send(method, this.#inEra(url), sent)
    }
  }

  #inEra(url: string): string {
    return url.replace(NAMED_RUN, `/v1/runs/era${this.#era}-`)
  }

  close(): void {
    this.#client.close()
  }

  async #send(request: FuzzRequest): Promise<readonly string[]> {
    const { route, headers, body } = request
    const url = this.#inEra(request.url)
    const sent = body === undefined ? { headers } : { headers, body }
    const reply = await this.#client.send(route.method, url, sent)
    this.#requests++
    this.#statuses.set(reply.status, (this.#statuses.get(reply.status) ?? 0) + 1)
    const shown = `${route.method} ${url.slice(0, 300)} → ${reply.status} ${reply.body.toString('utf8', 0, 500)}`
    return this.#judge.complaints(request, reply).map((complaint) => `${complaint}: ${shown}`)
  }
}
