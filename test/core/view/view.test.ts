import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { INDENT_START, packState, unpackState } from '../../../src/core/json/indent.ts'
import {
  cutText,
  planValue,
  renderView,
  type ViewForm,
  type ViewSource,
} from '../../../src/core/view/view.ts'
import {
  compact,
  docs,
  gaps,
  holds,
  indented,
  linesOf,
  nested,
  spaced,
  stringInside,
  texts,
} from '../../support/json.ts'
import { keep, viewsOf } from '../../support/rendered.ts'

/** A value, which of its bytes are viewed, and the view they must have. */
interface Sample {
  readonly value: Buffer
  readonly source: ViewSource
  readonly view: string
}

/** `inside` is what is viewed, with bytes before and after it. */
function sample(
  form: ViewForm,
  [before, inside, after]: [string, string, string],
  view: string,
): Sample {
  const start = Buffer.byteLength(before)
  return {
    value: Buffer.from(before + inside + after),
    source: { form, start, end: start + Buffer.byteLength(inside) },
    view,
  }
}

const decoded = (inside: string): string => (JSON.parse(`"${inside}"`) as string).toWellFormed()

const textSamples = fc
  .tuple(fc.constantFrom('', '€', '{"message":'), texts, fc.constantFrom('', ',"é":1}'))
  .map((parts) => sample('text', parts, parts[1]))
const stringSamples = fc
  .tuple(
    fc.constantFrom('"', '{"message":"', `{"kind":"${'é'.repeat(30)}","message":"`),
    fc.array(stringInside, { maxLength: 6 }).map((parts) => parts.join('')),
    fc.constantFrom('"', '","attempts":[1,"é"]}', `"${' '.repeat(40)}}`),
  )
  .map((parts) => sample('string', parts, decoded(parts[1])))
const jsonSamples = fc
  .tuple(docs(), gaps, fc.constantFrom(0, 0, 1, 7, 40))
  .map(([doc, between, levels]) => {
    const outer = nested(doc, levels)
    return sample('json', ['', spaced(outer, between), ''], indented(outer))
  })
const samples = fc.oneof(textSamples, stringSamples, jsonSamples)
const sizes = fc.record({
  chunkBytes: fc.integer({ min: 1, max: 40 }),
  chunkViewBytes: fc.integer({ min: 1, max: 60 }),
})

const PIECES: Readonly<Record<ViewForm, RegExp>> = {
  none: /./gsu,
  text: /\r\n|./gsu,
  string: /\\u[dD][89abAB]..\\u[dD][c-fC-F]..|\\u.{4}|\\.|./gsu,
  json: /\\u.{4}|\\.|./gsu,
}

/** Where the viewed bytes may be cut. */
function placesToCut(value: Buffer, { form, start, end }: ViewSource): ReadonlySet<number> {
  const places = new Set<number>()
  let pos = start
  for (const [piece] of value.toString('utf8', start, end).matchAll(PIECES[form])) {
    pos += Buffer.byteLength(piece)
    places.add(pos)
  }
  return places
}

