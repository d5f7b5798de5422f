/**
 * Output of terminals: colours and other control sequences are left out, and what a carriage return
 * overwrote.
 */

// biome-ignore lint/suspicious/noControlCharactersInRegex: control sequences are made of control characters
const SEQUENCE = /\u001b(?:\[[0-?]*[ -/]*[@-~]|\][^\u0007\u001b]*(?:\u0007|\u001b\\)?|[ -/]*[0-~])/g
const ESCAPE = '\u001b'
// biome-ignore lint/suspicious/noControlCharactersInRegex: a backspace takes back the character before it
const BACKSPACE = /[^\u0008]\u0008/g

/**
 * Whether a text is the output of a terminal: it holds control sequences, or carriage returns
 * inside its lines.
 */
export function isTerminal(lines: readonly string[]): boolean {
  return lines.some((line) => line.includes(ESCAPE) || line.indexOf('\r') >= 0)
}

/** The line as a terminal leaves it. Lines of other texts stay as they are. */
export function cleanLine(line: string): string {
  if (!(line.includes(ESCAPE) || line.includes('\r') || line.includes('\u0008'))) return line
  const plain = line.replaceAll(SEQUENCE, '').replace(BACKSPACE, '')
  return plain.split('\r').findLast((part) => part !== '') ?? ''
}
