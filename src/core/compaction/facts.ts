/**
 * Facts read from a transcript without a model, so that a summary does not lose them: files that
 * tools touched, and lines that tell the outcome of checks and permissions. Both are found by
 * patterns; nothing depends on them.
 *
 * The reference searches text blocks only, so it finds nothing in tool results. Here results and
 * arguments of calls are searched. Time is linear. Of a long text only both ends are searched, and
 * of many texts the newest.
 */

import { JsonSlice, skipSpace, skipString } from '../json/slice.ts'
import { decodeText } from '../json/strings.ts'
import { FACT_CHARS, FACT_FILES, FACT_LINES, FACT_SCAN_CHARS, FACT_TOTAL_CHARS } from '../limits.ts'
import { charsOf, firstChars } from '../text.ts'
import { trimBlank } from './estimate.ts'
import { bothEnds } from './excerpt.ts'
import { jsonIn } from './lenient.ts'
import type { Message } from './messages.ts'

const QUOTE = 0x22
const COLON = 0x3a

/**
 * Runs of characters that can stand in a path in prose, code or compiler messages. May start with a
 * drive letter.
 */
const TOKEN = /(?:\b[A-Za-z]:(?=[\\/]))?[^\s"'`<>|(){}[\],;:=*?&#!]+/g
const DIRECTORIES = /^(?:[A-Za-z]:)?[\p{L}\p{N}_.@+~\\/-]+$/u
/** A name with an extension that starts with a letter. */
const FILE_NAME = /^[\p{L}\p{N}_.@+~-]+\.[A-Za-z][A-Za-z0-9]*$/u
const URL_REST = '//'
/**
 * Members of a call's arguments that hold a file's name, such as `path`, `file_path` or
 * `notebookPath`.
 */
const FILE_MEMBER = /(?:^|_)(?:path|file|filename|filepath|file_name)s?$|(?:Path|File|FileName)s?$/
const ONE_LINE = /^[^\p{Cc}]+$/u
const CHECKED =
  /\b(?:\d+ (?:passed|failed|failing|passing|errors?)|tests? (?:passed|failed)|all tests|build (?:failed|succeeded)|exit (?:code|status):? \d+)\b/i
const FORBIDDEN =
  /\b(?:permission denied|access denied|operation not permitted|not allowed|forbidden|unauthorized|EACCES|EPERM)\b/i

/** Facts of a transcript. */
export interface Facts {
  /** In the order of their first occurrence. */
  readonly files_touched: readonly string[]
  /** Lines of tool results about tests, builds, exit codes and permissions, in order. */
  readonly notable_lines: readonly string[]
}

/** A text to search. `name` is its member, when it is an argument of a call. */
interface Text {
  readonly text: string
  readonly name: string | undefined
  readonly from: 'call' | 'result'
}

/**
 * Finds facts in the calls and results of `messages`. The newest are kept when there are too many.
 */
export function extractFacts(messages: readonly Message[]): Facts {
  const files = new Set<string>()
  const lines = new Set<string>()
  for (const { text, name, from } of textsOf(messages)) {
    if (name !== undefined && isFileMember(name, text)) files.add(text)
    else addFiles(files, text)
    if (from === 'result') addLines(lines, text)
  }
  return {
    files_touched: [...files].slice(-FACT_FILES),
    notable_lines: [...lines].slice(-FACT_LINES),
  }
}

/** The newest texts up to the limit, oldest first. */
function textsOf(messages: readonly Message[]): readonly Text[] {
  const newestFirst: Text[] = []
  let left = FACT_TOTAL_CHARS
  for (let i = messages.length - 1; i >= 0 && left > 0; i--) {
    const own = [...textsIn(messages[i] as Message)].reverse()
    for (const text of own) {
      newestFirst.push(text)
      left -= charsOf(text.text)
    }
  }
  return newestFirst.reverse()
}

function* textsIn({ calls, results }: Message): Generator<Text> {
  for (const { input } of calls) {
    for (const { name, token } of stringsIn(input && argumentsOf(input))) {
      yield { text: bothEnds(decodeText(token), FACT_SCAN_CHARS), name, from: 'call' }
    }
  }
  for (const { content } of results) {
    for (const { token } of stringsIn(content)) {
      const text = bothEnds(decodeText(token), FACT_SCAN_CHARS)
      yield { text, name: undefined, from: 'result' }
    }
  }
}

function isFileMember(name: string, text: string): boolean {
  return FILE_MEMBER.test(name) && isShort(text) && ONE_LINE.test(text)
}

function addFiles(files: Set<string>, text: string): void {
  for (const [token] of text.matchAll(TOKEN)) {
    // A sentence may end right after a path.
    const path = token.endsWith('.') ? token.slice(0, -1) : token
    if (isShort(path) && isPath(path)) files.add(path)
  }
}

function addLines(lines: Set<string>, text: string): void {
  for (const line of text.split('\n')) {
    const shown = firstChars(line, FACT_CHARS)
    if (CHECKED.test(shown) || FORBIDDEN.test(shown)) lines.add(trimBlank(shown))
  }
}

/**
 * Whether a text is a path. Two tests, so that no pattern backtracks from one directory to the
 * next.
 */
function isPath(text: string): boolean {
  const split = Math.max(text.lastIndexOf('/'), text.lastIndexOf('\\')) + 1
  return (
    !text.startsWith(URL_REST) &&
    DIRECTORIES.test(text.slice(0, split)) &&
    FILE_NAME.test(text.slice(split))
  )
}

const isShort = (text: string): boolean => charsOf(text) <= FACT_CHARS

/** Arguments of a call. OpenAI's string is parsed when it is JSON. */
function argumentsOf(input: JsonSlice): JsonSlice {
  return input.kind === 'string' ? (jsonIn(decodeText(input)) ?? input) : input
}

/**
 * Yields every string inside `value` with the nearest member name before it. One pass, at any
 * depth.
 */
function* stringsIn(
  value: JsonSlice | undefined,
): Generator<{ readonly name: string | undefined; readonly token: JsonSlice }> {
  if (value === undefined) return
  const { bytes, end } = value
  let name: string | undefined
  let pos = bytes.indexOf(QUOTE, value.start)
  while (pos >= 0 && pos < end) {
    const stop = skipString(bytes, pos)
    const token = new JsonSlice(bytes, pos, stop)
    const next = skipSpace(bytes, stop, end)
    if (next < end && bytes[next] === COLON) name = decodeText(token)
    else yield { name, token }
    pos = bytes.indexOf(QUOTE, stop)
  }
}
