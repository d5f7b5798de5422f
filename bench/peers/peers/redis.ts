/** Redis as a plain store: bytes under a key that the caller chooses. */
import { createClient, RESP_TYPES } from 'redis'
import { shownText } from '../glue.ts'
import type { LinePlace, LineRange, Peer, Receipt } from '../peer.ts'

export interface RedisStore {
  set(key: string, value: string | Buffer): Promise<void>
  get(key: string): Promise<Buffer | null>
  range(key: string, start: number, end: number): Promise<Buffer>
  close(): Promise<void>
}

/** `socket`: path of the server's Unix socket. */
export async function connectRedis(socket: string): Promise<RedisStore> {
  const client = createClient({ socket: { path: socket, tls: false } })
  client.on('error', () => undefined)
  await client.connect()
  const bytes = client.withTypeMapping({ [RESP_TYPES.BLOB_STRING]: Buffer })
  return {
    set: async (key, value) => void (await client.set(key, value)),
    get: (key) => bytes.get(key),
    range: async (key, start, end) => (await bytes.getRange(key, start, end)) ?? Buffer.alloc(0),
    close: () => client.close(),
  }
}

export async function open(socket: string): Promise<Peer> {
  return new RedisPeer(await connectRedis(socket))
}

class RedisPeer implements Peer {
  readonly kind = 'store'
  readonly #store: RedisStore

  constructor(store: RedisStore) {
    this.#store = store
  }

  async putText(id: string, text: string): Promise<Receipt> {
    await this.#store.set(id, text)
    return { shown: shownText(id, text), ref: id }
  }

  putJson(id: string, json: string): Promise<Receipt> {
    return this.putText(id, json)
  }

  async putBytes(id: string, bytes: Buffer): Promise<Receipt> {
    await this.#store.set(id, bytes)
    return { shown: id, ref: id }
  }

  async read({ ref }: Receipt): Promise<Buffer> {
    const value = await this.#store.get(ref)
    if (value === null) throw new Error(`nothing under ${ref}`)
    return value
  }

  async lines({ ref }: Receipt, { first, last, lineBytes }: LineRange): Promise<string> {
    return (await this.#store.range(ref, (first - 1) * lineBytes, last * lineBytes - 1)).toString()
  }

  /** Where a line ends, the caller knows. */
  async reachLine({ ref }: Receipt, { mark, endByte }: LinePlace): Promise<string> {
    return (await this.#store.range(ref, endByte - mark.length, endByte - 1)).toString()
  }

  close(): Promise<void> {
    return this.#store.close()
  }
}
