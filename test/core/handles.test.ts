import { describe, expect, it } from 'vitest'
import { escapeId, handleNumber, handleOf, recallHandleNumber } from '../../src/core/handles.ts'

describe('handles', () => {
  it('are numbered from 1', () => {
    expect(handleOf(3)).toBe('r3')
    expect(handleNumber('r3')).toBe(3)
    expect(handleNumber('r9007199254740991')).toBe(Number.MAX_SAFE_INTEGER)
  })

  it.each([
    '',
    'r',
    'r0',
    'r01',
    'R1',
    'r1.0',
    'r+1',
    ' r1',
    'r1\n',
    '1',
    'r9007199254740992',
    'r1e3',
  ])('%j is none', (text) => {
    expect(handleNumber(text)).toBeUndefined()
    expect(recallHandleNumber(text)).toBeUndefined()
  })

  it('are recalled with or without their dollar', () => {
    expect(recallHandleNumber('r12')).toBe(12)
    expect(recallHandleNumber('$r12')).toBe(12)
    expect(recallHandleNumber('$r3')).toBe(3)
    expect(recallHandleNumber('$r120')).toBe(120)
    expect(recallHandleNumber('$$r12')).toBeUndefined()
    expect(handleNumber('$r12')).toBeUndefined()
  })
})

describe('an id in a note', () => {
  it('stands inside the quotes of a JSON string', () => {
    for (const id of ['call-1', 'a"b\\c', 'line\nend', '\u2028é😀', '\u0000']) {
      expect(JSON.parse(`"${escapeId(id)}"`)).toBe(id)
      expect(escapeId(id)).not.toContain('\n')
    }
  })
})
