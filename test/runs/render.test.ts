import { describe, expect, it } from 'vitest'
import { sliceOf } from '../../src/core/json/splice.ts'
import { planContent, type Renderable } from '../../src/runs/render.ts'
import { describeSource } from '../../src/runs/value.ts'

const LIMITS = { maxVerbatimChars: 1_000_000 }
const MEBIBYTE = 1024 * 1024

function renderable(changes: Partial<Renderable> = {}): Renderable {
  const value = describeSource({ output: sliceOf([[1], [2]]) })
  const { chars: totalChars, bytes: viewBytes } = value.plan.view
  return { ...value, toolName: null, totalChars, viewBytes, verbatimLimitChars: 2000, ...changes }
}

describe('a window that is asked for', () => {
  it('is given of the indented text', () => {
    const plan = planContent(renderable(), 'window', LIMITS)
    expect(plan).toEqual({ rendering: 'verbatim', text: '[\n  [\n    1\n  ],\n  [\n    2\n  ]\n]' })
  })

  it('is a preview where the indented text is far larger than the value', () => {
    const plan = planContent(renderable({ viewBytes: 256 * MEBIBYTE + 1 }), 'window', LIMITS)
    expect(plan).toEqual({ rendering: 'preview' })
  })
})
