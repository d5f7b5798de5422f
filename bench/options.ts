/**
 * What was asked for on the command line.
 */
import { parseArgs } from 'node:util'
import type { Case } from './case.ts'
import { FULL, type Plan, QUICK } from './plan.ts'

export interface Options {
  readonly plan: Plan
  /** Fail on a gross miss. */
  readonly check: boolean
  /** Write the page. */
  readonly write: boolean
  /** Say which rows there are and do nothing. */
  readonly list: boolean
  /** Ids of rows, or their starts; empty: all. */
  readonly only: readonly string[]
  /** Where the outcomes go as JSON. */
  readonly json: string | undefined
}

export const USAGE = `npm run bench -- [options]
Measures coatcheck, prints the rows, and writes docs/reference/benchmarks.md.
  --quick        smaller sizes, under two minutes; does not write the page
  --only a,b     rows whose id is or begins with one of these; does not write the page
  --check        exit 1 when a row is worse than half of its floor (twice its ceiling) or did not run; where a
                 floor is far off, than half of what has been reached
  --write        write docs/reference/benchmarks.md in any case
  --json FILE    write the outcomes as JSON
  --list         the rows and their ids
  --help         says this`

/** Undefined for `--help`. Throws with what is wrong. */
export function readOptions(args: readonly string[]): Options | undefined {
  const { values } = parseArgs({
    args: [...args],
    options: {
      quick: { type: 'boolean', default: false },
      check: { type: 'boolean', default: false },
      write: { type: 'boolean', default: false },
      list: { type: 'boolean', default: false },
      only: { type: 'string', default: '' },
      json: { type: 'string' },
      help: { type: 'boolean', default: false },
    },
  })
  if (values.help) return undefined
  const only = values.only.split(',').filter((id) => id !== '')
  return {
    plan: values.quick ? QUICK : FULL,
    check: values.check,
    write: values.write || (!values.quick && only.length === 0),
    list: values.list,
    only,
    json: values.json,
  }
}

/** The cases with a row that was asked for. Throws when a name is nobody's. */
export function chosen(cases: readonly Case[], only: readonly string[]): readonly Case[] {
  const ids = cases.flatMap(({ rows }) => rows.map(({ id }) => id))
  const unknown = only.filter((start) => !ids.some((id) => id.startsWith(start)))
  if (unknown.length > 0) throw new Error(`no row is called ${unknown.join(', ')}; see --list`)
  if (only.length === 0) return cases
  return cases.filter(({ rows }) =>
    rows.some(({ id }) => only.some((start) => id.startsWith(start))),
  )
}
