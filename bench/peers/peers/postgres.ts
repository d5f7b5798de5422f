/** PostgreSQL as a plain store: a row with a text column, or with bytes where they are none. */
import { Pool } from 'pg'
import { shownText } from '../glue.ts'
import type { LinePlace, LineRange, Peer, Receipt } from '../peer.ts'

const TABLE = 'create table if not exists results (id text primary key, body text, bytes bytea)'
const INSERT = 'insert into results (id, body) values ($1, $2)'
const INSERT_BYTES = 'insert into results (id, bytes) values ($1, $2)'

/** `folder`: where the server's Unix socket is. `connections`: at most so many at a time. */
export async function connectPostgres(folder: string, connections: number): Promise<Pool> {
  const pool = new Pool({ host: folder, user: 'postgres', database: 'postgres', max: connections })
  await pool.query(TABLE)
  return pool
}

export async function insertText(pool: Pool, id: string, text: string): Promise<void> {
  await pool.query({ name: 'put', text: INSERT, values: [id, text] })
}

export async function open(folder: string): Promise<Peer> {
  return new PostgresPeer(await connectPostgres(folder, 1))
}

class PostgresPeer implements Peer {
  readonly kind = 'store'
  readonly #pool: Pool

  constructor(pool: Pool) {
    this.#pool = pool
  }

  async putText(id: string, text: string): Promise<Receipt> {
    await insertText(this.#pool, id, text)
    return { shown: shownText(id, text), ref: id }
  }

  putJson(id: string, json: string): Promise<Receipt> {
    return this.putText(id, json)
  }

  async putBytes(id: string, bytes: Buffer): Promise<Receipt> {
    await this.#pool.query(INSERT_BYTES, [id, bytes])
    return { shown: id, ref: id }
  }

  async read({ ref }: Receipt): Promise<Buffer> {
    const { rows } = await this.#pool.query('select body, bytes from results where id = $1', [ref])
    const [row] = rows as { body: string | null; bytes: Buffer | null }[]
    if (row === undefined) throw new Error(`no row ${ref}`)
    return row.bytes ?? Buffer.from(row.body ?? '')
  }

  lines(receipt: Receipt, { first, last, lineBytes }: LineRange): Promise<string> {
    return this.#substring(receipt, (first - 1) * lineBytes + 1, (last - first + 1) * lineBytes)
  }

  /** Where a line ends, the caller knows. */
  reachLine(receipt: Receipt, { mark, endByte }: LinePlace): Promise<string> {
    return this.#substring(receipt, endByte - mark.length + 1, mark.length)
  }

  async search({ ref }: Receipt, pattern: string): Promise<string> {
    const text = 'select body ~ $2 as found from results where id = $1'
    return JSON.stringify((await this.#pool.query(text, [ref, pattern])).rows)
  }

  close(): Promise<void> {
    return this.#pool.end()
  }

  async #substring({ ref }: Receipt, from: number, chars: number): Promise<string> {
    const text =
      'select substring(body from $2::int for $3::int) as part from results where id = $1'
    const { rows } = await this.#pool.query(text, [ref, from, chars])
    return (rows as { part: string }[])[0]?.part ?? ''
  }
}
