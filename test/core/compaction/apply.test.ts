import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { applyCompaction } from '../../../src/core/compaction/apply.ts'
import { approxTokens } from '../../../src/core/compaction/estimate.ts'
import { planCompaction } from '../../../src/core/compaction/plan.ts'
import { CoatcheckError } from '../../../src/core/errors.ts'
import { parseJson } from '../../../src/core/json/scan.ts'
import { elementsOf } from '../../../src/core/json/slice.ts'
import { member, NumberToken, toJson, vectors } from '../../vectors.ts'
import {
  assistant,
  openAiRound,
  orphans,
  pending,
  result,
  round,
  slice,
  transcripts,
  use,
  user,
} from './transcripts.ts'

const json = (source: string) => parseJson(Buffer.from(source))
const SUMMARY = '{"goal":"G","progress":"P"}'
const TEXT = '[Compaction summary]\nGoal: G\nProgress: P'
const SUMMARY_MESSAGE = { role: 'user', content: TEXT }
const MANY_TOKENS = 20_000

const apply = (messages: readonly unknown[], tokens = MANY_TOKENS, summary = SUMMARY) =>
  applyCompaction(slice(messages), tokens, summary)

describe('vectors of compaction_apply', () => {
  it.each([...vectors('compaction_apply')])('$name', ({ input, expected }) => {
    const messages = json(toJson(member(input, 'messages')))
    const budget = member(input, 'preserve_recent_user_tokens')
    const tokens = Number(budget instanceof NumberToken && budget.text)
    const {
      compacted,
      messages: sent,
      ...rest
    } = applyCompaction(messages, tokens, json(toJson(member(input, 'summary'))))
    expect(compacted).toBe(expected !== null)
    expect(`${sent}`).not.toContain('compaction_summary')
    if (expected !== null) expect(JSON.stringify(rest)).toBe(toJson(expected))
    const plan = planCompaction(messages, tokens)
    expect(plan.compactable).toBe(compacted)
    if (compacted) {
      expect(plan.preserved_user_turns).toBe(rest.preserved_user_turns)
      expect(plan.split_turn).toBe(rest.split_turn)
    }
  })
})

