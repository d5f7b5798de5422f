// What may be asked of a run, in any order, and what a model of plain arrays says of it. Each command asks the service, and then
// the model; what they say differently is an AssertionError.
import assert from 'node:assert/strict'
import { setTimeout as sleep } from 'node:timers/promises'
import fc from 'fast-check'
import { type ModelResult, recall } from '../ledger/model.ts'
import { IDS, type ModelPut, modelPut, rawText } from './puts.ts'
import {
  CREATED,
  expectDescription,
  GONE,
  nameOf,
  numberIn,
  OK,
  open,
  putOf,
  readable,
  type State,
  take,
} from './state.ts'
import type { Answer, World } from './world.ts'

const NOT_FOUND = 404
const NO_TEXT = 422
const MOST_AT_A_TIME = 5
const LONGEST_LIFE_MS = 30
const COMMANDS_AT_MOST = 30

type Command = fc.AsyncCommand<State, World>

/** A command of what it does; it can be done at any time. */
function command(shown: string, run: (state: State, world: World) => Promise<void>): Command {
  return { check: () => true, run, toString: () => shown }
}

const putOne = (run: string, sent: ModelPut): Command =>
  command(`put ${run} "${sent.put.toolUseId}" ${sent.shown}`, async (state, world) => {
    take(state, run, sent, await world.put(nameOf(state, run), sent))
  })

/** Their order is that of the handles they get. */
const putMany = (run: string, all: readonly ModelPut[]): Command =>
  command(`put at once ${run} ${all.map(({ shown }) => shown)}`, async (state, world) => {
    const answers = await Promise.all(
      all.map(async (sent) => ({ sent, answer: await world.put(nameOf(state, run), sent) })),
    )
    const order = ({ answer: { status, body } }: { answer: Answer }): number =>
      (status === CREATED ? 0 : Number.MAX_SAFE_INTEGER / 2) + (numberIn(body['handle']) || 0)
    for (const { sent, answer } of answers.toSorted((a, b) => order(a) - order(b))) {
      take(state, run, sent, answer)
    }
  })

/** Kills the service while puts are under way: what was answered is there, the rest is there whole or not at all. */
const putAndKill = (run: string, count: number, lifeMs: number): Command =>
  command(`kill after ${lifeMs} ms of ${count} puts to ${run}`, async (state, world) => {
    const name = nameOf(state, run)
    const before = state.model.runs.get(name)?.lastNumber ?? 0
    const sent = Array.from({ length: count }, (_, n) =>
      rawText(`${before} ${n} of a kill`, { toolUseId: '', idempotencyKey: null }),
    )
    const answering = sent.map((put) => world.put(name, put).catch(() => undefined))
    await sleep(lifeMs)
    await world.kill()
    const answers = await Promise.all(answering)
    await world.start()
    if (state.model.runs.get(name)?.state !== 'ended') {
      await takeKept(state, world, { run, before, sent, answers })
    }
  })

/** Takes what is in the list past the number `before`, whether or not it was answered. */
async function takeKept(
  state: State,
  world: World,
  killed: {
    readonly run: string
    readonly before: number
    readonly sent: readonly ModelPut[]
    readonly answers: readonly (Answer | undefined)[]
  },
): Promise<void> {
  const { run, before, sent, answers } = killed
  const { body } = await world.json('GET', `${nameOf(state, run)}/results?limit=1000`)
  const items = (body['items'] ?? []) as readonly Answer['body'][]
  for (const item of items.filter(({ handle }) => numberIn(handle) > before)) {
    const index = sent.findIndex(({ put }) => put.digest === item['sha256'])
    const answer = answers[index] ?? { status: CREATED, body: item }
    assert.equal(answer.body['handle'], item['handle'])
    take(state, run, sent[index] as ModelPut, answer)
  }
  const kept = items.map(({ handle }) => handle)
  for (const answer of answers) {
    if (answer?.status === CREATED) assert.ok(kept.includes(answer.body['handle']))
  }
}

const openRun = (run: string): Command =>
  command(`open ${run}`, async (state, world) => {
    const name = nameOf(state, run)
    const before = readable(state, run)?.state
    const { status } = await world.json('PUT', name, {})
    if (before === 'ended') return assert.equal(status, GONE)
    assert.equal(status, before === undefined ? CREATED : OK)
    open(state, name)
  })

const endRun = (run: string, purge: boolean): Command =>
  command(`${purge ? 'purge' : 'end'} ${run}`, async (state, world) => {
    const name = nameOf(state, run)
    const { status, body } = await world.json('DELETE', `${name}?purge=${purge}`)
    const { results, keptBytes } = state.model.end(name, purge)
    assert.deepEqual([status, body['results'], body['kept_bytes']], [OK, results, keptBytes])
  })

const recallOne = (run: string, id: string): Command =>
  command(`recall ${run} "${id}"`, async (state, world) => {
    const known = readable(state, run)
    const result = known && recall(known, id)
    const view = result && putOf(state, result).view
    let [pages, call]: [string, unknown] = ['', { id }]
    do {
      const { status, body } = await world.json('POST', `${nameOf(state, run)}/recall`, call)
      if (result === undefined) return assert.equal(status, NOT_FOUND)
      if (view === null) return assert.equal(status, NO_TEXT)
      assert.deepEqual([status, body['evidence_id']], [OK, result.evidenceId])
      pages += String(body['content'])
      call = body['next']
    } while (call !== null)
    assert.equal(pages, view)
  })

