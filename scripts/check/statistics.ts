/** Statistics of the long checks. */

const MEDIAN = 0.5

/** The value below which the share `q` of all values lies; NaN for no values. */
export function quantile(values: readonly number[], q: number): number {
  const sorted = values.toSorted((a, b) => a - b)
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * q))] ?? Number.NaN
}

/** The middle value; NaN for no values. */
export const median = (values: readonly number[]): number => quantile(values, MEDIAN)
