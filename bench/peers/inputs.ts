/** What is put, read and elided: the same bytes on every run and for every candidate, made and not downloaded. */

export const KIB = 1024
export const MIB = 1024 * KIB
/** One line of the texts, its line end included. */
export const LINE_BYTES = 80
const NUMBER_DIGITS = 9
const FILLER = ' level=info msg="request handled" path=/v1/items duration_ms=12 status=200 ok '
const TOOL_CALLS = 200
const TOOL_RESULT_CHARS = 1967

/** Line `number`, 1-based, without its end: its number, then a log line. */
export function lineAt(number: number): string {
  const digits = String(number).padStart(NUMBER_DIGITS, '0')
  return (digits + FILLER).padEnd(LINE_BYTES - 1, '.').slice(0, LINE_BYTES - 1)
}

/** ASCII lines of `LINE_BYTES`, at least `bytes` in all. */
export function textOf(bytes: number): string {
  const lines: string[] = []
  for (let number = 1; (number - 1) * LINE_BYTES < bytes; number++) lines.push(lineAt(number))
  return `${lines.join('\n')}\n`
}

export interface ToolCall {
  readonly id: string
  readonly name: string
  readonly input: { readonly path: string }
  readonly result: string
}

/** With the question before them, 401 messages: a call and a result each. */
export function toolCalls(): readonly ToolCall[] {
  return Array.from({ length: TOOL_CALLS }, (_, index) => ({
    id: `toolu_${String(index).padStart(4, '0')}`,
    name: 'read_file',
    input: { path: `src/module-${index}.ts` },
    result: textOf(TOOL_RESULT_CHARS).slice(0, TOOL_RESULT_CHARS),
  }))
}

export const QUESTION = 'Read all files and tell what they do.'
/** How many tool results stay when a transcript is elided. */
export const KEEP_RESULTS = 3
