// Transcripts for the tests of compaction: what they are made of, and what must hold for any of them.
import fc from 'fast-check'
import { type Message, readMessages } from '../../../src/core/compaction/messages.ts'
import { parseJson } from '../../../src/core/json/scan.ts'
import type { JsonSlice } from '../../../src/core/json/slice.ts'
import { decodeRaw } from '../../../src/core/json/strings.ts'

/** A document of plain values as a slice. */
export function slice(value: unknown): JsonSlice {
  return parseJson(Buffer.from(JSON.stringify(value)))
}

export const user = (text: string) => ({ role: 'user', content: [{ type: 'text', text }] })
export const assistant = (text: string) => ({
  role: 'assistant',
  content: [{ type: 'text', text }],
})

export const use = (id: string, name: string, input: unknown = {}) => ({
  type: 'tool_use',
  id,
  name,
  input,
})
export const result = (id: string, content: unknown, more: object = {}) => ({
  type: 'tool_result',
  tool_use_id: id,
  content,
  ...more,
})

/** An Anthropic round: a call and its result. */
export const round = (id: string, name: string, content: unknown, more: object = {}) => [
  { role: 'assistant', content: [use(id, name)] },
  { role: 'user', content: [result(id, content, more)] },
]

/** An OpenAI round: calls in parallel, and a message for each result. */
export const openAiRound = (
  calls: readonly (readonly [id: string, name: string])[],
  content: string,
) => [
  {
    role: 'assistant',
    content: null,
    tool_calls: calls.map(([id, name]) => ({
      id,
      type: 'function',
      function: { name, arguments: '{}' },
    })),
  },
  ...calls.map(([id]) => ({ role: 'tool', tool_call_id: id, content })),
]

const word = fc.string({ unit: 'grapheme', maxLength: 12 })
const content = fc.oneof(
  word,
  fc.nat({ max: 300 }).map((length) => 'x'.repeat(length)),
  fc.array(fc.record({ type: fc.constant('text'), text: word }), { maxLength: 3 }),
  fc.constant(null),
)

type Turn = (id: number) => readonly object[]

/** One turn of either shape; the number makes its call ids its own. */
const turn: fc.Arbitrary<Turn> = fc.oneof(
  word.map(
    (text): Turn =>
      () => [user(text)],
  ),
  word.map(
    (text): Turn =>
      () => [{ role: 'user', content: text }],
  ),
  word.map(
    (text): Turn =>
      () => [assistant(text)],
  ),
  fc
    .tuple(word, content, fc.object({ maxDepth: 1, key: fc.constantFrom('cache_control', 'x') }))
    .map(
      ([name, said, more]): Turn =>
        (id) =>
          round(`t${id}`, name, said, more),
    ),
  fc.tuple(word, word, fc.nat({ max: 300 })).map(
    ([a, b, length]): Turn =>
      (id) =>
        openAiRound(
          [
            [`a${id}`, a],
            [`b${id}`, b],
          ],
          'y'.repeat(length),
        ),
  ),
  fc.tuple(word, content).map(
    ([name, said]): Turn =>
      (id) => [
        { role: 'assistant', content: [use(`p${id}`, name), use(`q${id}`, name)] },
        { role: 'user', content: [result(`p${id}`, said)] },
        { role: 'user', content: [user('aside').content[0], result(`q${id}`, said)] },
      ],
  ),
)

export const transcripts = fc
  .array(turn, { maxLength: 12 })
  .map((turns) => turns.flatMap((make, id) => make(id)))

/** The results whose call is not before them. */
export function orphans(messages: JsonSlice): readonly string[] {
  const called = new Set<string>()
  const missing: string[] = []
  for (const { calls, results } of readMessages(messages) as readonly Message[]) {
    for (const { id } of results) {
      if (id !== undefined && !called.has(decodeRaw(id))) missing.push(decodeRaw(id))
    }
    for (const { id } of calls) if (id !== undefined) called.add(id)
  }
  return missing
}

/** The calls that no result answers. */
export function pending(messages: JsonSlice): readonly string[] {
  const read = readMessages(messages)
  const answered = new Set(
    read.flatMap(({ results }) => results.flatMap(({ id }) => (id ? [decodeRaw(id)] : []))),
  )
  const calls = read.flatMap(({ calls: made }) => made.flatMap(({ id }) => id ?? []))
  return calls.filter((id) => !answered.has(id))
}