describe('the view', () => {
  it('of a text is itself, of a string decoded, of any other JSON indented, tokens as written', () => {
    holds(
      fc.property(samples, ({ value, source, view }) => {
        const kept = keep(value, source)
        expect(kept.chunks).toHaveLength(1)
        expect(Buffer.concat(viewsOf(kept)).toString()).toBe(view)
      }),
      1_000,
    )
  })

  it.each([
    ['[]', '[]'],
    [' [ ] ', '[]'],
    ['{"a":{ },"b":[[]]}', '{\n  "a": {},\n  "b": [\n    []\n  ]\n}'],
    [
      '{"10":1.0,"2":"a, [b]: \\"{","2":1e400}',
      '{\n  "10": 1.0,\n  "2": "a, [b]: \\"{",\n  "2": 1e400\n}',
    ],
    ['"\\u0041"', '"\\u0041"'],
    [' true ', 'true'],
  ])('of %s is %j', (text, view) => {
    const value = Buffer.from(text)
    const kept = keep(value, { form: 'json', start: 0, end: value.length })
    expect(Buffer.concat(viewsOf(kept)).toString()).toBe(view)
  })

  it('of a text with backslashes and quotes is itself', () => {
    const value = Buffer.from('"C:\\new" and \\u0041')
    const kept = keep(value, { form: 'text', start: 0, end: value.length })
    expect(Buffer.concat(viewsOf(kept))).toEqual(value)
  })

  it('of a binary is empty', () => {
    const value = Buffer.from([0xff, 0x0a, 0x80, 0x0a, 0x00])
    const kept = keep(
      value,
      { form: 'none', start: 0, end: 5 },
      { chunkBytes: 2, chunkViewBytes: 9 },
    )
    expect(kept.chunks.map(({ firstByte }) => firstByte)).toEqual([0, 2, 4])
    expect(Buffer.concat(viewsOf(kept))).toHaveLength(0)
    expect(kept.plan.view).toEqual({ chars: 0, lines: 0, bytes: 0 })
  })

  it('of nothing is one empty chunk', () => {
    const plan = planValue(Buffer.alloc(0), { form: 'text', start: 0, end: 0 })
    expect(plan).toEqual({
      chunks: [{ firstByte: 0, endByte: 0, firstLine: 0, firstCrlf: 0, firstChar: 0, state: 0 }],
      view: { chars: 0, lines: 0, bytes: 0 },
    })
  })
})

describe('chunks', () => {
  it('rendered one by one give the view of the whole', () => {
    holds(
      fc.property(samples, sizes, ({ value, source, view }, small) => {
        const views = viewsOf(keep(value, source, small))
        expect(Buffer.concat(views).toString()).toBe(view)
      }),
      2_000,
    )
  })

  it('cover the value without gap or overlap, each of them some bytes long', () => {
    holds(
      fc.property(samples, sizes, ({ value, source }, small) => {
        const { chunks } = planValue(value, source, small)
        let pos = 0
        for (const { firstByte, endByte } of chunks) {
          expect(firstByte).toBe(pos)
          expect(endByte > firstByte || value.length === 0).toBe(true)
          pos = endByte
        }
        expect(pos).toBe(value.length)
      }),
      1_000,
    )
  })

  it('know how many line ends and chars of the view come before, and the totals are its own', () => {
    holds(
      fc.property(samples, sizes, ({ value, source, view }, small) => {
        const kept = keep(value, source, small)
        let before = ''
        viewsOf(kept).forEach((part, i) => {
          expect(kept.chunks[i]).toMatchObject({
            firstLine: before.split('\n').length - 1,
            firstCrlf: before.split('\r\n').length - 1,
            firstChar: [...before].length,
          })
          before += part.toString()
        })
        expect(kept.plan.view).toEqual({
          chars: [...view].length,
          lines: linesOf(view).length,
          bytes: Buffer.byteLength(view),
        })
      }),
      2_000,
    )
  })

  it('split no code point, no escape and no surrogate pair within the view', () => {
    holds(
      fc.property(samples, sizes, ({ value, source }, small) => {
        const places = placesToCut(value, source)
        for (const { endByte } of planValue(value, source, small).chunks) {
          if (endByte > source.start && endByte < source.end) expect(places).toContain(endByte)
        }
      }),
      2_000,
    )
  })

  it('are about 64 KiB, also where an indented view would be far larger', () => {
    const text = Buffer.from('é'.repeat(500_000))
    const plan = planValue(text, { form: 'text', start: 0, end: text.length })
    expect(plan.chunks).toHaveLength(16)
    const deep = compact(nested({ items: Array.from({ length: 400 }, () => '[]') }, 1_000))
    const value = Buffer.from(deep)
    const source: ViewSource = { form: 'json', start: 0, end: value.length }
    const { chunks, view } = planValue(value, source)
    expect(chunks.length).toBeGreaterThan(4)
    let bytes = 0
    for (const { firstByte, endByte, state } of chunks) {
      const part = renderView(
        { bytes: value.subarray(firstByte, endByte), firstByte, state },
        source,
      )
      expect(part.length).toBeLessThan(262_144 + 2 * 1_026)
      bytes += part.length
    }
    expect(bytes).toBe(view.bytes)
  })
})

