/**
 * Whether large puts hold up the server's event loop, on which everybody else waits.
 */
import type { Case } from '../case.ts'
import { Crowd } from '../crowd.ts'
import { JSON_TYPE, Puts, post, repeat } from '../requests.ts'
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
        const puts = new Puts('loop-delay', BYTES)
        const echoes = repeat(post('/echo', JSON_TYPE, puts.body))
        const putting = await Crowd.open({ port: ours.port, clients: CLIENTS, load: puts })
        const echoing = await Crowd.open({ port: echo.port, clients: CLIENTS, load: echoes })
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