describe('a compaction', () => {
  it('tears no call from its results, and keeps calls that wait', () => {
    fc.assert(
      fc.property(transcripts, fc.nat({ max: 30 }), fc.nat({ max: 3 }), (all, tokens, dropped) => {
        const messages = slice(all.slice(0, all.length - dropped))
        const { messages: sent } = applyCompaction(messages, tokens, SUMMARY)
        expect(orphans(sent)).toEqual([])
        const last = [...elementsOf(messages)].at(-1)
        const open = last === undefined ? [] : pending(messages)
        expect(pending(sent)).toEqual(open)
      }),
      { seed: 6 },
    )
  })

  it('keeps messages as bytes, in the places it names', () => {
    fc.assert(
      fc.property(
        transcripts,
        fc.nat({ max: 30 }),
        fc.constantFrom(0, 2),
        (all, tokens, indent) => {
          const messages = json(JSON.stringify(all, null, indent))
          const given = [...elementsOf(messages)].map(String)
          const { messages: sent, transcript } = applyCompaction(messages, tokens, SUMMARY)
          const expected = transcript.map((entry) =>
            'summary' in entry
              ? JSON.stringify({ role: 'user', content: entry.summary })
              : given[entry.original_index],
          )
          expect([...elementsOf(sent)].map(String)).toEqual(expected)
          const plan = planCompaction(messages, tokens)
          expect(plan.compactable).toBe(transcript.some((entry) => 'summary' in entry))
        },
      ),
      { seed: 7 },
    )
  })

  // Differs from the reference: docs/how-to/make-room.md#where-the-tail-differs-from-the-reference.
  it('keeps parallel OpenAI results with their calls', () => {
    const last = openAiRound(
      [
        ['a', 'read'],
        ['b', 'grep'],
      ],
      'x',
    )
    const answer = apply([...openAiRound([['z', 'old']], 'y'), user('go'), ...last])
    expect(`${answer.messages}`).toBe(JSON.stringify([user('go'), SUMMARY_MESSAGE, ...last]))
    expect(apply(last).split_turn).toBe(true)
    expect(apply(last.slice(0, 2)).compacted).toBe(false)
  })

  it('keeps Anthropic results that are spread over messages with their calls', () => {
    const last = [
      { role: 'assistant', content: [use('a', 'read'), use('b', 'grep')] },
      { role: 'user', content: [result('a', 'x')] },
      { role: 'user', content: [{ type: 'text', text: 'so' }, result('b', 'y')] },
    ]
    const answer = apply([user('go'), assistant('ok'), ...last])
    expect(answer.transcript.slice(2)).toEqual([2, 3, 4].map((i) => ({ original_index: i })))
  })

  // Differs from the reference: docs/how-to/make-room.md#where-the-tail-differs-from-the-reference.
  it('reaches back to a call whose result comes late', () => {
    const late = { role: 'user', content: [result('a', 'x')] }
    const between = [
      { role: 'assistant', content: [use('a', 'read')] },
      user('wait'),
      assistant('ok'),
    ]
    expect(apply([user('go'), ...between, late]).preserved_items).toBe(4)
    expect(apply([...between, late]).transcript).toEqual([
      { original_index: 1 },
      { summary: TEXT, files_touched: [] },
    ])
  })

  it('keeps instructions in front, whatever else goes', () => {
    const system = { role: 'system', content: 'be good' }
    const developer = { role: 'developer', content: 'and quick' }
    const answer = apply([system, developer, user('one'), assistant('two'), user('three')], 0)
    expect(`${answer.messages}`).toBe(
      JSON.stringify([system, developer, user('one'), SUMMARY_MESSAGE, user('three')]),
    )
    expect(answer).toMatchObject({ replaced_items: 2, preserved_items: 3, preserved_user_turns: 1 })
    expect(apply([system, developer]).compacted).toBe(false)
    expect(apply([system, user('one')]).compacted).toBe(false)
    expect(apply([system, ...round('a', 'f', 'x')])).toMatchObject({
      split_turn: true,
      transcript: [{ original_index: 0 }, { summary: TEXT }],
    })
  })

  it('keeps instructions in the middle as it keeps the turns of a user', () => {
    const note = { role: 'system', content: 'new rule' }
    const answer = apply([user('a'), note, assistant('b'), user('c')])
    expect(
      answer.transcript.map((entry) => 'original_index' in entry && entry.original_index),
    ).toEqual([0, 1, false, 3])
  })

  it('changes nothing when there is nothing to summarize', () => {
    const source = json('[ {"role":"user","content":"\\u0041", "n":1.0} ]')
    const answer = applyCompaction(source, 0, SUMMARY)
    expect(answer.messages).toBe(source)
    expect(answer).toMatchObject({
      compacted: false,
      transcript: [{ original_index: 0 }],
      replaced_items: 0,
      preserved_items: 1,
      split_turn: false,
      summary_preview: null,
    })
    expect(answer.approx_tokens_after).toBe(answer.approx_tokens_before)
  })

  it('knows its own summary again, and carries its files on', () => {
    const read = { role: 'assistant', content: [use('a', 'read', { file_path: 'src/a.ts' })] }
    const first = apply([
      user('go'),
      read,
      { role: 'user', content: [result('a', 'x')] },
      assistant('ok'),
      user('more'),
    ])
    const list = [...elementsOf(first.messages)]
    expect(first.transcript[1]).toMatchObject({ files_touched: ['src/a.ts'] })
    const again = json(
      `[${list.join(',')},${JSON.stringify(assistant('fine'))},${JSON.stringify(user('last'))}]`,
    )
    const second = applyCompaction(again, MANY_TOKENS, SUMMARY)
    expect(second.transcript).toEqual([
      { original_index: 0 },
      { original_index: 2 },
      { summary: `${TEXT}\nFiles touched:\n- src/a.ts`, files_touched: ['src/a.ts'] },
      { original_index: 4 },
    ])
  })

  it('lists the files of what is summarized, not of the tail; of too many the newest', () => {
    const files = Array.from({ length: 200 }, (_, index) => `src/${index}.ts`)
    const old = { goal: 'old', progress: 'older', files_touched: files }
    const reads = (id: string, path: string) => [
      { role: 'assistant', content: [use(id, 'read', { path })] },
      { role: 'user', content: [result(id, 'x')] },
    ]
    const { transcript } = apply([
      { role: 'user', content: [], compaction_summary: old },
      ...reads('a', 'new.ts'),
      ...reads('b', 'kept.ts'),
    ])
    const listed = transcript.flatMap((entry) => ('summary' in entry ? entry.files_touched : []))
    expect(listed).toEqual([...files.slice(1), 'new.ts'])
  })

  it('sends no member of its own, and what that member says when there is no other content', () => {
    const summary = { goal: 'old', progress: 'older' }
    const old = '[Compaction summary]\nGoal: old\nProgress: older'
    const source = json(
      `[{"n":1.0 , "role":"user","content":[], "compaction_summary":${JSON.stringify(summary)}},` +
        '{"compaction_summary":null,"role":"assistant","content":"a"}]',
    )
    const { compacted, messages } = applyCompaction(source, 0, SUMMARY)
    expect(compacted).toBe(true)
    expect(`${messages}`).toBe(
      `[${JSON.stringify(SUMMARY_MESSAGE)},{"role":"assistant","content":"a"}]`,
    )
    const [only] = elementsOf(source)
    const alone = applyCompaction(json(`[${only}]`), 0, SUMMARY)
    expect(`${alone.messages}`).toBe(`[{"n":1.0,"role":"user","content":${JSON.stringify(old)}}]`)
    const said = { role: 'user', content: 'said', compaction_summary: summary }
    expect(`${apply([said]).messages}`).toBe('[{"role":"user","content":"said"}]')
    expect(apply([said]).approx_tokens_before).toBe(approxTokens('said'))
    const rule = { role: 'system', content: 'rule' }
    const empty = { role: 'system', content: [], compaction_summary: null }
    expect(`${apply([rule, empty]).messages}`).toBe(
      JSON.stringify([rule, { role: 'system', content: [] }]),
    )
  })

  it('takes the answer of a model as text, as a JSON string or as the object', () => {
    const messages = slice([user('a'), assistant('b'), user('c')])
    const texts = [SUMMARY, slice(SUMMARY), slice(JSON.parse(SUMMARY))].map((summary) =>
      applyCompaction(messages, MANY_TOKENS, summary),
    )
    for (const answer of texts) expect(answer.summary_preview).toBe(TEXT)
    const refused = () => applyCompaction(messages, MANY_TOKENS, slice({ goal: 1 }))
    expect(refused).toThrow(CoatcheckError)
    expect(refused).toThrow('summary is neither text nor an object')
    expect(refused).toThrowError(expect.objectContaining({ code: 'invalid_request' }))
  })

  it('composes well-formed text out of anything', () => {
    const answer = apply([user('a'), assistant('b'), user('c')], 0, '\ud800 {"goal"')
    expect(answer.summary_preview?.isWellFormed()).toBe(true)
  })
})
