import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { JsonSlice } from '../../../src/core/json/slice.ts'
import { headBytes, tailBytes } from '../../../src/core/json/string-ends.ts'
import { holds, shifted } from '../../support/json.ts'

/** What the far end of an excerpt may have of a torn code point, shown as U+FFFD. */
const TORN_BYTES = 3
/** Enough of the code point next to the asked part to see where it begins or ends. */
const NEXT_BYTES = 3
/** No escape stands for less than a sixth of its bytes. */
const SOURCE_PER_TEXT = 6

const unit = fc.constantFrom('a', 'é', '€', '😀', '\\n', '\\\\', '\\"', '\\u0041', '\\u20ac')
const pair = fc.constant('\\ud83d\\ude00')
const insides = fc
  .array(fc.oneof(unit, pair, fc.constant('\\\\'.repeat(9)), fc.constant('\\udc00')), {
    maxLength: 60,
  })
  .map((parts) => parts.join(''))

const tokenOf = (inside: string, shift: number): JsonSlice => {
  const source = Buffer.from(`"${inside}"`)
  return new JsonSlice(shifted(source, shift), 0, source.length)
}
const textOf = (inside: string): Buffer =>
  Buffer.from((JSON.parse(`"${inside}"`) as string).toWellFormed())
const lastOf = (bytes: Buffer, count: number): Buffer =>
  bytes.subarray(Math.max(0, bytes.length - count))

describe('the start of a string token', () => {
  it('is the start of its text: all of it, or what was asked for and the code point next to it', () => {
    holds(
      fc.property(insides, fc.nat({ max: 40 }), fc.nat({ max: 5 }), (inside, asked, shift) => {
        const text = textOf(inside)
        const head = headBytes(tokenOf(inside, shift), asked)
        const sound = head.equals(text) ? text.length : head.length - TORN_BYTES
        expect(head.subarray(0, sound)).toEqual(text.subarray(0, sound))
        const sure = asked + NEXT_BYTES
        expect(head.subarray(0, sure)).toEqual(text.subarray(0, sure))
        if (!head.equals(text)) expect(head.length).toBeGreaterThan(asked)
      }),
      800,
    )
  })

  it('of a long text is short', () => {
    for (const part of ['a', '€', '\\n', '\\u0041']) {
      const head = headBytes(tokenOf(part.repeat(10_000), 0), 10)
      expect(head.length).toBeLessThan(20 * SOURCE_PER_TEXT)
    }
  })
})

describe('the end of a string token', () => {
  it('is the end of its text: all of it, or what was asked for and the code point next to it', () => {
    holds(
      fc.property(insides, fc.nat({ max: 40 }), fc.nat({ max: 5 }), (inside, asked, shift) => {
        const text = textOf(inside)
        const tail = tailBytes(tokenOf(inside, shift), asked)
        const sure = asked + NEXT_BYTES
        expect(lastOf(tail, sure)).toEqual(lastOf(text, sure))
        if (!tail.equals(text)) expect(tail.length).toBeGreaterThan(asked)
      }),
      800,
    )
  })

  it('of a long text is short', () => {
    for (const part of ['a', '€', '\\n', '\\u0041']) {
      const tail = tailBytes(tokenOf(part.repeat(10_000), 0), 10)
      expect(tail.length).toBeLessThan(20 * SOURCE_PER_TEXT)
    }
  })

  it('begins at no second byte of an escape, whatever is asked for', () => {
    for (let asked = 0; asked < 12; asked++) {
      for (const [inside, char] of [
        ['\\\\'.repeat(100), '\\'],
        ['\\"'.repeat(100), '"'],
      ] as const) {
        const tail = tailBytes(tokenOf(inside, 0), asked).toString()
        expect(tail).toBe(char.repeat(tail.length))
      }
    }
  })

  it('takes an escape whole or not at all, wherever it stands', () => {
    for (const piece of ['\\\\', '\\"', '\\\\\\\\', '\\\\\\n']) {
      for (let after = 0; after < 60; after++) {
        const inside = `${'b'.repeat(50)}${piece}${'a'.repeat(after)}`
        const tail = tailBytes(tokenOf(inside, 0), 2)
        expect(textOf(inside).toString().endsWith(tail.toString())).toBe(true)
      }
    }
  })
})
