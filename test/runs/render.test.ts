import { describe, expect, it } from 'vitest'
import { sliceOf } from '../../src/core/json/splice.ts'
import { describeSource } from '../../src/runs/describe.ts'
import { partsInMemory } from '../../src/runs/parts.ts'
import { planContent, type Renderable } from '../../src/runs/render.ts'

const LIMITS = { maxVerbatimChars: 1_000_000 }

/** What was described, and how often it was read. */
async function renderable(
  json: string,
): Promise<{ readonly result: Renderable; readonly reads: string[] }> {
  const { json: slice, ...described } = await describeSource({ output: sliceOf(JSON.parse(json)) })
  const { value, plan, view } = described
  const readPart = partsInMemory(value, plan, view)
  const reads: string[] = []
  const result: Renderable = {
    ...described,
    toolName: null,
    totalChars: plan.view.chars,
    totalLines: plan.view.lines,
    verbatimLimitChars: 2000,
    readWhole: async () => {
      reads.push('whole')
      return { value, json: slice }
    },
    readPart: async (seek) => {
      reads.push(JSON.stringify(seek))
      return readPart(seek)
    },
  }
  return { result, reads }
}

describe('a window that is asked for', () => {
  it('is given of the indented text', async () => {
    const { result } = await renderable('[[1],[2]]')
    expect(await planContent(result, 'window', LIMITS)).toEqual({
      rendering: 'verbatim',
      text: '[\n  [\n    1\n  ],\n  [\n    2\n  ]\n]',
    })
  })

  it('reads the parts that it shows, of however long a text', async () => {
    const { result, reads } = await renderable(JSON.stringify(Array(300_000).fill('a word or two')))
    const plan = await planContent(result, 'window', LIMITS)
    expect(plan).toMatchObject({ window: { omitted: { start_line: 44, end_line: 299_938 } } })
    expect(reads).toHaveLength(2)
    expect(reads).not.toContain('whole')
  })
})

describe('a preview', () => {
  it('reads nothing of the value', async () => {
    const { result, reads } = await renderable('[[1],[2]]')
    expect(await planContent(result, 'preview', LIMITS)).toEqual({ rendering: 'preview' })
    expect(reads).toEqual([])
  })
})
