/**
 * Arguments that name a large value, against a reply of as many bytes that lie ready.
 */
import type { Case, Figure } from '../case.ts'
import { Client, type TimedReply } from '../client.ts'
import { rowsJson } from '../data.ts'
import { get, JSON_TYPE, JSON_VALUE, post } from '../requests.ts'
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
        },
        {
          id: 'resolve-total',
          what: `${what}: all`,
          unit: 'x',
          bound: { kind: 'at_most', value: 1.3 },
        },
      ],
      async run(lab) {
        const ours = await Client.connect((await lab.shared('coatcheck')).port)
        const other = await Client.connect((await lab.shared('fastify')).port)
        await ours.send(post('/v1/runs/resolve/results', JSON_VALUE, rowsJson(BYTES)))
        const body = JSON.stringify({ arguments: { orders: '$r1' } })
        const resolving = post('/v1/runs/resolve/resolve', JSON_TYPE, body)
        const reading = get('/static')
        const [resolved, read]: [TimedReply[], TimedReply[]] = [[], []]
        await ours.send(resolving)
        await other.send(reading)
        for (let call = 0; call < lab.plan.rounds * CALLS_PER_ROUND; call++) {
          resolved.push(await ours.send(resolving))
          read.push(await other.send(reading))
        }
        ours.close()
        other.close()
        return [compare(resolved, read, 'firstMs'), compare(resolved, read, 'totalMs')]
      },
    },
  ]
}

function compare(
  resolved: readonly TimedReply[],
  read: readonly TimedReply[],
  which: 'firstMs' | 'totalMs',
): Figure {
  const ours = resolved.map((reply) => reply[which])
  const baseline = read.map((reply) => reply[which])
  const value = medianRatio(ours, baseline)
  return { ours: ms(median(ours)), baseline: ms(median(baseline)), value }
}
