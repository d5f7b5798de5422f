/**
 * What is made of measured numbers. Machines are noisy: a figure is the median over rounds, and a ratio is taken within each
 * round, between neighbours in time, before its median is.
 */

const HALF = 2

/** The middle of `values`; of an even number the mean of the two in the middle. Throws for none. */
export function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b)
  const middle = sorted.length / HALF
  const low = sorted[Math.ceil(middle) - 1]
  const high = sorted[Math.floor(middle)]
  if (low === undefined || high === undefined) throw new Error('there is no median of nothing')
  return (low + high) / HALF
}

/** The median of `ours[i] / baseline[i]`, round by round. */
export function medianRatio(ours: readonly number[], baseline: readonly number[]): number {
  if (ours.length !== baseline.length) throw new Error('the two have not run the same rounds')
  return median(ours.map((value, round) => value / (baseline[round] as number)))
}
