import { describe, expect, it } from 'vitest'
import { allCases } from '../../bench/cases.ts'
import { envelope, logPieces, logText } from '../../bench/data.ts'
import { chosen, readOptions } from '../../bench/options.ts'
import { FULL, QUICK } from '../../bench/plan.ts'
import { ReplyReader } from '../../bench/reply.ts'
import { Puts, recalls } from '../../bench/requests.ts'
import { interleave } from '../../bench/rounds.ts'

describe('rounds', () => {
  it('run everything in turns, every second one backwards, after a warm-up that counts for nothing', async () => {
    const calls: string[] = []
    const measure = (name: string) => () => calls.push(name)
    const seen = await interleave(
      { rounds: 2, warmUpMs: 0 },
      { a: measure('a'), b: measure('b'), c: measure('c') },
    )
    expect(calls.join('')).toBe('abc' + 'abc' + 'cba')
    expect(seen).toEqual({ a: [4, 9], b: [5, 8], c: [6, 7] })
  })
})

describe('an answer', () => {
  const answer = Buffer.from('HTTP/1.1 201 Created\r\nContent-Length: 5\r\nx: y\r\n\r\nhello')

  it('is whole when all its bytes are there, wherever it was cut on the way', () => {
    for (let cut = 1; cut < answer.length; cut++) {
      const reader = new ReplyReader()
      expect(reader.push(answer.subarray(0, cut))).toBeUndefined()
      const reply = reader.push(answer.subarray(cut))
      expect(reply?.status).toBe(201)
      expect(Buffer.concat(reply?.body ?? []).toString()).toBe('hello')
    }
  })

  it('that cannot be measured is an error', () => {
    const chunked = Buffer.from('HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n')
    expect(() => new ReplyReader().push(chunked)).toThrow('cannot read')
    expect(() => new ReplyReader().push(Buffer.concat([answer, answer]))).toThrow('more came')
  })
})

describe('what is asked for', () => {
  it('is a full run that writes its page, unless told otherwise', () => {
    expect(readOptions([])).toMatchObject({ plan: FULL, write: true, check: false })
    expect(readOptions(['--quick', '--check'])).toMatchObject({
      plan: QUICK,
      write: false,
      check: true,
    })
    expect(readOptions(['--only', 'put,size-logs'])).toMatchObject({
      only: ['put', 'size-logs'],
      write: false,
    })
    expect(readOptions(['--quick', '--write'])?.write).toBe(true)
    expect(() => readOptions(['--fast'])).toThrow('--fast')
  })

  it('may be rows by the start of their id, and nobody is passed over in silence', () => {
    const cases = allCases(QUICK)
    const some = chosen(cases, ['size-', 'loop-delay']).flatMap(({ rows }) => rows)
    expect(some.map(({ id }) => id)).toEqual(['loop-delay', 'size-logs', 'size-rows'])
    expect(() => chosen(cases, ['put', 'nobody'])).toThrow('nobody')
  })

  it('finds every row under an id of its own', () => {
    const ids = allCases(FULL).flatMap(({ rows }) => rows.map(({ id }) => id))
    expect(new Set(ids).size).toBe(ids.length)
  })
})

describe('what is put', () => {
  it('is an envelope of exactly the size in the name of its row', () => {
    for (const bytes of [1024, 30 * 1024, 1_000_000]) {
      const made = envelope('toolu_000000000', bytes)
      expect(made.length).toBe(bytes)
      expect(Object.keys(JSON.parse(made.toString()))).toEqual([
        'tool_use_id',
        'tool_name',
        'output',
      ])
    }
  })

  it('is a new result each time, whichever client puts it', () => {
    const puts = new Puts('run', 1024)
    const [one, other] = [puts.requests(), puts.requests()]
    const seen = Array.from({ length: 501 }, () => [one(), other()].map(String)).flat()
    const names = seen.map((text) => [/run-\d+/.exec(text)?.[0], /toolu_\d+/.exec(text)?.[0]])
    expect(names[0]).toEqual(['run-000000', 'toolu_000000000'])
    expect(names[999]).toEqual(['run-000000', 'toolu_000000999'])
    expect(names[1000]).toEqual(['run-000001', 'toolu_000001000'])
    expect(new Set(names.map(String)).size).toBe(1002)
  })

  it('is recalled all over', () => {
    const next = recalls('run', 1000)
    const seen = Array.from({ length: 1000 }, () => /toolu_\d+/.exec(next().toString())?.[0])
    expect(new Set(seen).size).toBe(1000)
  })

  it('is the same log for the same seed, in whole lines and in pieces of the length asked for', () => {
    const log = logText(100_000)
    expect(logText(100_000).equals(log)).toBe(true)
    expect(log.at(-1)).toBe(0x0a)
    expect(log.length).toBeGreaterThan(99_000)
    const pieces = [...logPieces(250_000, log)]
    expect(Buffer.concat(pieces).length).toBe(250_000)
  })
})
