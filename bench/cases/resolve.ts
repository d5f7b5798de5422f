/**
 * Arguments that name a large value, against a reply of as many bytes that lie ready.
 */
import type { Case, Figure } from '../case.ts'
import { Client, CREATED, type TimedReply } from '../client.ts'
import { rowsJson } from '../data.ts'
import { get, JSON_TYPE, JSON_VALUE, post } from '../requests.ts'
import { interleave } from '../rounds.ts'
import { ms } from '../show.ts'
import { median, medianRatio } from '../stats.ts'

/** As much as the baseline's reply. */
const BYTES = 10_000_000
const CALLS_PER_ROUND = 3

export function resolveCases(): readonly Case[] {
  const what = 'resolve of a 10 MB reference, no schema, vs a static 10 MB reply'
  return [
    {
      rows: [
        {
          id: 'resolve-first-byte',
          what: `${what}: first byte`,
          unit: 'x',
          bound: { kind: 'at_most', value: 1.5 },
          reached: 2.3,
        },
        {
          id: 'resolve-total',
          what: `${what}: all`,
          unit: 'x',
          bound: { kind: 'at_most', value: 1.3 },
          reached: 1.8,
        },
      ],
      async run(lab) {
        const ours = await Client.connect((await lab.shared('coatcheck')).port)
        const other = await Client.connect((await lab.shared('fastify')).port)
        const putting = await Client.connect((await lab.shared('coatcheck')).port, CREATED)
        await putting.send(post('/v1/runs/resolve/results', JSON_VALUE, rowsJson(BYTES)))
        putting.close()
        const body = JSON.stringify({ arguments: { orders: '$r1' } })
        const resolving = post('/v1/runs/resolve/resolve', JSON_TYPE, body)
        const reading = get('/static')
        const rounds = lab.plan.rounds * CALLS_PER_ROUND
        const seen = await interleave(
          { ...lab.plan, rounds },
          {
            resolved: async () => timesOf(await ours.send(resolving)),
            read: async () => timesOf(await other.send(reading)),
          },
        )
        ours.close()
        other.close()
        return [compare(seen, 'firstMs'), compare(seen, 'totalMs')]
      },
    },
  ]
}

type Times = Pick<TimedReply, 'firstMs' | 'totalMs'>

/** The times alone: the bodies are large. */
const timesOf = ({ firstMs, totalMs }: TimedReply): Times => ({ firstMs, totalMs })

function compare(
  seen: { readonly resolved: readonly Times[]; readonly read: readonly Times[] },
  which: keyof Times,
): Figure {
  const ours = seen.resolved.map((times) => times[which])
  const baseline = seen.read.map((times) => times[which])
  const value = medianRatio(ours, baseline)
  return { ours: ms(median(ours)), baseline: ms(median(baseline)), value }
}
