/**
 * Rounds: everything that is compared is measured in turns, so that what else the machine does meets all alike.
 */

/** Answers one number: requests per second, milliseconds, whatever is compared. */
export type Measure = () => Promise<number> | number

/** What each measure answered, round by round. One round before them warms up and counts for nothing. */
export async function interleave<Name extends string>(
  rounds: number,
  measures: Readonly<Record<Name, Measure>>,
): Promise<Readonly<Record<Name, readonly number[]>>> {
  const names = Object.keys(measures) as Name[]
  const answers = Object.fromEntries(names.map((name) => [name, [] as number[]]))
  for (const name of names) await measures[name]()
  for (let round = 0; round < rounds; round++) {
    // every second round backwards: to be the first is no advantage
    for (const name of round % 2 === 0 ? names : names.toReversed()) {
      answers[name]?.push(await measures[name]())
    }
  }
  return answers as Record<Name, number[]>
}

/** How long `work` takes, in milliseconds. */
export async function timed(work: () => Promise<unknown> | unknown): Promise<number> {
  const startedAt = performance.now()
  await work()
  return performance.now() - startedAt
}
