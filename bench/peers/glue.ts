/** The transcript text that whoever keeps results in a plain store has to make; as short as it can be and still serve. */

const HEAD_CHARS = 1500
const TAIL_CHARS = 2500
export const SHOWN_CHARS = HEAD_CHARS + TAIL_CHARS

export function shownText(key: string, text: string): string {
  const head = text.slice(0, HEAD_CHARS)
  return `${head}\n[… ${text.length} characters, kept as ${key} …]\n${text.slice(-TAIL_CHARS)}`
}
