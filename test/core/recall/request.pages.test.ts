import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  continuation,
  continuationChars,
  cutPage,
  type PageLimit,
  type RecallPage,
} from '../../../src/core/recall/page.ts'
import { type Asked, boundRecall, type ViewSize } from '../../../src/core/recall/request.ts'
import { docs, gaps, holds, indented, spaced, stringInside, texts } from '../../support/json.ts'
import { type Kept, keep, partsFrom } from '../../support/rendered.ts'

const ID = 'call-1'

const sizeOf = ({ plan }: Kept): ViewSize => ({
  totalLines: plan.view.lines,
  totalChars: plan.view.chars,
})

/** A page, read on chunk by chunk until it can be cut. */
function pageOf(kept: Kept, asked: Asked, limit: PageLimit): RecallPage {
  const seek = asked.unit === 'lines' ? { line: asked.start } : { char: asked.start }
  for (const part of partsFrom(kept, seek)) {
    const page = cutPage(part, asked, limit)
    if (page !== undefined) return page
  }
  throw new Error('the view ended before the page')
}

/** The char after a line of the view, its line end included. */
function charAfterLine(view: string, lineNumber: number): number {
  const lines = view.split('\n').slice(0, lineNumber)
  return Math.min([...view].length, [...lines.join('\n')].length + 1)
}

/** All pages of what is asked, by following `next`. */
function follow(kept: Kept, view: string, asked: Asked, limit: PageLimit): RecallPage[] {
  const pages: RecallPage[] = []
  let now: Asked | null = asked
  while (now !== null) {
    const page: RecallPage = pageOf(kept, now, limit)
    pages.push(page)
    const { next } = page
    now = next && { ...next, end: next.end ?? charAfterLine(view, now.end) }
    if (now !== null) expect(page.content).not.toBe('')
  }
  return pages
}

/** What a page says of itself must be what stands in the view. */
function checkPage(view: string, page: RecallPage): void {
  const points = [...view]
  expect(page.content).toBe(points.slice(page.chars.start, page.chars.end).join(''))
  if (page.content === '') {
    expect(page.lines).toBeNull()
    return
  }
  const lineAt = (char: number): number =>
    points.slice(0, char).filter((p) => p === '\n').length + 1
  expect(page.lines).toEqual({
    start: lineAt(page.chars.start),
    end: lineAt(page.chars.end - 1),
  })
}

/** A page and its note together are within the limit. */
function checkLength(
  page: RecallPage,
  size: ViewSize,
  view: string,
  asked: Asked,
  limit: number,
): void {
  const chars = [...page.content].length
  expect(chars).toBeLessThanOrEqual(limit)
  if (page.next === null || page.lines === null) return
  const { unit, start, end } = page.next
  const span = { start, end: end ?? charAfterLine(view, asked.end) }
  const call = unit === 'lines' ? { id: ID, range: span } : { id: ID, chars: span }
  const note = continuation(page.lines, size.totalLines, call)
  const newline = page.content.endsWith('\n') ? 0 : 1
  expect(chars + newline + [...note].length).toBeLessThanOrEqual(limit)
}

interface Sample {
  readonly kept: Kept
  readonly view: string
}

const sizes = fc.record({
  chunkBytes: fc.integer({ min: 1, max: 50 }),
  chunkViewBytes: fc.integer({ min: 1, max: 50 }),
})
const views = fc.oneof(
  texts,
  texts.map((text) => text.replaceAll('\n', '')),
  texts.map((text) => `${text}${'x😀'.repeat(200)}\n${text}`),
  texts.map((text) => '\r\n'.repeat(20) + text + '\n'.repeat(30)),
)
const textSamples: fc.Arbitrary<Sample> = fc.tuple(views, sizes).map(([view, small]) => {
  const value = Buffer.from(view)
  return { kept: keep(value, { form: 'text', start: 0, end: value.length }, small), view }
})
const jsonSamples: fc.Arbitrary<Sample> = fc
  .tuple(docs(), gaps, sizes)
  .map(([doc, between, small]) => {
    const value = Buffer.from(spaced(doc, between))
    const kept = keep(value, { form: 'json', start: 0, end: value.length }, small)
    return { kept, view: indented(doc) }
  })
const stringSamples: fc.Arbitrary<Sample> = fc
  .tuple(fc.array(stringInside, { maxLength: 8 }), sizes)
  .map(([parts, small]) => {
    const inside = parts.join('\\n')
    const value = Buffer.from(`{"message":"${inside}","attempts":[]}`)
    const end = 12 + Buffer.byteLength(inside)
    const view = (JSON.parse(`"${inside}"`) as string).toWellFormed()
    return { kept: keep(value, { form: 'string', start: 12, end }, small), view }
  })
const room = fc.integer({ min: 1, max: 80 })

function limitFor(kept: Kept, chars: number): PageLimit {
  const noteChars = continuationChars(ID, sizeOf(kept))
  return { maxChars: noteChars + chars, noteChars }
}

const whole = (kept: Kept): Asked =>
  boundRecall({ id: ID, unit: 'lines', start: null, end: null, ignored: [] }, sizeOf(kept))

/** Two numbers of `[first, last]`, in order. */
const between = (a: number, b: number, first: number, last: number): [number, number] => {
  const [x, y] = [a, b].map((n) => first + (n % (last - first + 1))) as [number, number]
  return x <= y ? [x, y] : [y, x]
}

