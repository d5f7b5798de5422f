// JSON documents as lists of tokens, so that a test knows what they mean without reading them. Knows nothing of src/.
import fc from 'fast-check'

/** A scalar is its token; the members of an object are key token and value, in order, duplicates included. */
export type Doc =
  | string
  | { readonly items: readonly Doc[] }
  | { readonly members: readonly (readonly [key: string, value: Doc])[] }

const SEED = 20_260_725

/** Asserts a property with the seed that all of these tests share. */
export function holds<Ts extends [unknown, ...unknown[]]>(
  property: fc.IPropertyWithHooks<Ts>,
  numRuns = 300,
): void {
  fc.assert(property, { seed: SEED, numRuns })
}

const PLAIN = ['', 'a', 'bc', ' ', '\u007f', 'é', '€', '\u2028', '\uffff', '😀', '{', '[', ',', ':']
const ESCAPES = [
  '\\n',
  '\\"',
  '\\\\',
  '\\/',
  '\\b',
  '\\u0041',
  '\\u000A',
  '\\u00e9',
  '\\uFFFF',
  '\\ud83d\\ude00',
  '\\uD83D',
  '\\udE00',
]
const NUMBERS = ['0', '-0', '1.0', '1e400', '-1.5E+3', '12345678901234567890', '2e0', '1E-2']

/** The inside of a string token. */
export const stringInside: fc.Arbitrary<string> = fc
  .array(fc.constantFrom(...PLAIN, ...ESCAPES), { maxLength: 12 })
  .map((parts) => parts.join(''))

/** The inside of a string token without lone surrogates. */
export const wellFormedInside: fc.Arbitrary<string> = fc
  .array(fc.constantFrom(...PLAIN, ...ESCAPES.slice(0, -2)), { maxLength: 6 })
  .map((parts) => parts.join(''))

const quoted = (inside: string): string => `"${inside}"`

/** Documents whose keys come from `keyInside`. */
export function docs(keyInside: fc.Arbitrary<string> = stringInside): fc.Arbitrary<Doc> {
  const key = fc.oneof(
    fc.constantFrom('"10"', '"2"', '""', '"a"', '"__proto__"', '"constructor"'),
    keyInside.map(quoted),
  )
  const { doc } = fc.letrec<{ doc: Doc }>((tie) => ({
    doc: fc.oneof(
      { maxDepth: 5, depthSize: 'small' },
      fc.oneof(fc.constantFrom('true', 'false', 'null', ...NUMBERS), stringInside.map(quoted)),
      fc.record({ items: fc.array(tie('doc'), { maxLength: 5 }) }),
      fc.record({ members: fc.array(fc.tuple(key, tie('doc')), { maxLength: 5 }) }),
    ),
  }))
  return doc
}

/** `doc` inside `levels` arrays. */
export function nested(doc: Doc, levels: number): Doc {
  let outer = doc
  for (let n = 0; n < levels; n++) outer = { items: [outer] }
  return outer
}

function tokensOf(doc: Doc): string[] {
  if (typeof doc === 'string') return [doc]
  if ('items' in doc) return ['[', ...separated(doc.items.map(tokensOf)), ']']
  const members = doc.members.map(([key, value]) => [key, ':', ...tokensOf(value)])
  return ['{', ...separated(members), '}']
}

const separated = (parts: readonly (readonly string[])[]): string[] =>
  parts.flatMap((part, i) => (i === 0 ? part : [',', ...part]))

/** Compact JSON. */
export const compact = (doc: Doc): string => tokensOf(doc).join('')

/** JSON with `gaps`, in turn, between its tokens; none around it. */
export const spaced = (doc: Doc, gaps: readonly string[]): string =>
  tokensOf(doc)
    .map((token, i) => (i === 0 ? token : `${gaps[i % gaps.length] ?? ''}${token}`))
    .join('')

/** White space to put between tokens. */
export const gaps: fc.Arbitrary<string[]> = fc.array(
  fc.constantFrom('', '', ' ', '\n', '\r\n', '\t', '  \n  '),
  { minLength: 1, maxLength: 5 },
)

/** The text view, written in the plainest way. */
export function indented(doc: Doc, indent = ''): string {
  if (typeof doc === 'string') return doc
  const inner = `${indent}  `
  const isArray = 'items' in doc
  const lines = isArray
    ? doc.items.map((item) => inner + indented(item, inner))
    : doc.members.map(([key, value]) => `${inner}${key}: ${indented(value, inner)}`)
  const [open, close] = isArray ? '[]' : '{}'
  return lines.length === 0 ? `${open}${close}` : `${open}\n${lines.join(',\n')}\n${indent}${close}`
}

/** Texts with all that can go wrong with lines and code points. */
export const texts: fc.Arbitrary<string> = fc
  .array(
    fc.constantFrom(
      'a',
      'bcd',
      'word ',
      '\n',
      '\r\n',
      '\r',
      'é',
      '€',
      '😀',
      '\u2028',
      '\0',
      '\ufeff',
    ),
    { maxLength: 60 },
  )
  .map((parts) => parts.join(''))

/** The lines of a text, as Rust's `str::lines` has them. */
export function linesOf(text: string): string[] {
  const lines = text.split('\n')
  const last = lines.pop() ?? ''
  const ended = lines.map((line) => (line.endsWith('\r') ? line.slice(0, -1) : line))
  return last === '' ? ended : [...ended, last]
}

/** `bytes` at an offset of `shift` in a larger buffer with bytes of another kind around them. */
export function shifted(bytes: Buffer, shift: number): Buffer {
  const larger = Buffer.alloc(bytes.length + shift + 3, 0x22)
  bytes.copy(larger, shift)
  return larger.subarray(shift, shift + bytes.length)
}
