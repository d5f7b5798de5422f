// The service in this process: a ledger in a folder of its own, a clock that tests move, and requests whose bodies are
// JSON texts, so that number tokens and duplicate members reach it as written.
import { join } from 'node:path'
import type { InjectOptions, LightMyRequestResponse } from 'fastify'
import { readConfig } from '../../src/config.ts'
import type { Problem } from '../../src/http/problems/problems.ts'
import type { ContentAnswer, PutAnswer, ResultDescription } from '../../src/runs/answer.ts'
import type { CallError } from '../../src/runs/call-errors.ts'
import type { RunAnswer } from '../../src/runs/lifecycle.ts'
import type { RecallAnswer } from '../../src/runs/recall.ts'
import type { Unresolved } from '../../src/runs/resolve.ts'
import { type Service, startService } from '../../src/service.ts'
import type { SchemaWarning } from '../../src/validation/validator.ts'
import { NOW, temporaryFolder } from './ledger.ts'

export type Settings = Readonly<Record<string, string>>
export type Headers = Readonly<Record<string, string>>

export interface Answer<Body = Record<string, unknown>> {
  readonly status: number
  readonly headers: LightMyRequestResponse['headers']
  readonly bytes: Buffer
  readonly text: string
  /** The JSON of the answer; a problem where it is one. */
  readonly body: Body & Partial<Problem> & { readonly available?: readonly string[] }
}

export interface ResolveBody {
  readonly arguments: unknown
  readonly resolved: readonly string[]
  readonly unresolved: readonly Unresolved[]
  readonly valid: boolean | null
  readonly errors: readonly CallError[]
  readonly warnings: readonly SchemaWarning[]
  readonly errors_total: number
  readonly failure: unknown
}

export interface PageBody<Item> {
  readonly items: readonly Item[]
  readonly next: string | null
}

type Payload = string | Buffer | undefined

/** The calls of one run. `query` starts with its `?`. */
export class RunCalls {
  readonly id: string
  readonly #api: Api

  constructor(api: Api, id: string) {
    this.#api = api
    this.id = id
  }

  get path(): string {
    return `/v1/runs/${this.id}`
  }

  open(body = '{}'): Promise<Answer<RunAnswer>> {
    return this.#api.json('PUT', this.path, body)
  }

  read(): Promise<Answer<RunAnswer>> {
    return this.#api.call('GET', this.path)
  }

  end(query = ''): Promise<Answer> {
    return this.#api.call('DELETE', this.path + query)
  }

  /** Puts an envelope. */
  put(
    envelope: string,
    headers: Headers = {},
  ): Promise<Answer<PutAnswer & { readonly unwrapped?: true }>> {
    return this.#api.json('POST', `${this.path}/results`, envelope, headers)
  }

  /** Puts a raw body. */
  putRaw(
    body: string | Buffer,
    type: string,
    query = '',
    headers: Headers = {},
  ): Promise<Answer<PutAnswer>> {
    const all = { 'content-type': type, ...headers }
    return this.#api.call('POST', `${this.path}/results${query}`, body, all)
  }

  list(query = ''): Promise<Answer<PageBody<ResultDescription>>> {
    return this.#api.call('GET', `${this.path}/results${query}`)
  }

  result(handle: string): Promise<Answer<ResultDescription>> {
    return this.#api.call('GET', `${this.path}/results/${handle}`)
  }

  content(handle: string, query = ''): Promise<Answer<ContentAnswer>> {
    return this.#api.call('GET', `${this.path}/results/${handle}/content${query}`)
  }

  value(handle: string, query = '', headers: Headers = {}): Promise<Answer> {
    return this.#api.call('GET', `${this.path}/results/${handle}/value${query}`, undefined, headers)
  }

  recall(body: string): Promise<Answer<RecallAnswer>> {
    return this.#api.json('POST', `${this.path}/recall`, body)
  }

  resolve(body: string): Promise<Answer<ResolveBody>> {
    return this.#api.json('POST', `${this.path}/resolve`, body)
  }

