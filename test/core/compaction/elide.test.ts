import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { elide } from '../../../src/core/compaction/elide.ts'
import { parseJson } from '../../../src/core/json/scan.ts'
import { elementsOf } from '../../../src/core/json/slice.ts'
import { member, NumberToken, type Tree, toJson, vectors } from '../../vectors.ts'
import { openAiRound, result, round, slice, transcripts, use, user } from './transcripts.ts'

const number = (tree: Tree) => (tree instanceof NumberToken ? Number(tree.text) : null)
const json = (source: string) => parseJson(Buffer.from(source))
const elided = (messages: readonly unknown[], keep: number | null) => elide(slice(messages), keep)

describe('vectors of micro_compact', () => {
  it.each([...vectors('micro_compact')])('$name', ({ input, expected }) => {
    const messages = json(toJson(member(input, 'messages')))
    const answer = elide(messages, number(member(input, 'keep_recent')))
    expect(`${answer.messages}`).toBe(toJson(member(expected, 'messages')))
    expect(answer.elided.length).toBe(number(member(expected, 'elided')))
  })
})

describe('elision', () => {
  const keeps = fc.oneof(fc.nat({ max: 6 }), fc.constant(null))

  it('changes nothing the second time', () => {
    fc.assert(
      fc.property(transcripts, keeps, (messages, keep) => {
        const once = elided(messages, keep)
        const twice = elide(once.messages, keep)
        expect(`${twice.messages}`).toBe(`${once.messages}`)
        expect(twice.elided).toEqual([])
        expect(twice.estimated_tokens.before).toBe(once.estimated_tokens.after)
      }),
      { seed: 3 },
    )
  })

  it('changes only contents of tool results, and tells which', () => {
    fc.assert(
      fc.property(transcripts, keeps, fc.constantFrom(0, 3), (messages, keep, indent) => {
        const source = json(JSON.stringify(messages, null, indent))
        const answer = elide(source, keep)
        const markers = answer.elided.map(({ tool_name }) => `[Previous: used ${tool_name}]`)
        // With every content that became a marker put back, the bytes are the caller's.
        const blanked = blankContents(`${answer.messages}`, markers)
        const pattern = blanked.split('\u0000')
        expect(pattern.length).toBe(markers.length + 1)
        let at = 0
        pattern.forEach((kept, i) => {
          const found = i === 0 ? 0 : `${source}`.indexOf(kept, at)
          expect(found).toBeGreaterThanOrEqual(at)
          at = found + kept.length
        })
        expect(`${source}`.endsWith(pattern.at(-1) ?? '')).toBe(true)
      }),
      { seed: 4 },
    )
  })

  it('leaves what it elided as it is when results are appended', () => {
    fc.assert(
      fc.property(transcripts, transcripts, fc.nat({ max: 4 }), (first, more, keep) => {
        const renamed = JSON.parse(JSON.stringify(more).replace(/"([tabpq])(\d+)"/g, '"$1$2x"'))
        const before = [...elementsOf(elided(first, keep).messages)].map(String)
        const after = [...elementsOf(elided([...first, ...renamed], keep).messages)].map(String)
        // Up to the last message with something elided in it, none may change any more.
        const settled = Math.max(
          0,
          before.findLastIndex((message, i) => message !== JSON.stringify(first[i])),
        )
        expect(after.slice(0, settled)).toEqual(before.slice(0, settled))
        expect(after[settled] ?? '').toContain(markerIn(before[settled] ?? ''))
      }),
      { seed: 5 },
    )
  })

  it('is stable round by round', () => {
    const sent: unknown[] = []
    let last: string[] = []
    for (let n = 0; n < 8; n++) {
      sent.push(...round(`c${n}`, `tool${n}`, 'r'.repeat(200)))
      const now = [...elementsOf(elided(sent, 2).messages)].map(String)
      const settled = last.findLastIndex((message) => message.includes('[Previous: used ')) + 1
      expect(now.slice(0, settled)).toEqual(last.slice(0, settled))
      last = now
    }
    expect(last.filter((message) => message.includes('[Previous: used ')).length).toBe(6)
  })

  it('gives the same bytes for the same messages', () => {
    const messages = [...round('A', 'read', 'a'.repeat(300)), ...round('B', 'grep', 'b')]
    expect(`${elided(messages, 1).messages}`).toBe(`${elided(messages, 1).messages}`)
  })

  it('counts a parallel batch result by result and loses no block', () => {
    const messages = [
      {
        role: 'assistant',
        content: [{ type: 'text', text: 'two' }, use('A', 'read'), use('B', 'grep')],
      },
      { role: 'user', content: [result('A', 'a'.repeat(300)), result('B', 'b'.repeat(300))] },
      ...round('C', 'bash', 'c'.repeat(300)),
    ]
    const answer = elided(messages, 2)
    const expected = structuredClone(messages) as { content: { content: unknown }[] }[]
    if (expected[1]?.content[0]) expected[1].content[0].content = '[Previous: used read]'
    expect(`${answer.messages}`).toBe(JSON.stringify(expected))
    expect(elided(messages, null).messages).toEqual(slice(messages))
    expect(elided(messages, 0).elided.length).toBe(3)
  })

  it('reports id, name and bytes, and what it saves', () => {
    const messages = [...round('\ud800', 'shot', 'é'.repeat(100)), ...round('J', 'bash', 'k')]
    const { elided: list, estimated_tokens } = elided(messages, 1)
    expect(list.map((one) => [`${one.tool_use_id}`, one.tool_name, one.bytes])).toEqual([
      ['"\\ud800"', 'shot', 200],
    ])
    expect(estimated_tokens.before - estimated_tokens.after).toBe(20)
  })

  it.each([
    ['an orphan', [user('x'), { role: 'user', content: [result('ghost', 'g'.repeat(300))] }]],
    [
      'a result without an id',
      [{ role: 'user', content: [{ type: 'tool_result', content: 'g'.repeat(300) }] }],
    ],
  ])('calls the tool of %s "tool"', (_, messages) => {
    const answer = elided(messages, 0)
    expect(`${answer.messages}`).toContain('"[Previous: used tool]"')
    expect(answer.elided[0]?.tool_name).toBe('tool')
  })

  it('is by position, also when all calls share an id', () => {
    const messages = ['1', '2', '3'].flatMap((digit) => round('c', 'bash', digit.repeat(200)))
    const answer = elided(messages, 1)
    expect(answer.elided.length).toBe(2)
    expect(`${answer.messages}`).toContain('3333')
    expect(`${answer.messages}`).not.toContain('2222')
  })

  it('leaves calls that wait for their results', () => {
    const waiting = { role: 'assistant', content: [use('B', 'bash'), use('C', 'bash')] }
    const answer = elided([...round('A', 'read', 'a'.repeat(300)), waiting], 0)
    expect(`${answer.messages}`).toContain(JSON.stringify(waiting))
  })

  it('tells the marker of a long name from a text of the same length', () => {
    const name = 'n'.repeat(200)
    const marker = `[Previous: used ${name}]`
    expect(elided(round('a', name, marker), 0).elided).toEqual([])
    for (const other of ['x'.repeat(marker.length), ['x'.repeat(marker.length - 4)]]) {
      expect(elided(round('a', name, other), 0).elided.map(({ bytes }) => bytes)).toEqual([
        marker.length,
      ])
    }
  })

  it('inserts a tool name literally', () => {
    const answer = elided([...round('d1', '$& $1 $$', 'long '.repeat(40))], 0)
    expect(`${answer.messages}`).toContain('[Previous: used $& $1 $$]')
  })

  it('keeps is_error, cache_control and unknown members where they stand', () => {
    const more = { is_error: true, cache_control: { type: 'ephemeral' }, x_custom: { a: 1 } }
    const answer = elided(round('K', 'read', 'z'.repeat(300), more), 0)
    expect(`${answer.messages}`).toBe(
      JSON.stringify(round('K', 'read', '[Previous: used read]', more)),
    )
  })

  it('replaces content with an image in it as a whole', () => {
    const image = { type: 'image', source: { type: 'base64', data: 'AAAA'.repeat(3000) } }
    const content = [{ type: 'text', text: 'shot' }, image]
    const answer = elided(round('I', 'screenshot', content), 0)
    expect(`${answer.messages}`).toBe(
      JSON.stringify(round('I', 'screenshot', '[Previous: used screenshot]')),
    )
    expect(answer.elided[0]?.bytes).toBe(JSON.stringify(content).length)
  })

  it.each([null, undefined, '', 'x'.repeat(100), '€'.repeat(33)])(
    'leaves content %j',
    (content) => {
      const messages = round('z1', 'bash', content)
      expect(`${elided(messages, 0).messages}`).toBe(JSON.stringify(messages))
    },
  )

  it('elides OpenAI tool messages, by the names in tool_calls', () => {
    const calls = [
      ['a', 'read'],
      ['b', 'grep'],
    ] as const
    const custom = [
      {
        role: 'assistant',
        tool_calls: [{ id: 'c', type: 'custom', custom: { name: 'shell', input: 'ls' } }],
      },
      { role: 'tool', tool_call_id: 'c', content: 'y'.repeat(200) },
    ]
    const answer = elided([...openAiRound(calls, 'x'.repeat(200)), ...custom], 1)
    expect(answer.elided.map(({ tool_name }) => tool_name)).toEqual(['read', 'grep'])
    expect(elided(custom, 0).elided.map(({ tool_name }) => tool_name)).toEqual(['shell'])
  })

  it('passes number tokens, escapes, order and repeated keys on', () => {
    const rest = '{"role":"user","10":1e400,"2":1.0,"content":"\\u0041\\/\\ud800","x":0,"x":-0}'
    const source = `[ ${rest} ,{"role":"tool","tool_call_id":"q","content":"${'z'.repeat(101)}"}\n]`
    expect(`${elide(json(source), 0).messages}`).toBe(
      `[ ${rest} ,{"role":"tool","tool_call_id":"q","content":"[Previous: used tool]"}\n]`,
    )
  })

  // Fault: every marker repeated the name, so that eliding could make a transcript many times as large.
  it('takes a name that no tool has, by its length, for none', () => {
    const elidedNames = (name: string) =>
      elided(round('a', name, 'x'.repeat(2_000)), 0).elided.map(({ tool_name }) => tool_name)
    expect(elidedNames('n'.repeat(1_024))).toEqual(['n'.repeat(1_024)])
    expect(elidedNames('n'.repeat(1_025))).toEqual(['tool'])
    expect(elidedNames('😀'.repeat(513))).toEqual(['tool'])
    const { messages } = elided(openAiRound([['b', 'n'.repeat(5_000)]], 'x'.repeat(200)), 0)
    expect(`${messages}`).toContain('"[Previous: used tool]"')
  })

  it('reads messages nested as deep as JSON may be', () => {
    const deep = `${'['.repeat(1000)}${']'.repeat(1000)}`
    const source = `[{"role":"tool","tool_call_id":"q","content":${deep}}]`
    expect(elide(json(source), 0).elided[0]?.bytes).toBe(2000)
  })
})

const markerIn = (message: string) => /\[Previous: used [^"]*\]"/.exec(message)?.[0] ?? ''

/** `source` with each marker, in order, replaced by U+0000. */
function blankContents(source: string, markers: readonly string[]): string {
  let out = ''
  let from = 0
  for (const marker of markers) {
    const token = `${JSON.stringify(marker)}`
    const at = source.indexOf(token, from)
    out += `${source.slice(from, at)}\u0000`
    from = at + token.length
  }
  return out + source.slice(from)
}
