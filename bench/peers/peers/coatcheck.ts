/** Coatcheck, by HTTP alone: what any loop would send, over one connection. */
import { KEEP_RESULTS, QUESTION, toolCalls } from '../inputs.ts'
import type { LinePlace, LineRange, Peer, Receipt } from '../peer.ts'
import { type Answer, Wire } from '../wire.ts'

const TEXT = 'text/plain; charset=utf-8'
const JSON_TYPE = 'application/json'
const JSON_VALUE = 'application/vnd.peers+json'
const BYTES = 'application/octet-stream'
const FIRST_ERROR = 400
/** The limit that a pattern met. */
const PAST_ITS_TIME = '"limit":"validate_ms"'

interface Put {
  readonly handle: string
  readonly evidence_id: string
  readonly content: string
}

interface Page {
  readonly content: string
  readonly next: object | null
}

interface Resolved {
  readonly valid: boolean | null
}

/** `shownChars`: of a transcript text at most; else the service's default. */
export async function open(url: string, run: string, shownChars?: number): Promise<Peer> {
  const wire = await Wire.open(url)
  if (shownChars !== undefined) await showAtMost(wire, run, shownChars)
  return new CoatcheckPeer(wire, `/v1/runs/${run}`)
}

/** Opens a run whose transcript texts are no longer. */
export async function showAtMost(wire: Wire, run: string, chars: number): Promise<void> {
  const body = Buffer.from(JSON.stringify({ verbatim_limit_chars: chars }))
  answered(await wire.send({ method: 'PUT', path: `/v1/runs/${run}`, type: JSON_TYPE, body }))
}

class CoatcheckPeer implements Peer {
  readonly kind = 'service'
  readonly #wire: Wire
  readonly #run: string

  constructor(wire: Wire, run: string) {
    this.#wire = wire
    this.#run = run
  }

  putText(id: string, text: string): Promise<Receipt> {
    return this.#put(id, TEXT, Buffer.from(text))
  }

  putJson(id: string, json: string): Promise<Receipt> {
    return this.#put(id, JSON_VALUE, Buffer.from(json))
  }

  putBytes(id: string, bytes: Buffer): Promise<Receipt> {
    return this.#put(id, BYTES, bytes)
  }

  async read({ ref }: Receipt): Promise<Buffer> {
    const { handle } = JSON.parse(ref) as Put
    const path = `${this.#run}/results/${handle}/value`
    return answered(await this.#wire.send({ method: 'GET', path }))
  }

  lines(receipt: Receipt, { first, last }: LineRange): Promise<string> {
    return this.#recall(receipt, { start: first, end: last })
  }

  /** Its pages joined; each is bounded. */
  reachLine(receipt: Receipt, { line }: LinePlace): Promise<string> {
    return this.#recall(receipt, { start: line, end: line })
  }

  /**
   * There is no search; a caller's pattern is met where arguments are validated. That it cannot be judged in time is an answer.
   */
  async search({ ref }: Receipt, pattern: string): Promise<string> {
    const { handle } = JSON.parse(ref) as Put
    const call = {
      arguments: { text: `$${handle}` },
      input_schema: { type: 'object', properties: { text: { type: 'string', pattern } } },
    }
    const body = Buffer.from(JSON.stringify(call))
    const path = `${this.#run}/resolve`
    const answer = await this.#wire.send({ method: 'POST', path, type: JSON_TYPE, body })
    const text = answer.body.toString()
    return text.includes(PAST_ITS_TIME) ? text : answered(answer).toString()
  }

  async callWithUnresolved(reference: string): Promise<boolean> {
    const answer = await this.#post(`${this.#run}/resolve`, {
      arguments: { rows: reference },
      input_schema: { type: 'object' },
      mode: 'strict',
    })
    return (JSON.parse(answer.toString()) as Resolved).valid !== false
  }

  /** From objects to objects: what a caller in JavaScript waits for. */
  async elide(): Promise<number> {
    const messages = transcript()
    const started = performance.now()
    const body = { messages, keep_recent_tool_results: KEEP_RESULTS }
    const answer = await this.#post('/v1/compaction/elide', body)
    const { elided } = JSON.parse(answer.toString()) as { elided: readonly object[] }
    const took = performance.now() - started
    if (elided.length === toolCalls().length - KEEP_RESULTS) return took
    throw new Error(`${elided.length} results were elided`)
  }

  async close(): Promise<void> {
    this.#wire.close()
  }

  async #put(id: string, type: string, body: Buffer): Promise<Receipt> {
    const path = `${this.#run}/results?tool_use_id=${encodeURIComponent(id)}`
    const answer = answered(await this.#wire.send({ method: 'POST', path, type, body }))
    const { handle, evidence_id, content } = JSON.parse(answer.toString()) as Put
    return { shown: content, ref: JSON.stringify({ handle, evidence_id }) }
  }

  async #recall({ ref }: Receipt, range: object): Promise<string> {
    const { evidence_id: id } = JSON.parse(ref) as Put
    let text = ''
    for (let next: object | null = { id, range }; next !== null; ) {
      const page: Page = JSON.parse((await this.#post(`${this.#run}/recall`, next)).toString())
      text += page.content
      next = page.next
    }
    return text
  }

  async #post(path: string, value: object): Promise<Buffer> {
    const body = Buffer.from(JSON.stringify(value))
    return answered(await this.#wire.send({ method: 'POST', path, type: JSON_TYPE, body }))
  }
}

/** The messages to elide, as the service takes them. */
export function transcript(): readonly object[] {
  const turns = toolCalls().flatMap(({ id, name, input, result }) => [
    { role: 'assistant', content: [{ type: 'tool_use', id, name, input }] },
    { role: 'user', content: [{ type: 'tool_result', tool_use_id: id, content: result }] },
  ])
  return [{ role: 'user', content: QUESTION }, ...turns]
}

function answered({ status, body }: Answer): Buffer {
  if (status < FIRST_ERROR) return body
  throw new Error(`${status} ${body.toString()}`)
}
