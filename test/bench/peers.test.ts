// The parts of the bench of peers that can be tested without its packages: cases, figures, tables.
import { describe, expect, it } from 'vitest'
import { lineAt, textOf, toolCalls } from '../../bench/peers/inputs.ts'
import { findingOf, NASTY_CASES, type NastyCase } from '../../bench/peers/nasty.ts'
import type { Peer, Receipt } from '../../bench/peers/peer.ts'
import { goals, met, type Results } from '../../bench/peers/results.ts'
import { rounds } from '../../bench/peers/rounds.ts'
import { median, medianRatio, shown } from '../../bench/peers/stats.ts'
import { findingsTable, goalsTable, putsTable } from '../../bench/peers/tables.ts'

const RESULTS: Results = {
  machine: 'a machine',
  versions: [],
  rounds: 2,
  textMegabytes: 100,
  missing: new Map([['redis', 'spawn redis-server\nENOENT']]),
  puts: [
    {
      title: '30 KB',
      figures: new Map([
        ['disk', [2, 4]],
        ['coatcheck', [4, 8]],
      ]),
    },
  ],
  http: new Map([
    ['coatcheck', [300, 200]],
    ['postgres', [100, 100]],
  ]),
  lines: new Map([
    ['coatcheck', [1, 1]],
    ['strands-file', [100, 100]],
    ['deepagents-memory', [40, 40]],
  ]),
  elisions: new Map([
    ['coatcheck', [3, 3]],
    ['langchain', [2, 2]],
  ]),
  findings: new Map([['coatcheck', NASTY_CASES.map(() => ({ verdict: 'kept', note: '' }))]]),
}

describe('figures of the bench of peers', () => {
  it('have their middle as median, and of two middles the mean', () => {
    expect([median([3, 1, 2]), median([4, 1, 2, 3]), median([])]).toEqual([2, 2.5, Number.NaN])
  })

  it('are compared inside each round, and not at all when a side lacks one', () => {
    expect(medianRatio([2, 30, 8], [1, 10, 2])).toBe(3)
    expect(medianRatio([2, 30], [1])).toBeNaN()
  })

  it('are shown with three digits and without an exponent', () => {
    expect([1234.5, 12.345, 0.00123456, Number.NaN].map(shown)).toEqual([
      '1235',
      '12.3',
      '0.00123',
      '—',
    ])
  })

  it('come from turns in alternating order, without the first round', async () => {
    const order: string[] = []
    const turn = (name: string, figure: number) => async () => {
      order.push(name)
      return figure
    }
    const turns = new Map([
      ['a', turn('a', 1)],
      ['b', turn('b', 2)],
    ])
    const figures = await rounds(2, turns)
    expect(order.join('')).toBe('abbaab')
    expect([...figures]).toEqual([
      ['a', [1, 1]],
      ['b', [2, 2]],
    ])
  })
})

describe('the goals beside peers', () => {
  it('take the fastest peer that is asked by line, and are not met when a side is missing', () => {
    const reached = goals(RESULTS).map((goal) => [goal.reached, met(goal)])
    expect(reached).toEqual([
      [Number.NaN, false],
      [2.5, true],
      [40, false],
      [1.5, true],
      [10, true],
    ])
    expect(goalsTable(RESULTS)).toContain('| nasty inputs kept | 10 | ≥ 10 | yes |')
    expect(goalsTable(RESULTS)).toContain('| — | ≥ 1 | not measured |')
  })
})

describe('the tables beside peers', () => {
  it('say of a candidate that is not there why', () => {
    expect(putsTable(RESULTS)).toContain(
      '| redis: not measured: spawn redis-server ENOENT | — | — | — | — |',
    )
  })

  it('have one row for each of ten inputs, and no cell that a bar in a pattern opens', () => {
    const rows = findingsTable(RESULTS).split('\n').slice(2)
    expect(rows).toHaveLength(10)
    for (const row of rows) expect(row.split(/(?<!\\)\|/)).toHaveLength(4)
  })
})

describe('what the bench puts', () => {
  it('is whole lines that can be told apart, and 401 messages with their question', () => {
    const text = textOf(1000)
    expect(text.split('\n')[4]).toBe(lineAt(5))
    expect(text.length % lineAt(1).concat('\n').length).toBe(0)
    expect(1 + 2 * toolCalls().length).toBe(401)
  })
})

describe('a nasty input', () => {
  const nul = NASTY_CASES.find(({ name }) => name.startsWith('U+0000')) as NastyCase
  const ids = NASTY_CASES.find(({ name }) => name.startsWith('one id twice')) as NastyCase
  const verdictOf = async (peer: Peer, nasty: NastyCase) => (await findingOf(peer, nasty)).verdict

  it('is kept by what gives it back, wrong when changed, lost when refused', async () => {
    expect(await verdictOf(new Keeper('library'), nul)).toBe('kept')
    expect(await verdictOf(new Keeper('library', (text) => text.replace('\0', '')), nul)).toBe(
      'wrong',
    )
    const refusing = (): string => {
      throw new Error('no')
    }
    expect(await verdictOf(new Keeper('library', refusing), nul)).toBe('lost')
  })

  it('under an id that was there before is lost when overwritten, and is a store’s caller’s care', async () => {
    expect(await verdictOf(new Keeper('library'), ids)).toBe('lost')
    expect(await verdictOf(new Keeper('store'), ids)).toBe('not offered')
  })
})

/** A candidate that keeps texts under the id that it is given. */
class Keeper implements Peer {
  readonly kind: Peer['kind']
  readonly #change: (text: string) => string
  readonly #kept = new Map<string, string>()

  constructor(kind: Peer['kind'], change = (text: string): string => text) {
    this.kind = kind
    this.#change = change
  }

  async putText(id: string, text: string): Promise<Receipt> {
    this.#kept.set(id, this.#change(text))
    return { shown: id, ref: id }
  }

  async read({ ref }: Receipt): Promise<Buffer> {
    return Buffer.from(this.#kept.get(ref) ?? '')
  }

  async close(): Promise<void> {}
}