const resolveAll = (run: string, numbers: readonly number[]): Command =>
  command(`resolve ${run} ${numbers}`, async (state, world) => {
    const references = numbers.map((number) => `$r${number}`)
    const known = readable(state, run)
    const { status, body } = await world.json('POST', `${nameOf(state, run)}/resolve`, {
      arguments: references,
    })
    if (known?.state === 'ended') return assert.equal(status, GONE)
    const expected = numbers.map((number) => {
      const result = known?.results.find((one) => one.number === number)
      return result === undefined ? { reason: 'unknown_handle' } : putOf(state, result).argument
    })
    const values = expected.map((one, n) => ('value' in one ? one.value : references[n]))
    const reasons = expected.flatMap((one) => ('reason' in one ? [one.reason] : []))
    const unresolved = (body['unresolved'] as readonly { reason: string }[]).map(
      (one) => one.reason,
    )
    assert.deepEqual([status, body['arguments'], unresolved], [OK, values, reasons])
  })

const readValue = (run: string, number: number): Command =>
  command(`read ${run} r${number}`, async (state, world) => {
    const result = readable(state, run)?.results.find((one) => one.number === number)
    const { status, body } = await world.value(nameOf(state, run), `r${number}`)
    if (result === undefined) return assert.equal(status, NOT_FOUND)
    assert.equal(status, OK)
    assert.ok(body.equals(result.put.value))
  })

/** The run, its list of results, and each of its ids. */
const readAll = (run: string): Command =>
  command(`list ${run}`, async (state, world) => {
    const name = nameOf(state, run)
    const known = readable(state, run)
    const { status, body } = await world.json('GET', name)
    const list = await world.json('GET', `${name}/results?limit=1000`)
    if (known === undefined) {
      return assert.deepEqual([status, list.status], [NOT_FOUND, NOT_FOUND])
    }
    const { results } = known
    const sum = (of: (one: ModelResult) => number): number =>
      results.reduce((total, one) => total + of(one), 0)
    assert.deepEqual(
      [status, body['state'], body['results'], body['kept_bytes'], body['produced_chars']],
      [
        OK,
        known.state,
        results.length,
        sum(({ put }) => put.value.length),
        sum((one) => [...(putOf(state, one).view ?? '')].length),
      ],
    )
    const items = list.body['items'] as readonly Answer['body'][]
    assert.equal(items.length, results.length)
    for (const [n, result] of results.entries()) {
      expectDescription(state, result, items[n] as Answer['body'])
    }
  })

const breakOff = (run: string): Command =>
  command(`break off an upload to ${run}`, async (state, world) => {
    if (readable(state, run) === undefined) return
    const body = Buffer.from('never whole')
    await world.client.breakOff(`/v1/runs/${nameOf(state, run)}/results`, { body })
  })

const RUNS = ['a', 'b'] as const
const run = fc.constantFrom(...RUNS)
const number = fc.integer({ min: 1, max: 9 })

/** So many times as often as the rarest. */
const COMMANDS: readonly (readonly [weight: number, fc.Arbitrary<Command>])[] = [
  [12, fc.tuple(run, modelPut).map((of) => putOne(...of))],
  [
    5,
    fc
      .tuple(run, fc.array(modelPut, { minLength: 2, maxLength: MOST_AT_A_TIME }))
      .map((of) => putMany(...of)),
  ],
  [
    4,
    fc
      .tuple(
        run,
        fc.oneof(
          fc.constantFrom(...IDS.slice(1)),
          number.map((n) => `$r${n}`),
        ),
      )
      .map((of) => recallOne(...of)),
  ],
  [4, fc.tuple(run, fc.array(number, { maxLength: 4 })).map((of) => resolveAll(...of))],
  [2, fc.tuple(run, number).map((of) => readValue(...of))],
  [2, run.map(readAll)],
  [1, run.map(openRun)],
  [1, run.map(breakOff)],
  [1, run.map((name) => endRun(name, false))],
  [2, run.map((name) => endRun(name, true))],
  [1, fc.constant(command('restart', (_state, world) => world.restart()))],
  [
    1,
    fc
      .tuple(run, fc.integer({ min: 1, max: 12 }), fc.nat(LONGEST_LIFE_MS))
      .map((of) => putAndKill(...of)),
  ],
]

export const commands: fc.Arbitrary<Iterable<Command>> = fc.commands(
  COMMANDS.flatMap(([weight, arbitrary]) => Array<fc.Arbitrary<Command>>(weight).fill(arbitrary)),
  { maxCommands: COMMANDS_AT_MOST, size: 'max' },
)

/** Everything that a sequence has left, once more. */
export async function expectAll(state: State, world: World): Promise<void> {
  for (const name of RUNS) {
    await readAll(name).run(state, world)
    for (const { number, evidenceId } of readable(state, name)?.results ?? []) {
      await readValue(name, number).run(state, world)
      await recallOne(name, evidenceId).run(state, world)
    }
  }
}
