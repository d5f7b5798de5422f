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
  const { kind, value } = row.bound
  const slack = kind === 'at_least' ? value / GROSS : value * GROSS
  return holds(result.value, { kind, value: slack }) ? 'missed' : 'gross'
}

/** The rows that a check does not let pass. */
export function failuresOf(outcomes: readonly Outcome[]): readonly Outcome[] {
  return outcomes.filter((outcome) => ['gross', 'failed'].includes(verdictOf(outcome)))
}

const holds = (figure: number, { kind, value }: Bound): boolean =>
  kind === 'at_least' ? figure >= value : figure <= value
