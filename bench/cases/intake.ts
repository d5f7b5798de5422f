/**
 * In process: what a JSON value costs before it is kept, against `JSON.parse` of the same bytes.
 */
import type { Case } from '../case.ts'
import { issuesJson, logText, rowsJson } from '../data.ts'
import { intake } from '../intake.ts'
import { interleave, timed } from '../rounds.ts'
import { ms } from '../show.ts'
import { median, medianRatio } from '../stats.ts'

const ROWS_BYTES = 1_600_000
const ISSUES = 1_000
const STRING_BYTES = 5_000_000
/** So many calls make one measure: one alone is too short. */
const CALLS = 5

export function intakeCases(): readonly Case[] {
  return [
    intakeOf('rows', '10,000 small rows', () => rowsJson(ROWS_BYTES)),
    intakeOf('issues', 'objects as a code host answers them', () => issuesJson(ISSUES)),
    intakeOf('string', 'one string of 5 MB', () =>
      Buffer.from(JSON.stringify(logText(STRING_BYTES).toString())),
    ),
  ]
}

function intakeOf(name: string, what: string, make: () => Buffer): Case {
  return {
    rows: [
      {
        id: `intake-${name}`,
        what: `JSON intake vs JSON.parse(buf.toString()), time: ${what}`,
        unit: 'x',
        bound: { kind: 'at_most', value: 1 },
      },
    ],
    async run(lab) {
      const bytes = make()
      const repeated = (work: () => unknown) => () =>
        timed(() => {
          for (let call = 0; call < CALLS; call++) work()
        })
      const { ours, baseline } = await interleave(lab.plan, {
        ours: repeated(() => intake(bytes)),
        baseline: repeated(() => JSON.parse(bytes.toString())),
      })
      const value = medianRatio(ours, baseline)
      const each = (times: readonly number[]): string => ms(median(times) / CALLS)
      return [{ ours: each(ours), baseline: each(baseline), value }]
    },
  }
}
