/**
 * Clients that each send their next request when the answer to the last is there.
 */
import { Client } from './client.ts'
import { median } from './stats.ts'

/** The next request of one client. */
export type NextRequest = () => Buffer

export interface Load {
  /** Asked once for each client, whose requests are its own. */
  readonly requests: () => NextRequest
  /** Of every answer. */
  readonly status: number
}

export interface CrowdOptions {
  readonly port: number
  readonly clients: number
  readonly load: Load
}

interface Member {
  readonly client: Client
  readonly next: NextRequest
}

const MS_PER_SECOND = 1000

export class Crowd {
  readonly #members: readonly Member[]

  private constructor(members: readonly Member[]) {
    this.#members = members
  }

  static async open({ port, clients, load }: CrowdOptions): Promise<Crowd> {
    const members = Array.from({ length: clients }, async () => ({
      client: await Client.connect(port, load.status),
      next: load.requests(),
    }))
    return new Crowd(await Promise.all(members))
  }

  /** Requests answered in a second, over `forMs` and until the last answer. */
  async perSecond(forMs: number): Promise<number> {
    const startedAt = performance.now()
    const counts = await this.#together(async ({ client, next }) => {
      let answered = 0
      while (performance.now() - startedAt < forMs) {
        await client.send(next())
        answered++
      }
      return answered
    })
    const answered = counts.reduce((sum, one) => sum + one, 0)
    return (answered / (performance.now() - startedAt)) * MS_PER_SECOND
  }

  /** Sends so many requests in all. */
  async sendAll(requests: number): Promise<void> {
    let left = requests
    await this.#together(async ({ client, next }) => {
      while (left-- > 0) await client.send(next())
    })
  }

  /** When one fails, none goes on. */
  async #together<Answer>(work: (member: Member) => Promise<Answer>): Promise<readonly Answer[]> {
    try {
      return await Promise.all(this.#members.map(work))
    } catch (error) {
      this.close()
      throw error
    }
  }

  close(): void {
    for (const { client } of this.#members) client.close()
  }
}

/** The median time of `calls` requests, one after another, in milliseconds. */
export async function p50Ms(client: Client, calls: number, next: NextRequest): Promise<number> {
  const times: number[] = []
  for (let call = 0; call < calls; call++) times.push((await client.send(next())).totalMs)
  return median(times)
}
