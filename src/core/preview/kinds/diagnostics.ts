/**
 * Messages of compilers and linters: one place and one message a line. They are counted by code and
 * by file.
 */
import { excerpt } from '../excerpt.ts'
import type { PreviewLine } from '../lines.ts'
import type { Kind, KindSurvey, Reading, TextHead } from './kind.ts'
import { LineFeed } from './line-feed.ts'
import { Tally } from './tally.ts'

/** `file(line,column): error CODE: text`, `file:line:column: error: text`, `file:line: text`. */
const PLACED =
  /^\s*(?<file>[^\s:(][^:(]*?)(?:\((?<l1>\d+)(?:,\d+)?\)|:(?<l2>\d+)(?::\d+)?):? (?:- )?(?<rest>.+)$/
const SEVERITY = /^(?:fatal )?(error|warning|note|info|hint)\b:?\s*/i
const CODE =
  /^(?:\[?([A-Z]{1,6}\d{2,5})\]?:?\s|([A-Z]\d{3,4}) )|\[([\w-]+(?:\/[\w-]+)*)\]\s*$|\s\(([a-z][\w-]*)\)$/
/** Rust: the message first, its place on the next line. */
const RUST = /^(error|warning)(?:\[(\w+)\])?: (.+)$/
const RUST_PLACE = /^\s+--> (.+?):\d+:\d+$/
const HEAD_LINES = 100
const LEAST_SHARE = 0.5
const LIST_BYTES = 260
const LINE_BYTES = 200
const RANK_LISTS = 0
const RANK_FIRST = 10
const RANK_NEW_CODE = 20
const KEPT = 12

export const diagnostics: Kind = {
  name: 'diagnostics',
  recognize: ({ starts }) => (isDiagnostics(starts) ? new DiagnosticsSurvey() : undefined),
}

function isDiagnostics(lines: TextHead['lines']): boolean {
  const sample = lines.slice(0, HEAD_LINES).filter((line) => line.trim() !== '')
  const placed = sample.filter((line) => read(line) !== undefined).length
  const rust = sample.filter((line) => RUST_PLACE.test(line)).length
  return (
    sample.length > 0 &&
    (placed >= sample.length * LEAST_SHARE ||
      (rust >= 1 && placed + rust * 4 >= sample.length * LEAST_SHARE))
  )
}

interface Diagnostic {
  readonly severity: string
  readonly code: string | undefined
  readonly file: string | undefined
}

function read(line: string): Diagnostic | undefined {
  const rust = RUST.exec(line)
  if (rust !== null) return { severity: rust[1] ?? 'error', code: rust[2], file: undefined }
  const groups = PLACED.exec(line)?.groups
  if (groups === undefined) return undefined
  const { file = '', rest = '' } = groups
  if (!/[./\\]/.test(file)) return undefined
  const severity = SEVERITY.exec(rest)
  const code = CODE.exec(severity === null ? rest : rest.slice(severity[0].length))
  if (severity === null && code === null) return undefined
  return {
    severity: (severity?.[1] ?? 'error').toLowerCase(),
    code: code?.[1] ?? code?.[2] ?? code?.[3] ?? code?.[4],
    file,
  }
}

class DiagnosticsSurvey implements KindSurvey {
  readonly #severities = new Tally()
  readonly #codes = new Tally()
  readonly #files = new Tally()
  readonly #lines: PreviewLine[] = []
  readonly #seen = new Set<string>()
  readonly #feed = new LineFeed((line, number) => this.#take(line, number))
  #last: PreviewLine | undefined

  push(piece: Buffer): void {
    this.#feed.push(piece)
  }

  end(): Reading {
    this.#feed.end()
    const lines: PreviewLine[] = []
    if (this.#codes.size > 0)
      lines.push({ text: `codes: ${this.#codes.text(LIST_BYTES)}`, rank: RANK_LISTS })
    if (this.#files.size > 0)
      lines.push({ text: `files: ${this.#files.text(LIST_BYTES)}`, rank: RANK_LISTS })
    lines.push(...this.#lines)
    if (this.#last !== undefined) lines.push(this.#last)
    const facts = [
      `messages=${this.#severities.text(LIST_BYTES)}`,
      `codes=${this.#codes.sizeText}`,
      `files=${this.#files.sizeText}`,
    ]
    return { facts, lines }
  }

  #take(line: string, number: number): void {
    const place = RUST_PLACE.exec(line)
    if (place?.[1] !== undefined) this.#files.add(place[1])
    const found = read(line)
    if (found === undefined) return
    this.#severities.add(found.severity)
    if (found.file !== undefined) this.#files.add(found.file)
    const code = found.code ?? ''
    if (code !== '') this.#codes.add(code)
    const text = `line ${number}: ${excerpt(line.trimEnd(), LINE_BYTES).text}`
    const isNew = !this.#seen.has(code)
    if (isNew && this.#lines.length < KEPT) {
      this.#seen.add(code)
      this.#lines.push({
        text,
        rank: this.#lines.length === 0 ? RANK_FIRST : RANK_NEW_CODE + this.#lines.length,
      })
    } else this.#last = { text, rank: RANK_FIRST + 1 }
  }
}
