/**
 * In process: the measures and the window of a large text, against one pass of `buffer.isUtf8` over it.
 */
import { isUtf8 } from 'node:buffer'
import { measureText } from '../../src/core/text.ts'
import { planWindow } from '../../src/core/window/window.ts'
import type { Case, Figure } from '../case.ts'
import { logPieces, logText } from '../data.ts'
import type { Plan } from '../plan.ts'
import { interleave, timed } from '../rounds.ts'
import { ms, size } from '../show.ts'
import { median, medianRatio } from '../stats.ts'

const BLOCK_BYTES = 8_000_000

export function textCases({ textBytes }: Plan): readonly Case[] {
  return [
    {
      rows: [
        {
          id: 'text-window',
          what: `window of a text of ${size(textBytes)} vs one isUtf8 pass, time`,
          unit: 'x',
          bound: { kind: 'at_most', value: 10 },
        },
        {
          id: 'text-measure',
          what: `its lines and chars vs one isUtf8 pass, time`,
          unit: 'x',
          bound: { kind: 'at_most', value: 8 },
        },
      ],
      async run(lab) {
        const block = logText(BLOCK_BYTES)
        const text = Buffer.concat([...logPieces(textBytes, block)])
        const seen = await interleave(lab.plan, {
          check: () => timed(() => isUtf8(text)),
          window: () => timed(() => planWindow(text)),
          measure: () => timed(() => measureText(text)),
        })
        const against = (times: readonly number[]): Figure => ({
          ours: ms(median(times)),
          baseline: ms(median(seen.check)),
          value: medianRatio(times, seen.check),
        })
        return [against(seen.window), against(seen.measure)]
      },
    },
  ]
}
