import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { encodeInside, insideBytes } from '../../../src/core/json/text-token.ts'
import { holds } from '../../support/json.ts'

describe('a text inside its token', () => {
  it('is as the platform encodes it, piece by piece, and as long as it is said to be', () => {
    const unit = fc.constantFrom(
      'a',
      '"',
      '\\',
      '/',
      '\0',
      '\b',
      '\v',
      '\n',
      '\x1f',
      '\x7f',
      'é',
      '\u2028',
      '😀',
    )
    holds(
      fc.property(fc.array(fc.string({ unit, maxLength: 40 })), (pieces) => {
        const buffers = pieces.map((piece) => Buffer.from(piece))
        const encoded = Buffer.concat(buffers.map(encodeInside))
        expect(`"${encoded.toString()}"`).toBe(JSON.stringify(pieces.join('')))
        expect(buffers.reduce((bytes, piece) => bytes + insideBytes(piece), 0)).toBe(encoded.length)
      }),
    )
  })
})
