import { describe, expect, it } from 'vitest'
import {
  filesOfRendered,
  isRenderedSummary,
  parseSummary,
  readSummary,
  renderSummary,
} from '../../../src/core/compaction/summary.ts'
import { member, text, toJson, vectors } from '../../vectors.ts'
import { slice } from './transcripts.ts'

describe('vectors of compaction_summary_text', () => {
  it.each([...vectors('compaction_summary_text')])('$name', ({ input, expected }) => {
    const summary = parseSummary(text(member(input, 'text')))
    expect(JSON.stringify(summary)).toBe(toJson(member(expected, 'summary')))
    expect(renderSummary(summary)).toBe(member(expected, 'rendered'))
  })
})

describe('a summary', () => {
  it.each(['```json\n{"goal":"g","progress":"p"}\n```', '["g","p"]', 'plain', '{"goal":"g"', '7'])(
    'of %j is that text as the progress',
    (answer) => {
      const { goal, progress, next_steps } = parseSummary(answer)
      expect([goal, progress, next_steps.length]).toEqual(['', answer, 1])
    },
  )

  it('is well-formed text', () => {
    expect(parseSummary('\ud800').progress).toBe('\ufffd')
    expect(parseSummary('{"goal":"\\ud800","progress":""}').goal).toBe('\ufffd')
  })

  it('may have a text that no parser takes', () => {
    expect(parseSummary('['.repeat(5_000)).progress.length).toBe(5_000)
  })

  it('is no other JSON', () => {
    expect(readSummary(slice([]))).toBeUndefined()
    expect(readSummary(slice({ goal: 'g', progress: 1 }))).toBeUndefined()
    expect(readSummary(slice({ goal: 'g' }))).toBeUndefined()
    for (const artifacts of ['a', { k: 'v' }, 7, null, [7]]) {
      expect(readSummary(slice({ goal: 'g', progress: 'p', artifacts }))).toBeUndefined()
    }
  })

  it('has all its lists, in the order in which they are rendered', () => {
    const lists = {
      decisions: ['d'],
      constraints: ['c'],
      delegated_work: ['w'],
      artifacts: ['a'],
      open_questions: ['q'],
      next_steps: ['n'],
      files_touched: ['f'],
    }
    const summary = parseSummary(JSON.stringify({ goal: 'g', progress: 'p', ...lists }))
    expect(summary).toEqual({ goal: 'g', progress: 'p', ...lists })
    expect(renderSummary(summary).match(/^- ./gm)?.join('')).toBe('- d- c- w- a- q- n- f')
    expect(filesOfRendered(renderSummary(summary))).toEqual(['f'])
  })

  it('is known again by its text, with its files', () => {
    const summary = parseSummary('{"goal":"g","progress":"p","files_touched":["a/b.ts","c d.md"]}')
    const rendered = renderSummary(summary)
    expect(isRenderedSummary(rendered)).toBe(true)
    expect(filesOfRendered(rendered)).toEqual(['a/b.ts', 'c d.md'])
    expect(filesOfRendered(`${rendered}\n\nand what a user added`)).toEqual(['a/b.ts', 'c d.md'])
    expect(filesOfRendered(renderSummary(parseSummary('x')))).toEqual([])
    expect(isRenderedSummary('see [Compaction summary]\nGoal: ')).toBe(false)
  })

  it('renders long lists', () => {
    const summary = { ...parseSummary(''), decisions: Array<string>(200_000).fill('d') }
    expect(renderSummary(summary).length).toBeGreaterThan(800_000)
  })
})
