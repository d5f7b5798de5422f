/**
 * What is put: made up, the same in every run, and as repetitive as such things are.
 */

const START_MS = Date.UTC(2026, 2, 14, 9, 26, 53)
const PATHS = ['/v1/orders', '/v1/customers', '/v1/carts', '/v1/search', '/v1/invoices', '/healthz']
const PODS = ['api-7f9c4d6b8-x2x4k', 'api-7f9c4d6b8-q8wzn', 'worker-5d88c9-lm2pr']
const NAMES = ['Ada', 'Zoë', 'Grace', 'Linus', 'Edsger', 'Barbara', 'Søren', 'Ken']
const LABELS = ['bug', 'docs', 'good first issue', 'performance', 'question']
const STATUSES = [200, 200, 200, 200, 201, 204, 304, 404, 500]
const MULTIPLIER = 0x6d2b79f5
const UINT32 = 2 ** 32
const HEX = 16
const LEAST_ROW_BYTES = 100

/** Pseudo-random numbers in [0, 1), the same ones for the same seed (the generator mulberry32). */
export class Dice {
  #state: number

  constructor(seed: number) {
    this.#state = seed
  }

  next(): number {
    this.#state = (this.#state + MULTIPLIER) | 0
    let mixed = Math.imul(this.#state ^ (this.#state >>> 15), 1 | this.#state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / UINT32
  }

  /** A whole number in [0, `below`). */
  below(below: number): number {
    return Math.floor(this.next() * below)
  }

  pick<Item>(items: readonly Item[]): Item {
    return items[this.below(items.length)] as Item
  }

  hex(digits: number): string {
    return Array.from({ length: digits }, () => this.below(HEX).toString(HEX)).join('')
  }
}

/** The log of a service, whole lines; `bytes` long or a line shorter. One line in a hundred is not ASCII. */
export function logText(bytes: number, seed = 1): Buffer {
  const dice = new Dice(seed)
  const text = Buffer.alloc(bytes)
  let at = START_MS
  let end = 0
  for (;;) {
    at += dice.below(40)
    const line = logLine(dice, at)
    if (end + Buffer.byteLength(line) > bytes) return text.subarray(0, end)
    end += text.write(line, end)
  }
}

function logLine(dice: Dice, at: number): string {
  const time = new Date(at).toISOString()
  const pod = dice.pick(PODS)
  if (dice.below(100) === 0) {
    return `${time} WARN  [${pod}] slow query user="${dice.pick(NAMES)} Çelik" rows=${dice.below(9000)} took ${dice.below(9000)} ms → retried\n`
  }
  const path = `${dice.pick(PATHS)}/${dice.below(50_000)}`
  const duration = (dice.next() * 80).toFixed(2)
  return `${time} INFO  [${pod}] request completed method=GET path=${path} status=${dice.pick(STATUSES)} duration_ms=${duration} bytes=${dice.below(20_000)} request_id=${dice.hex(16)} client=10.4.${dice.below(32)}.${dice.below(255)}\n`
}

/** Small objects in a row, as a query answers them. */
function rows(count: number, seed = 2): readonly object[] {
  const dice = new Dice(seed)
  return Array.from({ length: count }, (_, index) => ({
    id: 10_428_000 + index,
    name: `${dice.pick(NAMES)} ${dice.below(1000)}`,
    created_at: new Date(START_MS + dice.below(10_000_000)).toISOString(),
    total: dice.below(100_000) / 100,
    active: dice.below(3) > 0,
    tags: [dice.pick(LABELS), dice.pick(LABELS)],
  }))
}

/** Rows as JSON; about `bytes` long. */
export function rowsJson(bytes: number, seed = 2): Buffer {
  const sample = JSON.stringify(rows(100, seed)).length / 100
  return Buffer.from(JSON.stringify(rows(Math.round(bytes / sample), seed)))
}

/** Deeper objects full of URLs, indented, as the API of a code host answers them. */
export function issuesJson(count: number, seed = 3): Buffer {
  const dice = new Dice(seed)
  const issues = Array.from({ length: count }, (_, index) => {
    const url = `https://api.example.com/repos/acme/anvil/issues/${index}`
    const login = dice.pick(NAMES).toLowerCase()
    return {
      url,
      labels_url: `${url}/labels{/name}`,
      comments_url: `${url}/comments`,
      id: 1_900_000_000 + dice.below(1_000_000),
      number: index,
      title: `The ${dice.pick(LABELS)} of ${dice.pick(NAMES)}`,
      user: { login, id: dice.below(99_999), url: `https://api.example.com/users/${login}` },
      labels: [
        { id: dice.below(999), name: dice.pick(LABELS), color: dice.hex(6), default: false },
      ],
      locked: false,
      assignee: null,
      body: `When I open "the page" of ${dice.pick(NAMES)},\r\nit stays empty.\n\n- version ${dice.below(40)}.${dice.below(9)}\n`,
      reactions: { total_count: dice.below(9), '+1': dice.below(9), heart: 0 },
    }
  })
  return Buffer.from(JSON.stringify(issues, null, 2))
}

/** An envelope of exactly `bytes` bytes, when there is room for the least one, with rows as its output. */
export function envelope(toolUseId: string, bytes: number): Buffer {
  const start = `{"tool_use_id":${JSON.stringify(toolUseId)},"tool_name":"list_orders","output":[`
  const fill = (pad: string): string => `{"note":${JSON.stringify(pad)}}]}`
  let left = bytes - start.length - fill('').length
  let output = ''
  for (const row of rows(Math.ceil(bytes / LEAST_ROW_BYTES), bytes)) {
    const next = `${JSON.stringify(row)},`
    if (Buffer.byteLength(next) > left) break
    left -= Buffer.byteLength(next)
    output += next
  }
  const pad = '.'.repeat(Math.max(0, left))
  return Buffer.from(start + output + fill(pad))
}

/** `bytes` bytes of log in pieces, the same block again and again: for bodies too long to be made anew. */
export function* logPieces(bytes: number, block: Buffer): Generator<Buffer> {
  for (let left = bytes; left > 0; left -= block.length) yield block.subarray(0, left)
}
