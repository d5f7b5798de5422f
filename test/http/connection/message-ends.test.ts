// Where messages are cut: after each empty line of what has no length, and after a body that has one, however the bytes arrive.
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { MessageEnds } from '../../../src/http/connection/message-ends.ts'

/** Where `stream` is cut when it comes in pieces of `pieceBytes`, ends of pieces left out. */
function cutsOf(stream: Buffer, pieceBytes: number, ends = new MessageEnds()): readonly number[] {
  const cuts: number[] = []
  for (let from = 0; from < stream.length; from += pieceBytes) {
    const piece = stream.subarray(from, from + pieceBytes)
    for (let at = 0; at < piece.length; ) {
      at = ends.next(piece, at)
      if (at < piece.length) cuts.push(from + at)
    }
  }
  return cuts
}

describe('the ends of messages', () => {
  it('are after each empty line, in pieces of any size', () => {
    const bytes = fc.array(fc.constantFrom('\r', '\n', '\r\n', '\r\n\r\n', 'a'), { maxLength: 40 })
    fc.assert(
      fc.property(bytes, fc.integer({ min: 1, max: 20 }), (parts, pieceBytes) => {
        const text = parts.join('')
        const found = [...text.matchAll(/\r\n\r\n/g)].map(({ index }) => index + 4)
        const inside = found.filter((end) => end % pieceBytes !== 0 && end < text.length)
        expect(cutsOf(Buffer.from(text), pieceBytes)).toEqual(inside)
      }),
    )
  })

  it('are after as many bytes as a body is said to have, whatever is in it', () => {
    const ends = new MessageEnds()
    const stream = Buffer.from('POST\r\n\r\nab\r\n\r\ncdGET\r\n\r\n')
    expect(ends.next(stream, 0)).toBe(8)
    ends.bodyFollows(8)
    expect(ends.next(stream.subarray(0, 10), 8)).toBe(10)
    expect(ends.next(stream, 10)).toBe(16)
    expect(ends.next(stream, 16)).toBe(23)
  })
})
