/**
 * What a benchmark is: rows that say beforehand what they hold to, and a run that answers a figure for each. The verdict is
 * drawn here and nowhere else.
 */
import type { Lab } from './lab.ts'

export interface Bound {
  readonly kind: 'at_least' | 'at_most'
  readonly value: number
}

export interface RowSpec {
  /** What `--only` names, whole or by its start. */
  readonly id: string
  readonly what: string
  /** Of the figure: times the baseline, or megabytes of 1,000,000 bytes. */
  readonly unit: 'x' | 'MB'
  /** Absent: the row is there for comparison and holds to nothing. */
  readonly bound?: Bound
  /** What was reached of a bound that is far off: a check holds the row to this instead, so that it gets no worse. */
  readonly reached?: number
}

export interface Figure {
  /** What was measured, as it is shown. */
  readonly ours: string
  readonly baseline: string
  readonly value: number
}

/** Rows that are measured together. */
export interface Case {
  readonly rows: readonly RowSpec[]
  /** Answers a figure for each row, in their order. */
  run(lab: Lab): Promise<readonly Figure[]>
}

export interface Outcome {
  readonly row: RowSpec
  /** Or why there is none. */
  readonly result: Figure | { readonly failed: string }
}

/** `failed`: no figure. `gross`: worse than half of a floor, or than twice a ceiling. `context`: holds to nothing. */
export type Verdict = 'met' | 'missed' | 'gross' | 'failed' | 'context'

/** How much worse than its bound a figure may be before it counts as a gross miss. */
const GROSS = 2

export function verdictOf({ row, result }: Outcome): Verdict {
  if ('failed' in result || !Number.isFinite(result.value)) return 'failed'
  if (row.bound === undefined) return 'context'
  if (holds(result.value, row.bound)) return 'met'
  return holds(result.value, slack(row.bound)) ? 'missed' : 'gross'
}

/** The rows that a check does not let pass: those without a figure, and gross misses of what they are held to. */
export function failuresOf(outcomes: readonly Outcome[]): readonly Outcome[] {
  return outcomes.filter(({ row, result }) => {
    const { bound, reached } = row
    if (bound === undefined || reached === undefined) return isFailure({ row, result })
    return isFailure({ row: { ...row, bound: { ...bound, value: reached } }, result })
  })
}

const isFailure = (outcome: Outcome): boolean => ['gross', 'failed'].includes(verdictOf(outcome))

const slack = ({ kind, value }: Bound): Bound => ({
  kind,
  value: kind === 'at_least' ? value / GROSS : value * GROSS,
})

const holds = (figure: number, { kind, value }: Bound): boolean =>
  kind === 'at_least' ? figure >= value : figure <= value
