/**
 * Rounds: everything that is compared is measured in turns, so that what else the machine does meets all alike.
 */

export interface Rounds {
  readonly rounds: number
  /** How long each measure is run beforehand, at least once, so that compilers and caches have settled. */
  readonly warmUpMs: number
}

/** What each measure answered, round by round. */
export async function interleave<Name extends string, Answer = number>(
  { rounds, warmUpMs }: Rounds,
  measures: Readonly<Record<Name, () => Promise<Answer> | Answer>>,
): Promise<Readonly<Record<Name, readonly Answer[]>>> {
  const names = Object.keys(measures) as Name[]
  const answers = Object.fromEntries(names.map((name) => [name, [] as Answer[]]))
  for (const name of names) {
    const until = performance.now() + warmUpMs
    do await measures[name]()
    while (performance.now() < until)
  }
  for (let round = 0; round < rounds; round++) {
    // every second round backwards: to be the first is no advantage
    for (const name of round % 2 === 0 ? names : names.toReversed()) {
      answers[name]?.push(await measures[name]())
    }
  }
  return answers as Record<Name, Answer[]>
}

/** How long `work` takes, in milliseconds. */
export async function timed(work: () => Promise<unknown> | unknown): Promise<number> {
  const startedAt = performance.now()
  await work()
  return performance.now() - startedAt
}
