// How often what is unusual comes.
import fc from 'fast-check'

/** True once in `times`. */
export const oneIn = (times: number): fc.Arbitrary<boolean> => fc.nat(times - 1).map((n) => n === 1)
/** `usual`, and once in `times` the other. */
export const seldom = <T>(
  times: number,
  rare: fc.Arbitrary<T>,
  usual: fc.Arbitrary<T>,
): fc.Arbitrary<T> =>
  fc.oneof({ weight: times - 1, arbitrary: usual }, { weight: 1, arbitrary: rare })
