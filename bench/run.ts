/**
 * `npm run bench`: starts its servers, runs every case, prints the table and writes docs/reference/benchmarks.md.
 */
import { writeFile } from 'node:fs/promises'
import { type Case, failuresOf, type Outcome } from './case.ts'
import { allCases } from './cases.ts'
import { Lab } from './lab.ts'
import { describeMachine } from './machine.ts'
import { chosen, type Options, readOptions, USAGE } from './options.ts'
import { lineOf, pageOf, tableOf } from './report.ts'

const PAGE = new URL('../docs/reference/benchmarks.md', import.meta.url)
const USED_WRONGLY = 2

process.exitCode = await main(process.argv.slice(2))

async function main(args: readonly string[]): Promise<number> {
  let options: Options | undefined
  let cases: readonly Case[]
  try {
    options = readOptions(args)
    if (options === undefined) {
      console.log(USAGE)
      return 0
    }
    cases = chosen(allCases(options.plan), options.only)
  } catch (error) {
    console.error(`${error instanceof Error ? error.message : String(error)}\n\n${USAGE}`)
    return USED_WRONGLY
  }
  if (options.list) {
    for (const { id, what } of cases.flatMap(({ rows }) => rows)) console.log(`${id}: ${what}`)
    return 0
  }
  const outcomes = await runAll(cases, new Lab(options.plan))
  await tell(outcomes, options, args)
  return options.check && failuresOf(outcomes).length > 0 ? 1 : 0
}

async function runAll(cases: readonly Case[], lab: Lab): Promise<readonly Outcome[]> {
  const outcomes: Outcome[] = []
  const interrupted = (): void => void lab.close().finally(() => process.exit(1))
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, interrupted)
  try {
    for (const one of cases) {
      const some = await outcomesOf(one, lab)
      for (const outcome of some) console.error(lineOf(outcome))
      outcomes.push(...some)
    }
  } finally {
    await lab.close()
  }
  return outcomes
}

/** A case that throws fails its rows and no others. */
async function outcomesOf({ rows, run }: Case, lab: Lab): Promise<readonly Outcome[]> {
  try {
    const figures = await run(lab)
    return rows.map((row, index) => ({ row, result: figures[index] ?? { failed: 'no figure' } }))
  } catch (error) {
    const failed = error instanceof Error ? error.message : String(error)
    return rows.map((row) => ({ row, result: { failed } }))
  }
}

async function tell(
  outcomes: readonly Outcome[],
  { plan, check, write, json }: Options,
  args: readonly string[],
): Promise<void> {
  const machine = describeMachine()
  console.log(`${tableOf(outcomes)}\n\n${machine.join('\n')}`)
  const command = ['npm run bench', ...(args.length > 0 ? ['--', ...args] : [])].join(' ')
  if (write) await writeFile(PAGE, pageOf(outcomes, { plan, machine, command }))
  if (json !== undefined)
    await writeFile(json, `${JSON.stringify({ machine, outcomes }, null, 2)}\n`)
  if (!check) return
  for (const { row } of failuresOf(outcomes)) console.error(`far from its floor: ${row.id}`)
}
