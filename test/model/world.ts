// A service in a process of its own that can be ended, or killed, and started again on the same ledger.
import { join } from 'node:path'
import { Client, type Reply } from '../../scripts/check/client.ts'
import { temporaryFolder } from '../support/ledger.ts'
import { type ServiceChild, startChild } from '../support/service.ts'
import type { ModelPut } from './puts.ts'

export class World {
  readonly #folder = temporaryFolder()
  #child: ServiceChild | undefined
  #client: Client | undefined

  get ledger(): string {
    return join(this.#folder.path, 'ledger.db')
  }

  async start(): Promise<void> {
    this.#child = await startChild({ env: { COATCHECK_LEDGER: this.ledger } })
    this.#client = new Client(this.#child.url)
  }

  /** Ends it as it should, and starts it again. */
  async restart(): Promise<void> {
    this.#client?.close()
    const exit = await this.#child?.stop()
    if (exit?.code !== 0) throw new Error(`it ended with ${JSON.stringify(exit)}`)
    await this.start()
  }

  async kill(): Promise<void> {
    await this.#child?.kill()
    this.#client?.close()
  }

  async close(): Promise<void> {
    await this.kill()
    this.#folder.remove()
  }

  get client(): Client {
    if (this.#client === undefined) throw new Error('it was not started')
    return this.#client
  }

  put(run: string, { put, type, body }: ModelPut): Promise<Answer> {
    const { toolUseId, idempotencyKey } = put
    const query = `?tool_use_id=${encodeURIComponent(toolUseId)}`
    const headers = idempotencyKey === null ? {} : { 'idempotency-key': idempotencyKey }
    const path = `/v1/runs/${run}/results${toolUseId === '' ? '' : query}`
    return this.client.send('POST', path, { type, body, headers }).then(answerOf)
  }

  async json(method: string, path: string, body?: unknown): Promise<Answer> {
    const sent = body === undefined ? {} : { type: 'application/json', body: JSON.stringify(body) }
    return answerOf(await this.client.send(method, `/v1/runs/${path}`, sent))
  }

  async value(run: string, handle: string): Promise<Reply> {
    return this.client.send('GET', `/v1/runs/${run}/results/${handle}/value`)
  }
}

export interface Answer {
  readonly status: number
  readonly body: Readonly<Record<string, unknown>>
}

const answerOf = ({ status, body }: Reply): Answer => ({
  status,
  body: JSON.parse(body.toString()) as Answer['body'],
})
