/** Unified diffs: lines added and removed, file by file. */
import { excerpt, MARK } from '../excerpt.ts'
import type { PreviewLine } from '../lines.ts'
import type { Kind, KindSurvey, Reading } from './kind.ts'
import { LineFeed } from './line-feed.ts'

const GIT = /^diff --git (?:"?a\/)(.+?)"? "?b\/(.+?)"?$/
const OLD = /^--- (?:a\/)?([^\t]+)/
const NEW = /^\+\+\+ (?:b\/)?([^\t]+)/
const HUNK = /^@@ -\d+(?:,(\d+))? \+\d+(?:,(\d+))? @@/
const NOTE = /^(?:new file|deleted file|rename (?:from|to)|Binary files|GIT binary patch)/
const HEAD_LINES = 60
const FILES = 4_000
const NAME_BYTES = 120
const LEFT_OUT_BYTES = 300
const RANK_FILE = 0
const LISTED = 40

export const diff: Kind = {
  name: 'diff',
  recognize({ starts }) {
    const head = starts.slice(0, HEAD_LINES)
    const isGit = head.some((line) => GIT.test(line))
    const at = head.findIndex((line) => OLD.test(line))
    const isUnified = at >= 0 && NEW.test(head[at + 1] ?? '') && HUNK.test(head[at + 2] ?? '')
    return isGit || isUnified ? new DiffSurvey() : undefined
  },
}

interface ChangedFile {
  name: string
  readonly line: number
  added: number
  removed: number
  hunks: number
  notes: string
}

class DiffSurvey implements KindSurvey {
  readonly #feed = new LineFeed((line, number) => this.#take(line, number))
  readonly #files: ChangedFile[] = []
  #count = 0
  #added = 0
  #removed = 0
  /** Lines that the hunk still has of the old and of the new text. */
  #old = 0
  #new = 0

  push(piece: Buffer): void {
    this.#feed.push(piece)
  }

  end(): Reading {
    this.#feed.end()
    const bySize = this.#files.toSorted((a, b) => b.added + b.removed - (a.added + a.removed))
    const listed = new Set(bySize.slice(0, LISTED))
    const rankOf = new Map(bySize.map((file, index) => [file, RANK_FILE + index]))
    const lines: PreviewLine[] = this.#files
      .filter((file) => listed.has(file))
      .map((file) => ({
        text: `line ${file.line}: ${excerpt(file.name, NAME_BYTES).text} +${file.added} -${file.removed}${file.notes}`,
        rank: rankOf.get(file) ?? 0,
      }))
    const rest = this.#files.filter((file) => !listed.has(file))
    if (rest.length > 0) lines.push({ text: `also: ${namesOf(rest)}`, rank: RANK_FILE + LISTED })
    const facts = [`files=${this.#count}`, `added=${this.#added}`, `removed=${this.#removed}`]
    return { facts, lines }
  }

  #take(line: string, number: number): void {
    const hunk = HUNK.exec(line)
    if (this.#old > 0 || this.#new > 0) this.#takeChange(line)
    else if (hunk === null) this.#takeHeader(line, number)
    else {
      this.#old = Number(hunk[1] ?? 1)
      this.#new = Number(hunk[2] ?? 1)
      const file = this.#files.at(-1)
      if (file !== undefined) file.hunks++
    }
  }

  /** A line outside of hunks. */
  #takeHeader(line: string, number: number): void {
    const file = this.#files.at(-1)
    const git = GIT.exec(line)?.[2]
    const old = OLD.exec(line)?.[1]
    if (git !== undefined) this.#open(git, number)
    else if (old !== undefined && (file === undefined || file.hunks > 0)) this.#open(old, number)
    else if (file !== undefined && file.hunks === 0) nameFile(file, line)
  }

  #takeChange(line: string): void {
    const file = this.#files.at(-1)
    const first = line[0]
    if (first === '\\') return
    if (first === '+') {
      this.#new--
      this.#added++
      if (file !== undefined) file.added++
    } else if (first === '-') {
      this.#old--
      this.#removed++
      if (file !== undefined) file.removed++
    } else {
      this.#old--
      this.#new--
    }
  }

  #open(name: string, line: number): void {
    this.#count++
    if (this.#files.length >= FILES) this.#files.pop()
    this.#files.push({ name, line, added: 0, removed: 0, hunks: 0, notes: '' })
  }
}

/** Reads the new name of a file, or a note about it. */
function nameFile(file: ChangedFile, line: string): void {
  const name = NEW.exec(line)?.[1]
  if (name !== undefined && name !== '/dev/null') file.name = name
  else if (NOTE.test(line) && file.notes.length < NAME_BYTES) file.notes += ` ${noteOf(line)}`
}

function noteOf(line: string): string {
  if (line.startsWith('new file')) return '(new)'
  if (line.startsWith('deleted')) return '(deleted)'
  if (line.startsWith('rename from'))
    return `(renamed from ${excerpt(line.slice('rename from '.length), NAME_BYTES).text})`
  return line.startsWith('Binary') || line.startsWith('GIT binary') ? '(binary)' : ''
}

function namesOf(files: readonly ChangedFile[]): string {
  const shown: string[] = []
  let room = LEFT_OUT_BYTES
  for (const { name } of files) {
    const { text } = excerpt(name, NAME_BYTES)
    room -= Buffer.byteLength(text) + 2
    if (room < 0) {
      shown.push(MARK)
      break
    }
    shown.push(text)
  }
  return shown.join(', ')
}
