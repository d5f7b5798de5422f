// What a Markdown file links to, and which anchors it offers, as a page on GitHub has them. Reads lines: fences, headings,
// inline links and link definitions. It is no parser: indented code and HTML links are not looked at.

export interface Link {
  /** As written: a path, `#anchor`, or both. */
  readonly target: string
  /** From 1. */
  readonly line: number
}

interface Line {
  readonly text: string
  readonly number: number
}

const FENCE = /^ {0,3}(`{3,}|~{3,})/
const HEADING = /^ {0,3}#{1,6}\s+(.*?)\s*#*\s*$/
const CODE_SPAN = /(?<!`)(`+)(?!`).*?(?<!`)\1(?!`)/g
const INLINE_LINK = /\]\(\s*(?:<([^<>]*)>|([^\s()]+(?:\([^\s()]*\)[^\s()]*)*))(?:\s+"[^"]*")?\s*\)/g
const DEFINITION = /^ {0,3}\[[^\]]+\]:\s+(\S+)/
const LINK_TEXT = /!?\[([^\]]*)\]\([^)]*\)/g
const NOT_IN_ANCHOR = /[^\p{L}\p{N}\p{M}_\- ]/gu

/** Every link outside code. */
export function linksIn(markdown: string): readonly Link[] {
  return proseLines(markdown).flatMap(({ text, number }) => {
    const prose = text.replace(CODE_SPAN, '')
    const inline = [...prose.matchAll(INLINE_LINK)].map((match) => match[1] ?? match[2] ?? '')
    const defined = DEFINITION.exec(prose)?.[1]
    return [...inline, ...(defined === undefined ? [] : [defined])].map((target) => ({
      target,
      line: number,
    }))
  })
}

/** The anchors of its headings; a heading that comes again has a number after it. */
export function anchorsIn(markdown: string): ReadonlySet<string> {
  const seen = new Map<string, number>()
  const anchors = new Set<string>()
  for (const { text } of proseLines(markdown)) {
    const heading = HEADING.exec(text)?.[1]
    if (heading === undefined) continue
    const anchor = anchorOf(heading)
    const times = seen.get(anchor) ?? 0
    seen.set(anchor, times + 1)
    anchors.add(times === 0 ? anchor : `${anchor}-${times}`)
  }
  return anchors
}

function anchorOf(heading: string): string {
  const text = heading.replace(LINK_TEXT, '$1').toLowerCase()
  return text.replace(NOT_IN_ANCHOR, '').replaceAll(' ', '-')
}

/** The lines outside fenced code. */
function proseLines(markdown: string): readonly Line[] {
  const lines: Line[] = []
  let fence: string | undefined
  for (const [index, text] of markdown.split('\n').entries()) {
    const mark = FENCE.exec(text)?.[1]
    if (fence !== undefined) {
      if (mark?.startsWith(fence) && text.trim() === mark) fence = undefined
    } else if (mark !== undefined) fence = mark
    else lines.push({ text, number: index + 1 })
  }
  return lines
}
