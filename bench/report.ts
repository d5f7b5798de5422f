/**
 * The outcomes as a table, for the terminal and for the documentation.
 */
import { type Outcome, type RowSpec, type Verdict, verdictOf } from './case.ts'
import type { Plan } from './plan.ts'
import { figure } from './show.ts'

const WORDS: Readonly<Record<Verdict, string>> = {
  met: 'yes',
  missed: 'no',
  gross: 'no, by far',
  failed: 'did not run',
  context: '',
}

/** A Markdown table. */
export function tableOf(outcomes: readonly Outcome[]): string {
  const lines = outcomes.map((outcome) => `| ${cellsOf(outcome).join(' | ')} |`)
  return [
    '| what | coatcheck | baseline | figure | floor | met |',
    '|---|---|---|---|---|---|',
    ...lines,
  ].join('\n')
}

function cellsOf(outcome: Outcome): readonly string[] {
  const { row, result } = outcome
  const met = WORDS[verdictOf(outcome)]
  if ('failed' in result) return [row.what, '', '', inCell(result.failed), boundOf(row), met]
  const { ours, baseline, value } = result
  return [row.what, ours, baseline, figure(value, row.unit), boundOf(row), met]
}

function boundOf({ bound, unit }: RowSpec): string {
  if (bound === undefined) return ''
  return `${bound.kind === 'at_least' ? '≥' : '≤'} ${figure(bound.value, unit)}`
}

const inCell = (text: string): string => text.replaceAll('\n', ' ').replaceAll('|', '\\|')

/** One line while it runs. */
export function lineOf(outcome: Outcome): string {
  const [what, ours, baseline, value, bound, met] = cellsOf(outcome)
  const compared = baseline === '' ? '' : ` (${ours} to ${baseline})`
  const held = bound === '' ? '' : `; floor ${bound}: ${met}`
  return `${outcome.row.id}: ${what}: ${value}${compared}${held}`
}

export interface Setting {
  readonly plan: Plan
  /** One line each. */
  readonly machine: readonly string[]
  readonly command: string
}

/** The page of the documentation. */
export function pageOf(outcomes: readonly Outcome[], { plan, machine, command }: Setting): string {
  return `# Benchmarks

Made by \`${command}\`, which starts its own servers and baselines, runs them in turns, and writes this page.
\`npm run bench -- --quick\` does less of everything in two minutes and writes nothing.

Absolute numbers are this machine's, and differ by a fifth from row to row. The figure is what counts: coatcheck to its baseline in the same run, the median of the ratios
of ${plan.rounds} rounds; or, where the figure itself is in MB, a size or a difference of two. The two
columns before it are medians by themselves, so that their quotient is not quite the figure. A time that is to be small has a ceiling (≤).
\`no, by far\` is less than half of a floor, or more than twice a ceiling.

${tableOf(outcomes)}

## What is compared

- A durable put is an envelope whose answer means that the result is on disk. Log level \`warn\`; one row shows what the default, a line or two
  for each request, costs.
- Echo is a Fastify server that reads the whole body and answers its length; it sends nothing back, which is less work than its
  name says. It logs nothing. Echo + JSON.parse also parses it. \`node:http\` is the same without Fastify.
- A preview of 1 KB goes the way of a put and keeps nothing. Why goals for puts stand above its pace, and stay: [ADR 0019](../adr/0019-what-a-put-does-comes-first.md).
- One commit per request is this server, every put in a transaction of its own.
- Event-loop delay is taken inside the server, by \`perf_hooks\` every millisecond.
- Append + fsync is a Fastify server that streams the body into a file and answers after \`fdatasync\`.
- JSON intake is the check of the UTF-8, the scan, the plan of the chunks and the preview; the digest apart.
- Peak RSS is \`VmHWM\` of a server that has taken one body. RSS growth is \`VmRSS\` of one server, with no garbage collection forced.
- What grows is filled over HTTP, a thousand results to a run; the smaller server's thousand grows by the puts that are measured.
- The size of a ledger is its files after a clean stop.

## The machine

${machine.map((line) => `- ${line}`).join('\n')}
`
}
