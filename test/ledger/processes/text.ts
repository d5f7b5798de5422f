// What a killed process had put, so that the test can tell it again.

/** The nth text; of one chunk or of several. */
export function textOf(n: number): string {
  const lines = n % 7 === 0 ? 20_000 : n % 50
  return `text ${n}\n${'line\n'.repeat(lines)}`
}

/** How many results a process puts before it purges them. */
export const PURGED_RESULTS = 200
