// Reads previews of the extended format by the grammar in docs/reference/previews.md, and says whether they carry the mark of
// an omission. Knows nothing of src/.

const HANDLE = /^[A-Za-z0-9_.:-]{1,64} = /
const INDENT = '  '
/** `"…"` with escapes; nothing that cannot be seen stands in it raw. */
const QUOTED = /"(?:[^"\\\p{C}\p{Zl}\p{Zp}]|\\(?:["\\nrt]|u\{[0-9a-f]{1,6}\}))*"/uy
/** Structure: no quote, no backslash, ASCII but for the two signs. */
const BARE = /[A-Za-z0-9_$.:,+\-*/#=|(){}[\]% ;≤×…]+/uy
const OPENING: Readonly<Record<string, string>> = { '(': ')', '[': ']', '{': '}' }

export interface ReadPreview {
  /** `…` stands somewhere outside of quotes. */
  readonly isMarked: boolean
  readonly lines: readonly string[]
}

/** Throws for a text that is no preview. */
export function readPreview(preview: string): ReadPreview {
  const [first = '', ...rest] = preview.split('\n')
  if (!HANDLE.test(first)) throw new Error(`no handle: ${first.slice(0, 80)}`)
  for (const line of rest) {
    if (!line.startsWith(INDENT) || line === INDENT)
      throw new Error(`not indented: ${line.slice(0, 80)}`)
  }
  const marks = [first.replace(HANDLE, ''), ...rest].map(readLine)
  return { isMarked: marks.some((isMarked) => isMarked), lines: rest }
}

function readLine(line: string): boolean {
  let structure = ''
  for (let at = 0; at < line.length; ) {
    const quoted = match(QUOTED, line, at)
    const token = quoted ?? match(BARE, line, at)
    if (token === undefined) throw new Error(`unreadable at ${at}: ${line.slice(at, at + 60)}`)
    if (quoted === undefined) structure += token
    at += token.length
  }
  if (!isBalanced(structure)) throw new Error(`unbalanced: ${line.slice(0, 200)}`)
  return structure.includes('…')
}

function isBalanced(structure: string): boolean {
  const open: string[] = []
  for (const character of structure) {
    const closing = OPENING[character]
    if (closing !== undefined) open.push(closing)
    else if (')]}'.includes(character) && open.pop() !== character) return false
  }
  return open.length === 0
}

function match(pattern: RegExp, line: string, at: number): string | undefined {
  pattern.lastIndex = at
  return pattern.exec(line)?.[0]
}
