import { isUtf8 } from 'node:buffer'
import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type Api, startApi } from '../support/api.ts'
import { docs, gaps, nested, spaced } from '../support/json.ts'
import { inside, PLACE_LEVELS, PLACES, type PlaceAnswer } from '../support/json-places.ts'

const DEEPEST_LEVELS = 1024
const SEED = 20_261_130
const BAD_REQUEST = 400

let api: Api
beforeAll(async () => {
  api = await startApi()
})
afterAll(() => api.close())

type Edit = (bytes: Buffer) => Buffer

const at = (bytes: Buffer, share: number): number => Math.floor(share * (bytes.length + 1))
const spliced = (bytes: Buffer, place: number, gone: number, put: Uint8Array): Buffer =>
  Buffer.concat([bytes.subarray(0, place), put, bytes.subarray(place + gone)])

const PIECES = ['{', '}', '[', ']', ',', ':', '"', '\\', '\\u', '\\ud83d', '0', '-', '.', 'e', '+']
  .concat(['00', '1.', '.5', '1e', 'NaN', 'True', 'nul', "'a'", '/**/', '#', '\t', '\0', '\u2028'])
  .concat(['\ufeff', ',,', '{}', '[]', '""', '\\x', '\\a', '\n', '\u00a0', '\u0085', '\f', '\v'])
const BYTES = ['ff', 'c0af', 'eda080', 'f4908080', 'e282', '80', 'efbbbf', '1f', '7f', 'feff', '00']
const piece: fc.Arbitrary<Buffer> = fc.oneof(
  { weight: 4, arbitrary: fc.constantFrom(...PIECES).map((text) => Buffer.from(text)) },
  { weight: 1, arbitrary: fc.constantFrom(...BYTES).map((hex) => Buffer.from(hex, 'hex')) },
)
const share = fc.double({ min: 0, max: 0.999, noNaN: true })

const edit: fc.Arbitrary<Edit> = fc.oneof(
  fc.tuple(share, piece).map(
    ([where, put]): Edit =>
      (bytes) =>
        spliced(bytes, at(bytes, where), 0, put),
  ),
  fc.tuple(share, fc.nat(3)).map(
    ([where, gone]): Edit =>
      (bytes) =>
        spliced(bytes, at(bytes, where), gone, Buffer.alloc(0)),
  ),
  fc.tuple(share, piece).map(
    ([where, put]): Edit =>
      (bytes) =>
        spliced(bytes, at(bytes, where), 1, put),
  ),
  share.map(
    (where): Edit =>
      (bytes) =>
        bytes.subarray(0, at(bytes, where)),
  ),
)

/** JSON, or what a few edits make of it. Its nesting leaves room for that of every place. */
const value: fc.Arbitrary<Buffer> = fc
  .record({
    doc: docs(),
    levels: fc.oneof(
      { weight: 9, arbitrary: fc.constantFrom(0, 1) },
      { weight: 1, arbitrary: fc.integer({ min: 500, max: DEEPEST_LEVELS - PLACE_LEVELS - 10 }) },
    ),
    gaps,
    before: fc.constantFrom('', '', ' ', '\n\t\r '),
    after: fc.constantFrom('', '', ' ', '\r\n'),
    edits: fc.array(edit, { maxLength: 3 }),
  })
  .map(({ doc, levels, gaps, before, after, edits }) => {
    const text = before + spaced(nested(doc, levels), gaps) + after
    return edits.reduce<Buffer>((bytes, change) => change(bytes), Buffer.from(text))
  })

/** As the engine's own parser, which knows nothing of ours, has it. */
function isJson(bytes: Buffer): boolean {
  if (!isUtf8(bytes)) return false
  try {
    JSON.parse(bytes.toString())
    return true
  } catch {
    return false
  }
}

/** Bytes such as `1,"a":2` are no value where they stand, but make the body around them another one. */
const breaksOut = (bytes: Buffer): boolean =>
  PLACES.some((place) => isJson(inside(place, bytes)) !== isJson(bytes))

const answers = (bytes: Buffer): Promise<readonly (readonly [name: string, PlaceAnswer])[]> =>
  Promise.all(PLACES.map(async (place) => [place.name, await place.send(api, bytes)] as const))

async function expectAlike(bytes: Buffer): Promise<void> {
  const isTaken = isJson(bytes)
  const all = await answers(bytes)
  const code = all[0]?.[1].code
  for (const [name, answer] of all) {
    if (!isTaken) expect([name, answer.status, answer.code]).toEqual([name, BAD_REQUEST, code])
    else {
      expect([name, answer.code]).toEqual([name, undefined])
      if (answer.returned !== undefined) {
        expect([name, answer.returned.toString()]).toEqual([name, answer.expected.toString()])
      }
    }
  }
}

describe('bytes as a JSON value', () => {
  it('are taken in every place or refused in every place, for one reason, and come back as they came', async () => {
    let refused = 0
    const property = fc.asyncProperty(value, async (bytes) => {
      fc.pre(!breaksOut(bytes))
      if (!isJson(bytes)) refused++
      await expectAlike(bytes)
    })
    await fc.assert(property, { seed: SEED, numRuns: 400 })
    expect(refused).toBeGreaterThan(100)
  })

  it.each([
    ['nothing at all', ''],
    ['only white space', ' \n'],
    ['a byte order mark', '\ufeff{}'],
    ['a NUL after it', '{}\0'],
    ['two values', '1 2'],
    ['a comma after it', '[],'],
    ['a bracket too many', '[]]'],
    ['a no-break space before it', '\u00a01'],
  ])('are refused everywhere: %s', async (_what, text) => {
    await expectAlike(Buffer.from(text))
  })
})
