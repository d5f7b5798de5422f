// Prints the transcript on a terminal. Text that is clipped only for the terminal is marked by the
// demo's brackets, «demo: …». All other marks come from the service, and the model sees them.
import type { Block, Message } from './types.ts'

const LINE_CHARS = 150
const HEAD_LINES = 3
const TAIL_LINES = 1
/** Lines of the service: notes and hints. */
const NOTE = /^\[.*\]$/

/** Prints messages of the transcript and notes of the demo. */
export class Printer {
  readonly #write: (line: string) => void

  constructor(write: (line: string) => void) {
    this.#write = write
  }

  title(text: string): void {
    this.#write(`\n== ${text}`)
  }

  /** Prints text that the model does not see. */
  note(text: string): void {
    this.#write(`   «demo: ${text}»`)
  }

  message({ role, content }: Message): void {
    const blocks: readonly Block[] =
      typeof content === 'string' ? [{ type: 'text', text: content }] : content
    for (const block of blocks) this.#lines(...spoken(role, block))
  }

  #lines(prefix: string, text: string): void {
    const indent = prefix.endsWith('| ') ? '  | ' : '    '
    clipLines(text).forEach((line, i) => {
      this.#write((i === 0 ? prefix : indent) + line)
    })
  }
}

/** Prefix for the lines of a block, and its text. */
function spoken(role: string, block: Block): readonly [prefix: string, text: string] {
  switch (block.type) {
    case 'text':
      return [`${role}: `, block.text]
    case 'tool_use':
      return [`  ${block.id} calls `, `${block.name} ${JSON.stringify(block.input)}`]
    case 'tool_result':
      return [`  ${block.tool_use_id}${block.is_error === true ? ' fails' : ''} | `, block.content]
    default:
      return block satisfies never
  }
}

/** The first lines, the service's notes and the last line, with the number of lines left out. */
function clipLines(text: string): readonly string[] {
  const lines = text.replace(/\n$/, '').split('\n')
  const shown: string[] = []
  let left = 0
  const flush = (): void => {
    if (left > 0) shown.push(`«demo: ${left} lines not printed»`)
    left = 0
  }
  lines.forEach((line, i) => {
    if (i >= HEAD_LINES && i < lines.length - TAIL_LINES && !NOTE.test(line)) {
      left += 1
      return
    }
    flush()
    shown.push(clipLine(line))
  })
  return shown
}

function clipLine(line: string): string {
  const chars = [...line]
  if (chars.length <= LINE_CHARS || NOTE.test(line)) return line
  return `${chars.slice(0, LINE_CHARS).join('')}«demo: ${chars.length - LINE_CHARS} characters not printed»`
}
