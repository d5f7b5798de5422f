// Random choices that a seed decides, so that a test which fails can be run again.

export interface Random {
  /** A whole number from 0 to below `end`. */
  below(end: number): number
}

/** The same choices for the same seed (mulberry32). */
export function seeded(seed: number): Random {
  let state = seed
  const next = (): number => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
  return { below: (end) => Math.floor(next() * end) }
}
