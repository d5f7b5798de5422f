/**
 * The summary of a compaction: read from a model's answer or from JSON, and written as the text
 * that replaces the summarized messages. A later compaction recognizes a summary by that text.
 *
 * The labels and the fixed next step are the reference's (vectors: compaction_summary_text).
 */
import { distinctMembersOf, elementsOf, type JsonSlice } from '../json/slice.ts'
import { decodeText } from '../json/strings.ts'
import { trimBlank } from './estimate.ts'
import { jsonIn } from './lenient.ts'

const HEADING = '[Compaction summary]'
const NOTHING = '(none)'
const FILES_LABEL = 'Files touched'
const UNSTRUCTURED_NEXT_STEP = 'Review the preserved transcript tail and continue from there.'

const LISTS = [
  ['decisions', 'Decisions'],
  ['constraints', 'Constraints'],
  ['delegated_work', 'Delegated work'],
  ['artifacts', 'Artifacts'],
  ['open_questions', 'Open questions'],
  ['next_steps', 'Next steps'],
  ['files_touched', FILES_LABEL],
] as const

type ListName = (typeof LISTS)[number][0]

export type Summary = { readonly goal: string; readonly progress: string } & {
  readonly [name in ListName]: readonly string[]
}

/**
 * Reads a model's answer as a summary: a JSON object, or else the whole text as the progress. A
 * fenced object counts as text, as in the reference.
 */
export function parseSummary(answer: string): Summary {
  const text = trimBlank(answer.toWellFormed())
  if (text === '') return summaryWith('', '', new Map())
  const object = jsonIn(text)
  const summary = object && readSummary(object)
  return summary ?? summaryWith('', text, new Map([['next_steps', [UNSTRUCTURED_NEXT_STEP]]]))
}

/**
 * Reads an object with strings `goal` and `progress` and lists of strings; absent lists are empty.
 * Undefined for anything else.
 */
export function readSummary(value: JsonSlice): Summary | undefined {
  if (value.kind !== 'object') return undefined
  const members = distinctMembersOf(value)
  const goal = members.get('goal')?.value
  const progress = members.get('progress')?.value
  if (goal?.kind !== 'string' || progress?.kind !== 'string') return undefined
  const lists = new Map<ListName, readonly string[]>()
  for (const [name] of LISTS) {
    const member = members.get(name)
    const list = member === undefined ? [] : stringsOf(member.value)
    if (list === undefined) return undefined
    lists.set(name, list)
  }
  return summaryWith(decodeText(goal), decodeText(progress), lists)
}

function stringsOf(value: JsonSlice): readonly string[] | undefined {
  if (value.kind !== 'array') return undefined
  const strings: string[] = []
  for (const element of elementsOf(value)) {
    if (element.kind !== 'string') return undefined
    strings.push(decodeText(element))
  }
  return strings
}

function summaryWith(
  goal: string,
  progress: string,
  lists: ReadonlyMap<ListName, readonly string[]>,
): Summary {
  const list = (name: ListName): readonly string[] => lists.get(name) ?? []
  return {
    goal,
    progress,
    decisions: list('decisions'),
    constraints: list('constraints'),
    delegated_work: list('delegated_work'),
    artifacts: list('artifacts'),
    open_questions: list('open_questions'),
    next_steps: list('next_steps'),
    files_touched: list('files_touched'),
  }
}

/** Text of a summary, as a model reads it. */
export function renderSummary(summary: Summary): string {
  const lines = [
    HEADING,
    `Goal: ${orNothing(summary.goal)}`,
    `Progress: ${orNothing(summary.progress)}`,
  ]
  for (const [name, label] of LISTS) {
    const items = summary[name]
    if (items.length > 0) lines.push(`${label}:`)
    for (const item of items) lines.push(`- ${item}`)
  }
  return lines.join('\n')
}

const orNothing = (text: string): string => (trimBlank(text) === '' ? NOTHING : text)

/** Whether `text` starts as a rendered summary does. */
export function isRenderedSummary(text: string): boolean {
  return text.startsWith(`${HEADING}\nGoal: `)
}

/** Files that a rendered summary lists in its last lines. */
export function filesOfRendered(text: string): readonly string[] {
  const label = `\n${FILES_LABEL}:\n`
  const start = text.lastIndexOf(label)
  if (start < 0) return []
  const lines = text.slice(start + label.length).split('\n')
  return lines.filter((line) => line.startsWith('- ')).map((line) => line.slice(2))
}