  tool(name: string, body: string): Promise<Answer> {
    return this.#api.json('PUT', `${this.path}/tools/${encodeURIComponent(name)}`, body)
  }
}

export class Api {
  readonly #folder: ReturnType<typeof temporaryFolder>
  readonly #settings: Settings
  #service: Service
  #runs = 0
  /** Milliseconds since the epoch, as the service sees them. */
  readonly clock: { now: number }

  constructor(
    service: Service,
    parts: {
      readonly folder: ReturnType<typeof temporaryFolder>
      readonly settings: Settings
      readonly clock: { now: number }
    },
  ) {
    this.#service = service
    this.#folder = parts.folder
    this.#settings = parts.settings
    this.clock = parts.clock
  }

  get app(): Service['app'] {
    return this.#service.app
  }

  /** A run that no test has used. */
  newRun(): RunCalls {
    this.#runs++
    return new RunCalls(this, `run-${this.#runs}`)
  }

  run(id: string): RunCalls {
    return new RunCalls(this, id)
  }

  json<Body = Record<string, unknown>>(
    method: 'PUT' | 'POST',
    path: string,
    body: string | Buffer,
    headers: Headers = {},
  ): Promise<Answer<Body>> {
    return this.call(method, path, body, { 'content-type': 'application/json', ...headers })
  }

  async call<Body = Record<string, unknown>>(
    method: NonNullable<InjectOptions['method']>,
    url: string,
    payload?: Payload,
    headers: Headers = {},
  ): Promise<Answer<Body>> {
    const options = { method, url, headers }
    const reply = await this.app.inject(
      payload === undefined ? options : { ...options, payload: Buffer.from(payload) },
    )
    return answerOf(reply)
  }

  /** A base URL of a real socket on a free port. */
  listen(): Promise<string> {
    return this.app.listen({ host: '127.0.0.1', port: 0 })
  }

  /** Closes the service, and starts another on the same ledger. */
  async restart(): Promise<void> {
    await this.#service.close()
    this.#service = await start(this.#folder.path, this.#settings, this.clock)
  }

  async close(): Promise<void> {
    await this.#service.close()
    this.#folder.remove()
  }
}

/** No answer may depend on how busy the machine is. */
const PATIENT: Settings = { COATCHECK_COMPILE_MS: '60000', COATCHECK_VALIDATE_MS: '60000' }

export async function startApi(settings: Settings = {}): Promise<Api> {
  const folder = temporaryFolder()
  const clock = { now: NOW }
  const service = await start(folder.path, settings, clock)
  return new Api(service, { folder, settings, clock })
}

function start(folder: string, settings: Settings, clock: { now: number }): Promise<Service> {
  const config = readConfig({
    COATCHECK_LEDGER: join(folder, 'ledger.db'),
    ...PATIENT,
    ...settings,
  })
  return startService(config, { now: () => clock.now })
}

function answerOf<Body>(reply: LightMyRequestResponse): Answer<Body> {
  const { statusCode: status, headers, rawPayload: bytes } = reply
  return {
    status,
    headers,
    bytes,
    text: bytes.toString(),
    get body() {
      return JSON.parse(bytes.toString()) as Answer<Body>['body']
    },
  }
}

/** The inside of a JSON string token. */
export const quoted = (text: string): string => JSON.stringify(text)

/** `count` numbered lines, each with its line end. */
export const numberedLines = (count: number, word = 'line'): string =>
  Array.from({ length: count }, (_, i) => `${word} ${i + 1}\n`).join('')

/** All pages from `{id}` on, by following `next`. */
export async function recallAll(run: RunCalls, id: string): Promise<readonly RecallAnswer[]> {
  const pages: RecallAnswer[] = []
  let call: string | null = JSON.stringify({ id })
  while (call !== null) {
    const { status, body, text }: Answer<RecallAnswer> = await run.recall(call)
    if (status !== 200) throw new Error(text)
    pages.push(body)
    call = body.next === null ? null : JSON.stringify(body.next)
  }
  return pages
}
