/** The command line of `npm run bench:peers`. */
import { parseArgs } from 'node:util'

export const PARTS: readonly string[] = ['nasty', 'elide', 'puts', 'http', 'lines']
const ROUNDS = 7
const QUICK_ROUNDS = 2
const USED_WRONGLY = 2

const USAGE = `npm run bench:peers -- [options]
Measures coatcheck beside other places for tool results, and prints tables.
  --rounds N     rounds of each measurement (${ROUNDS}; with --quick ${QUICK_ROUNDS})
  --quick        fewer rounds, and a text of 10 MB instead of 100; does not write the page
  --only a,b     some of ${PARTS.join(', ')}; does not write the page
  --write        write docs/reference/benchmarks-peers.md in any case
  --help         says this`

export interface Options {
  readonly rounds: number
  readonly quick: boolean
  readonly parts: readonly string[]
  /** Write the page. */
  readonly write: boolean
}

/** What was asked for. Ends the process for `--help`, and with 2 for what cannot be understood. */
export function optionsOrEnd(): Options {
  try {
    const options = parsed()
    if (options !== undefined) return options
    console.log(USAGE)
    process.exit()
  } catch (error) {
    console.error(`${(error as Error).message}\n\n${USAGE}`)
    process.exit(USED_WRONGLY)
  }
}

/** Undefined for `--help`. */
function parsed(): Options | undefined {
  const { values } = parseArgs({
    options: {
      rounds: { type: 'string' },
      quick: { type: 'boolean', default: false },
      only: { type: 'string', default: PARTS.join(',') },
      write: { type: 'boolean', default: false },
      help: { type: 'boolean', default: false },
    },
  })
  if (values.help) return undefined
  const { quick, rounds = String(quick ? QUICK_ROUNDS : ROUNDS) } = values
  if (!/^[1-9][0-9]*$/.test(rounds)) throw new Error(`--rounds must be a number, and is ${rounds}.`)
  const parts = values.only.split(',')
  const unknown = parts.filter((part) => !PARTS.includes(part))
  if (unknown.length > 0) throw new Error(`No part is called ${unknown.join(', ')}.`)
  const isWhole = !quick && PARTS.every((part) => parts.includes(part))
  return { rounds: Number(rounds), quick, parts, write: isWhole || values.write }
}