describe('measuring', () => {
  it('of deep nesting makes no view', () => {
    const towers = `[${Array.from({ length: 1_000 }, () => '['.repeat(1_023) + ']'.repeat(1_023)).join(',')}]`
    const value = Buffer.from(towers)
    const { view } = planValue(value, { form: 'json', start: 0, end: value.length })
    expect(view.bytes).toBeGreaterThan(1_000 * value.length * 0.9)
  })

  // A search for the next escape once ran to the end of the value from every chunk: 500 GB, far past a test's time.
  it('of a long string without escapes takes time by its length', () => {
    const value = Buffer.alloc(16_000_000, 0x78)
    const source: ViewSource = { form: 'string', start: 0, end: value.length }
    const plan = planValue(value, source, { chunkBytes: 256, chunkViewBytes: 256 })
    expect(plan.view.chars).toBe(value.length)
  })
})

describe('the state of the formatter', () => {
  it('is kept in one integer', () => {
    expect(packState(INDENT_START)).toBe(0)
    const states = fc.record({
      depth: fc.nat({ max: 1_025 }),
      inString: fc.boolean(),
      afterOpen: fc.boolean(),
    })
    holds(
      fc.property(states, (state) => {
        expect(unpackState(packState(state))).toEqual(state)
      }),
    )
  })
})

describe('white space around a document', () => {
  it('of any length is in chunks that show nothing', () => {
    const sizes = { chunkBytes: 16, chunkViewBytes: 64 }
    const json = '{"a":[1,2]}'
    const value = Buffer.from(`${' '.repeat(100)}${json}${'\n'.repeat(100)}`)
    const source: ViewSource = { form: 'json', start: 100, end: 100 + json.length }
    const { chunks, view } = planValue(value, source, sizes)
    expect(chunks.map(({ firstByte }) => firstByte)).toEqual([
      0,
      ...chunks.slice(0, -1).map(({ endByte }) => endByte),
    ])
    expect(chunks.at(-1)?.endByte).toBe(value.length)
    for (const { firstByte, endByte } of chunks) {
      expect(endByte - firstByte).toBeLessThanOrEqual(2 * sizes.chunkBytes)
    }
    // what follows the document begins in a chunk that shows some of it
    const last = chunks.find(({ endByte }) => endByte > source.end)
    expect(last?.firstByte).toBeLessThan(source.end)
    const shown = chunks.map((chunk) =>
      renderView({ ...chunk, bytes: value.subarray(chunk.firstByte, chunk.endByte) }, source),
    )
    const whole = JSON.stringify(JSON.parse(json), null, 2)
    expect(Buffer.concat(shown).toString()).toBe(whole)
    expect(view).toEqual({
      chars: whole.length,
      lines: whole.split('\n').length,
      bytes: whole.length,
    })
    expect(chunks.at(-1)).toMatchObject({
      firstLine: whole.split('\n').length - 1,
      firstCrlf: 0,
      firstChar: whole.length,
    })
  })
})

describe('a chunk of a text', () => {
  it('ends where it should, or right after what it would split', () => {
    const cut = (text: string, target: number, end = Buffer.byteLength(text)): number =>
      cutText(Buffer.from(text), target, end)
    expect(cut('ab\nc', 2)).toBe(2)
    expect(cut('a\r\nb', 2)).toBe(3)
    expect(cut('a\r\nb', 2, 2)).toBe(2)
    expect(cut('a\rb', 2)).toBe(2)
    expect(cut('😀a', 1)).toBe(4)
    expect(cut('😀a', 4)).toBe(4)
  })
})
