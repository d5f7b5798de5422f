import { describe, expect, it } from 'vitest'
import { bothEnds, joinBothEnds } from '../../../src/core/compaction/excerpt.ts'

describe('both ends of a text', () => {
  it('are the whole text while it has no more characters than asked for', () => {
    expect(bothEnds('é😀é😀é', 5)).toBe('é😀é😀é')
  })

  it('are two fifths from its start and three from its end, around how many characters are gone', () => {
    expect(bothEnds('0123456789abcdef', 10)).toBe('0123\n[… 6 characters left out …]\nabcdef')
    expect(bothEnds('😀'.repeat(5), 4)).toBe('😀\n[… 1 characters left out …]\n😀😀😀')
  })
})

describe('both ends of a list', () => {
  const range = { start: 0, end: 9 }

  it('are all of it when it fits exactly, room for the note apart', () => {
    const part = (index: number): string => `${index}`.repeat(98)
    const whole = Array.from({ length: 9 }, (_, index) => part(index)).join('\n\n')
    expect(joinBothEnds(range, part, 900 + 200)).toBe(whole)
    expect(joinBothEnds(range, part, 900 + 199)).toContain('left out here')
  })
})
