// Where zstd frames end, for streams that Node's encoder writes, in pieces of any size.
import { constants, createZstdCompress, zstdCompressSync } from 'node:zlib'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { FrameError, ZstdFrames } from '../../../src/http/body/zstd-frames.ts'

const LIMITS = { maxFrames: 100, maxWindowBytes: 8_388_608 }
const SKIPPABLE = Buffer.from('5a2a4d1804000000ffffffff', 'hex')

/** The frames of `stream`, put together again from what comes of it in pieces of `pieceBytes`. */
function framesOf(stream: Buffer, pieceBytes: number): readonly Buffer[] {
  const frames = new ZstdFrames(LIMITS)
  const ends = new Set<number>()
  let at = 0
  for (let from = 0; from < stream.length; from += pieceBytes) {
    for (const slice of frames.split(stream.subarray(from, from + pieceBytes))) {
      at += slice.length
      // an end of a piece is no end of a frame
      if (at % pieceBytes !== 0 || isWhole(stream.subarray(0, at))) ends.add(at)
    }
  }
  frames.end()
  const starts = [0, ...ends].slice(0, -1)
  return starts.map((start, n) => stream.subarray(start, [...ends][n]))
}

function isWhole(stream: Buffer): boolean {
  const frames = new ZstdFrames(LIMITS)
  for (const _ of frames.split(stream));
  try {
    frames.end()
    return true
  } catch {
    return false
  }
}

async function streamed(text: Buffer, windowLog = 19): Promise<Buffer> {
  const params = { [constants.ZSTD_c_checksumFlag]: 1, [constants.ZSTD_c_windowLog]: windowLog }
  const encoder = createZstdCompress({ params })
  encoder.write(text)
  encoder.end()
  const pieces: Buffer[] = []
  for await (const piece of encoder) pieces.push(piece as Buffer)
  return Buffer.concat(pieces)
}

const kindOf = (stream: Buffer, limits = LIMITS): string => {
  const frames = new ZstdFrames(limits)
  try {
    for (const _ of frames.split(stream));
    frames.end()
    return 'none'
  } catch (error) {
    return error instanceof FrameError ? error.kind : String(error)
  }
}

describe('the frames of a zstd stream', () => {
  it('end where the encoder ended them, however the stream is cut', async () => {
    const sizes = [0, 1, 255, 256, 300, 65_792, 200_000]
    const plain = sizes.map((size) => zstdCompressSync(Buffer.alloc(size, 'ab\n')))
    const noise = zstdCompressSync(
      Buffer.from(Array.from({ length: 999 }, (_, n) => (n * n) % 251)),
    )
    const all = [...plain, noise, SKIPPABLE, await streamed(Buffer.alloc(300_000, 'xyz'))]
    await fc.assert(
      fc.property(
        fc.array(fc.constantFrom(...all), { minLength: 1, maxLength: 6 }),
        fc.integer({ min: 1, max: 400 }),
        (frames, pieceBytes) => {
          expect(framesOf(Buffer.concat(frames), pieceBytes)).toEqual(frames)
        },
      ),
    )
  })

  it('tell their largest window, or their content where they are in one segment', async () => {
    const windowed = await streamed(Buffer.alloc(300_000), 20)
    const frames = new ZstdFrames(LIMITS)
    for (const _ of frames.split(windowed));
    expect(frames.windowBytes).toBe(2 ** 20)
    const single = new ZstdFrames(LIMITS)
    for (const _ of single.split(zstdCompressSync(Buffer.alloc(5_000))));
    expect(single.windowBytes).toBe(5_000)
  })

  it('are refused by what is wrong with them', () => {
    const frame = zstdCompressSync('x')
    expect(kindOf(Buffer.concat([frame, frame]))).toBe('none')
    expect(kindOf(Buffer.concat([frame, frame]), { ...LIMITS, maxFrames: 1 })).toBe('frames')
    expect(kindOf(frame, { ...LIMITS, maxWindowBytes: 0 })).toBe('window')
    expect(kindOf(Buffer.alloc(0))).toBe('truncated')
    expect(kindOf(frame.subarray(0, -1))).toBe('truncated')
    expect(kindOf(frame.subarray(0, 3))).toBe('truncated')
    expect(kindOf(Buffer.concat([frame, Buffer.from('tail')]))).toBe('no_zstd')
  })
})
