/**
 * Texts that have an outline: Markdown, HTML, XML, YAML and source code. The outline is a list of
 * lines that stand out.
 */
import { excerpt } from '../excerpt.ts'
import type { PreviewLine } from '../lines.ts'
import type { Kind, KindSurvey, Reading, TextHead } from './kind.ts'
import { LineFeed } from './line-feed.ts'
import { Tally } from './tally.ts'

const HEAD_LINES = 300
const LINE_BYTES = 140
const TAGS_BYTES = 260
const KEPT = 200
const RANK_ENTRY = 10

/** An entry of the outline, or undefined for a line that is none. A lower level matters more. */
type ReadEntry = (line: string) => { readonly text: string; readonly level: number } | undefined

interface OutlineKind {
  readonly name: string
  readonly is: (head: TextHead) => boolean
  readonly entry: ReadEntry
  /** Name of the fact that counts entries. */
  readonly fact: string
  /** Names that are counted: tags. */
  readonly tags?: RegExp
}

class OutlineSurvey implements KindSurvey {
  readonly #kind: OutlineKind
  readonly #feed = new LineFeed((line, number) => this.#take(line, number))
  readonly #entries: { readonly text: string; readonly level: number; readonly number: number }[] =
    []
  readonly #tags = new Tally()
  #count = 0

  constructor(kind: OutlineKind) {
    this.#kind = kind
  }

  push(piece: Buffer): void {
    this.#feed.push(piece)
  }

  end(): Reading {
    this.#feed.end()
    const lines: PreviewLine[] = this.#entries.map(({ text, level, number }, index) => ({
      text: `line ${number}: ${excerpt(text, LINE_BYTES).text}`,
      rank: RANK_ENTRY + level * KEPT + index,
    }))
    if (this.#tags.size > 0)
      lines.unshift({ text: `tags: ${this.#tags.text(TAGS_BYTES)}`, rank: 0 })
    return { facts: [`${this.#kind.fact}=${this.#count}`], lines }
  }

  #take(line: string, number: number): void {
    if (this.#kind.tags !== undefined)
      for (const [, tag = ''] of line.matchAll(this.#kind.tags)) this.#tags.add(tag)
    const entry = this.#kind.entry(line)
    if (entry === undefined) return
    this.#count++
    if (this.#entries.length < KEPT) this.#entries.push({ ...entry, number })
  }
}

const HEADING = /^(#{1,6})\s+(\S.*)$/
const MARKDOWN_SIGN =
  /^\s*(?:[-*+] |\d+\. |> |```|\|.*\|)|\[[^\][]{1,100}\]\([^)(]{1,200}\)|\*\*[^*]{1,100}\*\*/
const TITLE = /<title[^<>]*>([^<]*)|<h([1-6])[^<>]*>(.*?)(?:<\/h|$)/i
const TAG = /<([A-Za-z][\w:.-]*)/g
const YAML_KEY = /^([\w.$/-]+|"[^"]*"):(?:\s|$)/
const YAML_LINE = /^\s*(?:#|- |[\w."'$/-]+:(?:\s|$)|---)/
const MARKUP = /<[^>]*>/g

const DECLARATION =
  /^(?:\s{0,4})(?:export\s+|default\s+|pub(?:\([^)]*\))?\s+|public\s+|private\s+|protected\s+|static\s+|abstract\s+|final\s+|async\s+|unsafe\s+|inline\s+|virtual\s+|override\s+)*(?:(?:function|class|interface|enum|struct|trait|impl|module|namespace|def|func|fn|type|record|object|protocol|extension|macro_rules!)\b.*|[\w<>[\],.\s*&:]+\([^;]*\)\s*(?:const\s*)?(?:throws [\w, ]+)?\{)\s*$/
const CODE_SIGN =
  /^\s*(?:import\b|from \S+ import|#include|using |package |require\(|const |let |var |return\b|if\b.*[:{(]|for\b.*[:{(]|while\b|\}|@\w+|\/\/|\/\*|\* |#!|use \w|mod \w)|[;{]\s*$/
const SOURCE_SHARE = 0.35

const KINDS: readonly OutlineKind[] = [
  {
    name: 'html',
    is: ({ starts }) =>
      /^\s*(?:<!doctype html|<html|<head|<body)/i.test(
        starts.find((line) => line.trim() !== '') ?? '',
      ),
    entry: (line) => {
      const match = TITLE.exec(line)
      if (match === null) return undefined
      const text = (match[1] ?? match[3] ?? '').replace(MARKUP, '').trim()
      return text === ''
        ? undefined
        : { text, level: match[1] === undefined ? Number(match[2]) : 0 }
    },
    fact: 'headings',
    tags: TAG,
  },
  {
    name: 'xml',
    is: ({ starts }) => {
      const first = starts.find((line) => line.trim() !== '') ?? ''
      return (
        /^\s*<\?xml|^\s*<[A-Za-z][\w:.-]*(?:\s[^<]*)?>\s*$|^\s*<(\w+)[^>]*>.*<\/\1>\s*$/.test(
          first,
        ) && starts.some((line) => /<\/\w/.test(line))
      )
    },
    entry: (line) =>
      /^\s{0,2}<[A-Za-z][\w:.-]*/.test(line) ? { text: line.trim(), level: 1 } : undefined,
    fact: 'elements at the top',
    tags: TAG,
  },
  {
    name: 'markdown',
    is: ({ starts }) => {
      const head = starts.slice(0, HEAD_LINES)
      const headings = head.filter((line) => HEADING.test(line)).length
      const signs = head.filter((line) => MARKDOWN_SIGN.test(line)).length
      return (
        headings >= 2 && headings + signs >= 3 && !head.some((line) => /^#!|^#include/.test(line))
      )
    },
    entry: (line) => {
      const match = HEADING.exec(line)
      return match === null ? undefined : { text: line.trim(), level: (match[1] ?? '').length }
    },
    fact: 'headings',
  },
  {
    name: 'yaml',
    is: ({ starts }) => {
      const filled = starts.slice(0, HEAD_LINES).filter((line) => line.trim() !== '')
      const keys = filled.filter((line) => YAML_KEY.test(line)).length
      const fitting = filled.filter((line) => YAML_LINE.test(line) || /^\s+\S/.test(line)).length
      return (
        keys >= 2 && fitting >= filled.length * 0.9 && !filled.some((line) => /[;{]\s*$/.test(line))
      )
    },
    entry: (line) => (YAML_KEY.test(line) ? { text: line.trimEnd(), level: 1 } : undefined),
    fact: 'keys at the top',
  },
  {
    name: 'source',
    is: ({ starts }) => {
      const filled = starts.slice(0, HEAD_LINES).filter((line) => line.trim() !== '')
      const declared = filled.filter((line) => DECLARATION.test(line)).length
      const code = filled.filter((line) => CODE_SIGN.test(line)).length
      return filled.length >= 4 && declared >= 1 && declared + code >= filled.length * SOURCE_SHARE
    },
    entry: (line) =>
      DECLARATION.test(line) ? { text: line.trim(), level: /^\s/.test(line) ? 2 : 1 } : undefined,
    fact: 'declarations',
  },
]

/** Markdown, HTML, XML, YAML, source code. */
export const outlines: readonly Kind[] = KINDS.map((kind) => ({
  name: kind.name,
  recognize: (head) => (kind.is(head) ? new OutlineSurvey(kind) : undefined),
}))
