import { describe, expect, it } from 'vitest'
import {
  kindOf,
  readMessages,
  toolNameOf,
  toolNames,
} from '../../../src/core/compaction/messages.ts'
import { CoatcheckError } from '../../../src/core/errors.ts'
import { parseJson } from '../../../src/core/json/scan.ts'
import { result, slice, use, user } from './transcripts.ts'

const read = (...messages: readonly unknown[]) => readMessages(slice(messages))
const kinds = (...messages: readonly unknown[]) => read(...messages).map(kindOf)

describe('a transcript', () => {
  it.each([
    [{ a: 1 }, 'messages is not an array (object)'],
    [null, 'messages is not an array (null)'],
    [[user('x'), 7], 'messages[1] is not an object (number)'],
    [[user('x'), ['y']], 'messages[1] is not an object (array)'],
    [[{ content: 'x' }], 'messages[0] has no string member "role"'],
    [[{ role: 1, content: 'x' }], 'messages[0] has no string member "role"'],
    [
      [{ role: 'user', compaction_summary: {} }],
      'messages[0] has a malformed "compaction_summary"',
    ],
  ])('is refused when it is %j', (value, detail) => {
    const refused = () => readMessages(slice(value))
    expect(refused).toThrow(CoatcheckError)
    expect(refused).toThrow(detail)
    const index = /^messages\[(\d)\]/.exec(detail)?.[1]
    const facts = index === undefined ? {} : { index: Number(index) }
    expect(refused).toThrowError(expect.objectContaining({ code: 'invalid_request', facts }))
  })

  it('may hold anything in a message', () => {
    const odd = [
      { role: 'user' },
      { role: 'user', content: 5 },
      { role: 'user', content: [1, null, 'x', {}, { type: 7 }, { type: 'new', text: 'no' }] },
      {
        role: 'user',
        content: [
          { type: 'text', text: 12345 },
          { type: 'tool_result', tool_use_id: 1 },
        ],
      },
      { role: 'assistant', tool_calls: 'x' },
      { role: 'assistant', tool_calls: [1, {}, { id: 'a', function: 'f' }] },
      { role: 'user', content: 'x', compaction_summary: null },
    ]
    const messages = read(...odd)
    expect(messages.map(({ text }) => text)).toEqual(['', '', '', '', '', '', 'x'])
    expect(messages[3]?.results).toEqual([{ id: undefined, content: undefined }])
    expect(messages[5]?.calls.map(({ id, name }) => [id, name])).toEqual([
      [undefined, undefined],
      ['a', undefined],
    ])
  })

  it('takes the last of a repeated member', () => {
    const source = '[{"role":"user","content":"first","role":"assistant","content":"last"}]'
    const [message] = readMessages(parseJson(Buffer.from(source)))
    expect([message?.role, message?.text]).toEqual(['assistant', 'last'])
    const blocks = '[{"type":"tool_result","tool_use_id":"a"}]'
    const repeated = `[{"content":${blocks},"content":"last","role":"user"}]`
    expect(readMessages(parseJson(Buffer.from(repeated)))[0]?.results).toEqual([])
  })

  it('has its blocks in its content alone, wherever that stands', () => {
    const [first, second] = read(
      { content: [{ type: 'text', text: 'a' }, ...user('b').content], role: 'user', x: [] },
      { role: 'user', content: [], x: [result('a', 'b')] },
    )
    expect(first?.text).toBe('a\nb')
    expect(second?.results).toEqual([])
  })

  it('has the input of a custom tool as text', () => {
    const custom = { name: 'shell', input: 'ls' }
    const [message] = read({ role: 'assistant', tool_calls: [{ id: 'a', custom }] })
    expect(message?.calls.map(({ input }) => `${input}`)).toEqual(['"ls"'])
  })
})

describe('the kind of a message', () => {
  it('is a turn of a user for an unknown role', () => {
    const answer = { role: 'user', tool_call_id: 'a', content: 'x' }
    const summary = { role: 'critic', content: '[Compaction summary]\nGoal: g' }
    expect(kinds(user('x'), { role: 'critic', content: 'x' }, answer, summary)).toEqual(
      Array(4).fill('user'),
    )
    expect(kinds({ role: 'user' }, { role: 'user', content: [] })).toEqual(['user', 'user'])
  })

  it('is an exchange wherever a tool result stands in a user message', () => {
    const mixed = { role: 'user', content: [{ type: 'text', text: 'so' }, result('a', 'b')] }
    const tools = [
      { role: 'tool', tool_call_id: 'a', content: 'x' },
      { role: 'tool', content: 'x' },
      { role: 'function', name: 'f', content: 'x' },
    ]
    expect(kinds(mixed, ...tools)).toEqual(['exchange', 'exchange', 'exchange', 'exchange'])
    expect(read(...tools).map(({ text }) => text)).toEqual(['', '', ''])
  })

  it('is instructions for system and developer messages', () => {
    const roles = ['system', 'developer', 'assistant']
    expect(kinds(...roles.map((role) => ({ role, content: 'x' })))).toEqual([
      'instructions',
      'instructions',
      'assistant',
    ])
  })

  it('is a summary by its member, or by its text when that is all there is', () => {
    const text = '[Compaction summary]\nGoal: g\nProgress: p'
    expect(
      kinds(
        { role: 'user', content: [], compaction_summary: { goal: 'g', progress: 'p' } },
        { role: 'user', content: text },
        user(text),
        { role: 'user', content: [...user(text).content, ...user('and now').content] },
        { role: 'assistant', content: text },
        { role: 'user', content: '[Compaction summary] is a phrase' },
      ),
    ).toEqual(['summary', 'summary', 'summary', 'user', 'assistant', 'user'])
  })
})

describe('the name of a tool', () => {
  it('is that of the last call with the id, for ids of any spelling', () => {
    const messages = read(
      { role: 'user', content: [result('__proto__', 'x'), result('toString', 'y')] },
      { role: 'assistant', content: [use('__proto__', 'first'), use('__proto__', 'last\ud800')] },
    )
    const names = toolNames(messages)
    const shown = messages[0]?.results.map((one) => toolNameOf(one, names))
    expect(shown).toEqual(['last\ufffd', 'tool'])
  })

  it('is not lost to a later call of that id without a name', () => {
    const messages = read(
      { role: 'assistant', content: [use('a', 'named'), { type: 'tool_use', id: 'a' }] },
      { role: 'user', content: [result('a', 'x')] },
    )
    const [answer] = messages[1]?.results ?? []
    expect(answer && toolNameOf(answer, toolNames(messages))).toBe('named')
  })
})
