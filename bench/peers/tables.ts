/** Results as Markdown tables. */
import { LABELS } from './labels.ts'
import { type Finding, NASTY_CASES } from './nasty.ts'
import { type Goal, goals, met, type Results, ratio } from './results.ts'
import { median, shown } from './stats.ts'

type Row = readonly string[]

const HTTP_TITLES: Readonly<Record<string, string>> = {
  coatcheck: LABELS.coatcheck.title,
  redis: 'Fastify + Redis, AOF synced always',
  postgres: 'Fastify + PostgreSQL, a pool of 16',
}

/** What the disk does when it reads. */
const READ = 'a file, read at an offset'

export function goalsTable(results: Results): string {
  const rows = goals(results).map((goal) => {
    const sign = goal.better === 'higher' ? '≥' : '≤'
    return [goal.what, shown(goal.reached), `${sign} ${goal.limit}`, verdictOf(goal)]
  })
  return table(['', 'reached', 'goal', 'met'], rows)
}

export function putsTable({ puts, missing }: Results): string {
  const heads = puts.flatMap(({ title }) => [`${title}, ms`, '× `write` + `fdatasync`'])
  const names = [...(puts[0]?.figures.keys() ?? [])]
  const rows = names.map((name) => {
    const { title, overHttp, durable } = LABELS[name]
    const cells = puts.flatMap(({ figures }) => [
      shown(median(figures.get(name) ?? [])),
      shown(ratio(figures, name, 'disk')),
    ])
    return [title, durable, overHttp, ...cells]
  })
  const absent = absentRows(missing, heads.length + 2)
  return table(['', 'durable when it answers?', 'over HTTP?', ...heads], [...rows, ...absent])
}

export function httpTable({ http, missing }: Results): string {
  const rows = [...http.keys()].map((name) => [
    HTTP_TITLES[name] ?? name,
    'yes',
    shown(median(http.get(name) ?? [])),
    shown(ratio(http, 'coatcheck', name)),
  ])
  const heads = ['', 'durable when it answers?', 'puts/s', 'coatcheck ÷ this']
  return table(heads, [...rows, ...absentRows(missing, heads.length - 1)])
}

export function linesTable({ lines, missing }: Results): string {
  const rows = [...lines.keys()].map((name) => [
    name === 'disk' ? READ : LABELS[name].title,
    ['disk', 'redis', 'postgres'].includes(name) ? 'its caller' : 'it does',
    LABELS[name].overHttp,
    shown(median(lines.get(name) ?? [])),
    shown(ratio(lines, name, 'coatcheck')),
  ])
  const heads = ['', 'who knows where a line is?', 'over HTTP?', 'ms', 'this ÷ coatcheck']
  return table(heads, [...rows, ...absentRows(missing, heads.length - 1)])
}

export function elisionsTable({ elisions }: Results): string {
  const rows = [...elisions.keys()].map((name) => [
    LABELS[name].title,
    LABELS[name].overHttp,
    shown(median(elisions.get(name) ?? [])),
    shown(ratio(elisions, 'coatcheck', name)),
  ])
  return table(['', 'over HTTP?', 'ms', 'coatcheck ÷ this'], rows)
}

export function findingsTable({ findings }: Results): string {
  const names = [...findings.keys()]
  const rows = NASTY_CASES.map(({ name }, index) => [
    name,
    ...names.map((peer) => findingCell(findings.get(peer)?.[index])),
  ])
  return table(['', ...names.map((name) => LABELS[name].title)], rows)
}

function verdictOf(goal: Goal): string {
  if (Number.isNaN(goal.reached)) return 'not measured'
  return met(goal) ? 'yes' : 'no'
}

function findingCell(finding: Finding | undefined): string {
  if (finding === undefined) return '—'
  return finding.note === '' ? finding.verdict : `${finding.verdict}: ${finding.note}`
}

function absentRows(missing: Results['missing'], cells: number): readonly Row[] {
  return [...missing].map(([name, why]) => [
    `${name}: not measured: ${oneLine(why)}`,
    ...Array.from({ length: cells }, () => '—'),
  ])
}

function table(heads: Row, rows: readonly Row[]): string {
  const rule = heads.map(() => '---')
  return [heads, rule, ...rows].map((cells) => `| ${cells.map(cell).join(' | ')} |`).join('\n')
}

/** A bar outside of code would open a cell. */
const cell = (text: string): string => oneLine(text).replaceAll('|', '\\|')
const oneLine = (text: string): string => text.replaceAll(/\s+/g, ' ').trim()
