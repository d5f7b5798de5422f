// The calls of the service that an agent loop makes. A client library would contain the same, in
// one file.
import type { Arguments, Json, Message, Outcome } from './types.ts'

/** Media type for a JSON value as a raw body; `application/json` would be an envelope. */
const JSON_VALUE = 'application/vnd.coatcheck-demo+json'
const TEXT = 'text/plain; charset=utf-8'

/** Answer to a put. */
export interface Put {
  readonly handle: string
  readonly evidence_id: string
  readonly rendering: string
  /** Text for the transcript; null for a suspension. */
  readonly content: string | null
}

/** Answer to a resolve. */
export interface Resolved {
  readonly arguments: Arguments
  readonly resolved: readonly string[]
  readonly valid: boolean | null
  readonly failure: { readonly __salvor_error: SentinelFailure } | null
}

/** Content of the sentinel of a failure. */
export interface SentinelFailure {
  readonly kind: string
  readonly message: string
  readonly attempts: number
}

/** Answer to a recall. */
export interface Page {
  readonly text: string
  readonly content: string
  readonly next: Arguments | null
}

/** Counts of a run. */
export interface Run {
  readonly results: number
  readonly produced_chars: number
  readonly shown_chars: number
}

/** Answer to a planned compaction. */
export interface Plan {
  readonly compactable: boolean
  readonly summarize: { readonly start: number; readonly end: number } | null
  readonly summary_request: string | null
  readonly handle: string | null
}

/** Tool definition for a model. */
export interface ToolDefinition {
  readonly name: string
  readonly description: string
  readonly input_schema: Json
}

/** Client of the service. Every call throws the problem's detail when the answer is not 2xx. */
export class Coatcheck {
  readonly run: string
  readonly #api: string

  constructor(url: string, run: string) {
    this.run = run
    this.#api = `${url}/v1`
  }

  openRun(tools: Readonly<Record<string, { readonly input_schema: Json }>>): Promise<Run> {
    return this.#json('PUT', this.#path(''), { tools })
  }

  readRun(): Promise<Run> {
    return this.#json('GET', this.#path(''))
  }

  async put(toolUseId: string, toolName: string, outcome: Outcome): Promise<Put> {
    const names = { tool_use_id: toolUseId, tool_name: toolName }
    switch (outcome.kind) {
      case 'text':
        return this.#putRaw(names, TEXT, outcome.bytes)
      case 'json':
        return this.#putRaw(names, JSON_VALUE, outcome.bytes)
      case 'failure':
        return this.#json('POST', this.#path('/results'), { ...names, failure: outcome.failure })
      case 'suspension': {
        const { reason, input_schema } = outcome
        return this.#json('POST', this.#path('/results'), {
          ...names,
          suspension: { reason, input_schema },
        })
      }
      default:
        return outcome satisfies never
    }
  }

  resolve(toolName: string, args: Arguments): Promise<Resolved> {
    return this.#json('POST', this.#path('/resolve'), {
      tool_name: toolName,
      arguments: args,
      mode: 'strict',
    })
  }

  recall(args: Arguments): Promise<Page> {
    return this.#json('POST', this.#path('/recall'), args)
  }

  recallTool(): Promise<ToolDefinition> {
    return this.#json('GET', '/tools/recall?provider=anthropic')
  }

  /** The value as it was put, or its text view. */
  async value(handle: string, as: 'bytes' | 'text'): Promise<Buffer> {
    const query = as === 'text' ? '?as=text' : ''
    return this.#send('GET', this.#path(`/results/${handle}/value${query}`))
  }

  elide(
    messages: readonly Message[],
    keep: number,
  ): Promise<{
    messages: Message[]
    elided: readonly { readonly tool_use_id: string; readonly bytes: number }[]
    estimated_tokens: { readonly before: number; readonly after: number }
  }> {
    return this.#json('POST', '/compaction/elide', { messages, keep_recent_tool_results: keep })
  }

  trigger(
    messages: readonly Message[],
    thresholdTokens: number,
  ): Promise<{
    trigger: string
    threshold_tokens: number | null
    fires: boolean
    estimated_tokens: number
  }> {
    return this.#json('POST', '/compaction/trigger', {
      messages,
      auto_threshold_tokens: thresholdTokens,
    })
  }

  /** Plans a compaction. The service stores the transcript in the run. */
  plan(messages: readonly Message[], preserveTokens: number): Promise<Plan> {
    const body = { messages, preserve_recent_user_tokens: preserveTokens, run_id: this.run }
    return this.#json('POST', '/compaction/plan', body)
  }

  apply(
    messages: readonly Message[],
    preserveTokens: number,
    summary: Json,
  ): Promise<{
    compacted: boolean
    messages: Message[]
    replaced_items: number
  }> {
    const body = { messages, preserve_recent_user_tokens: preserveTokens, summary }
    return this.#json('POST', '/compaction/apply', body)
  }

  #path(rest: string): string {
    return `/runs/${this.run}${rest}`
  }

  async #putRaw(names: Record<string, string>, type: string, bytes: Buffer): Promise<Put> {
    const query = new URLSearchParams(names)
    const answer = await this.#send('POST', this.#path(`/results?${query}`), { type, bytes })
    return JSON.parse(answer.toString()) as Put
  }

  async #json<Answer>(method: string, path: string, body?: unknown): Promise<Answer> {
    const sent = { type: 'application/json', bytes: Buffer.from(JSON.stringify(body ?? null)) }
    const answer = await this.#send(method, path, body === undefined ? undefined : sent)
    return JSON.parse(answer.toString()) as Answer
  }

  async #send(
    method: string,
    path: string,
    body?: { type: string; bytes: Buffer },
  ): Promise<Buffer> {
    const sent =
      body === undefined
        ? {}
        : { headers: { 'content-type': body.type }, body: new Uint8Array(body.bytes) }
    const answer = await fetch(this.#api + path, { method, ...sent })
    const bytes = Buffer.from(await answer.arrayBuffer())
    if (answer.ok) return bytes
    throw new Error(`${method} ${path}: ${answer.status} ${bytes.toString()}`)
  }
}
