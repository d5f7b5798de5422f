/** Rounds: in each, every candidate has its turn, so that what else the machine does falls on all alike. */

/** What each candidate took or did, round by round. */
export type Figures<Name extends string = string> = ReadonlyMap<Name, readonly number[]>

/** Turns run one after another; every other round in the reverse order. One round before the first does not count. */
export async function rounds<Name extends string>(
  count: number,
  turns: ReadonlyMap<Name, () => Promise<number>>,
): Promise<Figures<Name>> {
  const figures = new Map([...turns.keys()].map((name) => [name, [] as number[]]))
  for (let round = 0; round <= count; round++) {
    const order = round % 2 === 0 ? [...turns] : [...turns].reverse()
    for (const [name, turn] of order) {
      const figure = await turn()
      if (round > 0) figures.get(name)?.push(figure)
    }
  }
  return figures
}
