/**
 * The command line of a script: numbers with defaults, flags, and names of files. `--help` prints
 * all of them and ends with status 0. An unknown option ends with status 2 and one sentence.
 */
import { parseArgs } from 'node:util'

const USED_WRONGLY = 2

interface Usage<Name extends string, Flag extends string> {
  /** The command as it is typed, with placeholders for files: `npm run json-suite -- FOLDER`. */
  readonly command: string
  /** Description in one sentence. */
  readonly does: string
  /** Default and description of each number, by name. */
  readonly numbers?: Readonly<Record<Name, readonly [standard: number, what: string]>>
  readonly flags?: Readonly<Record<Flag, string>>
  /** True when the script takes words without dashes. */
  readonly files?: boolean
}

interface Given<Name extends string, Flag extends string> {
  readonly numbers: Readonly<Record<Name, number>>
  readonly flags: Readonly<Record<Flag, boolean>>
  readonly files: readonly string[]
}

/** Reads the options of a script. Ends the process for `--help` and for unknown options. */
export function scriptOptions<Name extends string = never, Flag extends string = never>(
  usage: Usage<Name, Flag>,
): Given<Name, Flag> {
  try {
    const given = parsed(usage)
    if (given !== undefined) return given
    console.log(helpOf(usage))
    process.exit()
  } catch (error) {
    console.error(`${(error as Error).message}\n\n${helpOf(usage)}`)
    process.exit(USED_WRONGLY)
  }
}

/** Undefined for `--help`. */
function parsed<Name extends string, Flag extends string>(
  usage: Usage<Name, Flag>,
): Given<Name, Flag> | undefined {
  const numbers = Object.entries(usage.numbers ?? {}) as [Name, readonly [number, string]][]
  const flags = Object.keys(usage.flags ?? {}) as Flag[]
  const { values: given, positionals } = parseArgs({
    options: {
      help: { type: 'boolean' },
      ...Object.fromEntries(numbers.map(([name]) => [name, { type: 'string' as const }])),
      ...Object.fromEntries(flags.map((name) => [name, { type: 'boolean' as const }])),
    },
    allowPositionals: usage.files === true,
  })
  const values: Readonly<Record<string, unknown>> = given
  if (values['help'] === true) return undefined
  return {
    numbers: Object.fromEntries(
      numbers.map(([name, [standard]]) => [name, numberOf(name, values[name], standard)]),
    ) as Record<Name, number>,
    flags: Object.fromEntries(flags.map((name) => [name, values[name] === true])) as Record<
      Flag,
      boolean
    >,
    files: positionals,
  }
}

function numberOf(name: string, given: unknown, standard: number): number {
  if (given === undefined) return standard
  if (/^[0-9]+(?:\.[0-9]+)?$/.test(String(given))) return Number(given)
  throw new Error(`--${name} must be a number, and is ${JSON.stringify(given)}.`)
}

function helpOf({ command, does, numbers = {}, flags = {} }: Usage<string, string>): string {
  const rows = [
    ...Object.entries(numbers).map(([name, [standard, what]]) => [
      `--${name} N`,
      `${what} (${standard})`,
    ]),
    ...Object.entries(flags).map(([name, what]) => [`--${name}`, what]),
    ['--help', 'says this'],
  ] as const
  const width = Math.max(...rows.map(([left = '']) => left.length))
  const lines = rows.map(([left = '', right]) => `  ${left.padEnd(width)}  ${right}`)
  return [`${command} [options]`, does, ...lines].join('\n')
}
