import { describe, expect, it } from 'vitest'
import { parseJson } from '../../../src/core/json/scan.ts'
import { previewJson, previewText, referenceHint } from '../../../src/core/preview/preview.ts'
import { countLines } from '../../../src/core/text.ts'
import { member, text, toJson, vectors } from '../../vectors.ts'

/** The texts of this family come to 130 MB, which coverage counts byte by byte. */
const VECTORS_TIMEOUT_MS = 60_000

const preview = (json: string): string => previewJson(parseJson(Buffer.from(json)))

/** A text by its excerpt, with no byte more than the contract asks for. */
function previewBytes(view: Buffer): string {
  const head = view.subarray(0, 600)
  const tail = view.subarray(Math.max(0, view.length - 200))
  return previewText({ bytes: view.length, lines: countLines(view), head, tail })
}

describe('the reference vectors', () => {
  it(
    'every preview has the bytes of the reference',
    () => {
      let seen = 0
      for (const { name, input, expected } of vectors('preview')) {
        const handle = text(member(input, 'handle'))
        expect(`${handle}${preview(toJson(member(input, 'value')))}`, name).toBe(expected)
        seen++
      }
      expect(seen).toBeGreaterThan(2000)
    },
    VECTORS_TIMEOUT_MS,
  )

  it(
    'every text previews the same from its two ends as from its JSON string',
    () => {
      let seen = 0
      for (const { name, input, expected } of vectors('preview')) {
        const value = member(input, 'value')
        if (typeof value !== 'string') continue
        const handle = text(member(input, 'handle'))
        expect(`${handle}${previewBytes(Buffer.from(value))}`, name).toBe(expected)
        seen++
      }
      expect(seen).toBeGreaterThan(500)
    },
    VECTORS_TIMEOUT_MS,
  )

  it('every number prints as its token', () => {
    let seen = 0
    for (const { name, input } of vectors('preview_number_tokens')) {
      const token = text(member(input, 'token'))
      if (name.startsWith('invalid_token/')) {
        expect(() => preview(token), name).toThrow()
        continue
      }
      expect(preview(token), name).toBe(` = ${token}`)
      expect(preview(`[${token}]`), name).toBe(` = array(len=1, [${token}])`)
      const bytes = token.length + '{"n":}'.length
      expect(preview(`{"n":${token}}`), name).toBe(` = json(n: ${token}, bytes=${bytes})`)
      seen++
    }
    expect(seen).toBeGreaterThan(200)
  })

  it('every hint is the reference’s', () => {
    for (const { name, input, expected } of vectors('reference_hint')) {
      expect(referenceHint(text(member(input, 'handle'))), name).toBe(expected)
    }
  })
})
