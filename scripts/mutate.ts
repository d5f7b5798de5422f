/**
 * Tests mutants of the core, file by file: `npm run mutate`, or `npm run mutate -- src/core/lru.ts`
 * for some files. It takes one file at a time, since an instrumented file runs several times as
 * long. Prints a row for each file, and under it every mutant that no test noticed. Exits 1 when
 * the total score is below the threshold of `stryker.config.json`.
 */
import { spawnSync } from 'node:child_process'
import { existsSync, globSync, readFileSync, rmSync } from 'node:fs'
import { scriptOptions } from './options.ts'

const STRYKER = 'node_modules/@stryker-mutator/core/bin/stryker.js'
const PERCENT = 100

interface Mutant {
  readonly status: string
  readonly mutatorName: string
  readonly replacement?: string
  readonly location: { readonly start: { readonly line: number; readonly column: number } }
}

interface Report {
  readonly files: Readonly<Record<string, { readonly mutants: readonly Mutant[] }>>
}

const config = JSON.parse(readFileSync('stryker.config.json', 'utf8')) as {
  readonly jsonReporter: { readonly fileName: string }
  readonly thresholds: { readonly low: number }
}
const REPORT = config.jsonReporter.fileName
const { files: asked } = scriptOptions({
  command: 'npm run mutate -- FILE…',
  does: 'Tests mutants of the core and lists those that no test notices; all files when none is named.',
  files: true,
})

const files = asked.length > 0 ? asked : globSync('src/core/**/*.ts').toSorted()
const all: Mutant[] = []
for (const file of files) {
  const mutants = mutantsOf(file)
  all.push(...mutants)
  console.log(`| \`${file}\` | ${mutants.length} | ${scoreOf(mutants).toFixed(1)} |`)
  for (const { status, mutatorName, replacement, location } of mutants.filter(isMissed)) {
    const place = `${file}:${location.start.line}:${location.start.column}`
    console.log(`  ${place} ${status} ${mutatorName} -> ${replacement ?? ''}`)
  }
}
const score = scoreOf(all)
console.log(`| all | ${all.length} | ${score.toFixed(1)} |`)
if (score < config.thresholds.low) process.exitCode = 1

function mutantsOf(file: string): readonly Mutant[] {
  rmSync(REPORT, { force: true })
  const { status, stdout } = spawnSync(process.execPath, [STRYKER, 'run', '--mutate', file], {
    encoding: 'utf8',
  })
  if (status !== 0) throw new Error(`Stryker ended with ${status} for ${file}:\n${stdout}`)
  // A file in which nothing can be changed has no report.
  if (!existsSync(REPORT)) return []
  const { files: reported } = JSON.parse(readFileSync(REPORT, 'utf8')) as Report
  return Object.values(reported).flatMap(({ mutants }) => mutants.filter(isJudged))
}

/** Whether a mutant counts. Those that could not run do not. */
function isJudged(mutant: Mutant): boolean {
  return isMissed(mutant) || mutant.status === 'Killed' || mutant.status === 'Timeout'
}

function isMissed({ status }: Mutant): boolean {
  return status === 'Survived' || status === 'NoCoverage'
}

function scoreOf(mutants: readonly Mutant[]): number {
  if (mutants.length === 0) return PERCENT
  return (PERCENT * mutants.filter((mutant) => !isMissed(mutant)).length) / mutants.length
}
