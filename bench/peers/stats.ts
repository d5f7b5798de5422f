/** Medians over rounds. A ratio is taken inside each round, so that what disturbs a round disturbs both sides of it. */

/** NaN for no values. */
export function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b)
  const middle = sorted.length / 2
  const upper = sorted[Math.floor(middle)] ?? Number.NaN
  if (!Number.isInteger(middle)) return upper
  return ((sorted[middle - 1] ?? Number.NaN) + upper) / 2
}

/** The median of `values[i] / bases[i]`; both sides have to have all rounds. */
export function medianRatio(values: readonly number[], bases: readonly number[]): number {
  if (values.length !== bases.length) return Number.NaN
  return median(values.map((value, round) => value / (bases[round] ?? Number.NaN)))
}

/** Three significant digits and no exponent; a dash for what is not a number. */
export function shown(value: number): string {
  if (!Number.isFinite(value)) return '—'
  return value >= 100 ? String(Math.round(value)) : String(Number(value.toPrecision(3)))
}