describe('following next', () => {
  it('gives the whole view, byte for byte, in pages within the limit', () => {
    holds(
      fc.property(textSamples, room, ({ kept, view }, chars) => {
        const limit = limitFor(kept, chars)
        const pages = follow(kept, view, whole(kept), limit)
        expect(pages.map(({ content }) => content).join('')).toBe(view)
        for (const page of pages) {
          checkPage(view, page)
          checkLength(page, sizeOf(kept), view, whole(kept), limit.maxChars)
        }
      }),
      500,
    )
  })

  it('does so for decoded strings and indented documents', () => {
    holds(
      fc.property(fc.oneof(jsonSamples, stringSamples), room, ({ kept, view }, chars) => {
        const pages = follow(kept, view, whole(kept), limitFor(kept, chars))
        expect(pages.map(({ content }) => content).join('')).toBe(view)
        for (const page of pages) checkPage(view, page)
      }),
      500,
    )
  })

  it('gives the lines that were asked for, line ends included', () => {
    holds(
      fc.property(textSamples, room, fc.nat(), fc.nat(), ({ kept, view }, chars, a, b) => {
        if (kept.plan.view.lines === 0) return
        const [start, end] = between(a, b, 1, kept.plan.view.lines)
        const limit = limitFor(kept, chars)
        const asked: Asked = { unit: 'lines', start, end }
        const pages = follow(kept, view, asked, limit)
        const from = start === 1 ? 0 : charAfterLine(view, start - 1)
        const lines = [...view].slice(from, charAfterLine(view, end)).join('')
        expect(pages.map(({ content }) => content).join('')).toBe(lines)
        for (const page of pages) {
          checkPage(view, page)
          checkLength(page, sizeOf(kept), view, asked, limit.maxChars)
        }
      }),
      500,
    )
  })

  it('gives the chars that were asked for', () => {
    holds(
      fc.property(textSamples, room, fc.nat(), fc.nat(), ({ kept, view }, chars, a, b) => {
        const [start, end] = between(a, b, 0, kept.plan.view.chars)
        if (start === end) return
        const limit = limitFor(kept, chars)
        const asked: Asked = { unit: 'chars', start, end }
        const pages = follow(kept, view, asked, limit)
        expect(pages.map(({ content }) => content).join('')).toBe(
          [...view].slice(start, end).join(''),
        )
        for (const page of pages) {
          checkPage(view, page)
          checkLength(page, sizeOf(kept), view, asked, limit.maxChars)
        }
      }),
      500,
    )
  })
})

describe('a page', () => {
  const keepText = (text: string): Kept => {
    const value = Buffer.from(text)
    return keep(value, { form: 'text', start: 0, end: value.length })
  }
  const lines = (start: number, end: number): Asked => ({ unit: 'lines', start, end })

  it('that just fits takes the room of the note and is whole', () => {
    const kept = keepText('ab\ncd\nef\n')
    expect(pageOf(kept, lines(1, 3), { maxChars: 9, noteChars: 5 })).toEqual({
      content: 'ab\ncd\nef\n',
      lines: { start: 1, end: 3 },
      chars: { start: 0, end: 9 },
      next: null,
    })
  })

  it('that does not fit ends after a whole line', () => {
    const kept = keepText('ab\ncd\nef\n')
    expect(pageOf(kept, lines(1, 3), { maxChars: 8, noteChars: 2 })).toEqual({
      content: 'ab\ncd\n',
      lines: { start: 1, end: 2 },
      chars: { start: 0, end: 6 },
      next: { unit: 'lines', start: 3, end: 3 },
    })
    expect(
      pageOf(kept, { unit: 'chars', start: 1, end: 9 }, { maxChars: 7, noteChars: 2 }),
    ).toEqual({
      content: 'b\ncd\n',
      lines: { start: 1, end: 2 },
      chars: { start: 1, end: 6 },
      next: { unit: 'chars', start: 6, end: 9 },
    })
  })

  it('of a line that does not fit is cut at a code point and goes on by chars', () => {
    const kept = keepText('a\n😀😀😀😀\nb')
    expect(pageOf(kept, lines(2, 3), { maxChars: 4, noteChars: 1 })).toEqual({
      content: '😀😀😀',
      lines: { start: 2, end: 2 },
      chars: { start: 2, end: 5 },
      next: { unit: 'chars', start: 5, end: null },
    })
  })

  it('of an empty view is empty and the only one', () => {
    const kept = keepText('')
    expect(pageOf(kept, whole(kept), { maxChars: 10, noteChars: 5 })).toEqual({
      content: '',
      lines: null,
      chars: { start: 0, end: 0 },
      next: null,
    })
  })

  it('waits for more of the view only as long as it needs it', () => {
    const part = { bytes: Buffer.from('ab\ncd\nef'), firstLine: 0, firstChar: 0, last: false }
    const limit = { maxChars: 6, noteChars: 2 }
    expect(cutPage(part, lines(1, 9), limit)?.content).toBe('ab\n')
    expect(cutPage(part, lines(1, 2), limit)?.content).toBe('ab\ncd\n')
    expect(cutPage(part, lines(3, 3), limit)).toBeUndefined()
    expect(cutPage(part, lines(4, 4), limit)).toBeUndefined()
    expect(cutPage(part, { unit: 'chars', start: 6, end: 8 }, limit)?.content).toBe('ef')
    expect(cutPage(part, { unit: 'chars', start: 6, end: 9 }, limit)).toBeUndefined()
    expect(cutPage(part, { unit: 'chars', start: 8, end: 9 }, limit)).toBeUndefined()
    expect(cutPage({ ...part, last: true }, lines(3, 3), limit)?.content).toBe('ef')
  })
})

describe('the room that a note needs', () => {
  it('is that of the largest numbers in it, and of a line end', () => {
    const note =
      '[lines 120–120 of 120; recall {"id": "a\\"b", "range": {"start": 5000, "end": 5000}} continues]'
    expect(continuationChars('a"b', { totalLines: 120, totalChars: 5_000 })).toBe(note.length + 1)
  })
})
