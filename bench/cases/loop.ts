/**
 * Whether large puts hold up the server's event loop, on which everybody else waits.
 */
import type { Case } from '../case.ts'
import { Crowd } from '../crowd.ts'
import { envelope } from '../data.ts'
import { JSON_TYPE, Puts, post, same, toolUseId } from '../requests.ts'
import { interleave } from '../rounds.ts'
import { ms } from '../show.ts'
import { median, medianRatio } from '../stats.ts'

const CLIENTS = 16
const BYTES = 1_000_000

export function loopCases(): readonly Case[] {
  return [
    {
      rows: [
        {
          id: 'loop-delay',
          what: 'event-loop delay, p99, during 16 × 1 MB puts vs during Fastify echo',
          unit: 'x',
          bound: { kind: 'at_most', value: 1.3 },
        },
      ],
      async run(lab) {
        const [ours, echo] = [await lab.shared('coatcheck'), await lab.shared('fastify')]
        const puts = new Puts(BYTES)
        const echoed = post('/echo', JSON_TYPE, envelope(toolUseId(0), BYTES))
        const putting = await Crowd.open(ours.port, CLIENTS, () => puts.client())
        const echoing = await Crowd.open(echo.port, CLIENTS, () => same(echoed))
        const { loadMs } = lab.plan
        const seen = await interleave(lab.plan, {
          put: () => ours.delayDuring(() => putting.perSecond(loadMs)),
          echo: () => echo.delayDuring(() => echoing.perSecond(loadMs)),
        })
        putting.close()
        echoing.close()
        const value = medianRatio(seen.put, seen.echo)
        return [{ ours: ms(median(seen.put)), baseline: ms(median(seen.echo)), value }]
      },
    },
  ]
}
