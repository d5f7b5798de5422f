// A preview of the reference's format has at most 1,000,000 characters, however long a name is; characters are code points.
import { expect, it } from 'vitest'
import { parseJson } from '../../../src/core/json/scan.ts'
import { PREVIEW_MAX_CHARS } from '../../../src/core/limits.ts'
import { previewJson } from '../../../src/core/preview/preview.ts'
import { charsOf } from '../../../src/core/text.ts'

const previewOf = (name: string): string =>
  previewJson(parseJson(Buffer.from(JSON.stringify({ [name]: 1 }))))

it('a preview is cut at 1,000,000 characters, and marked', () => {
  const preview = previewOf('k'.repeat(PREVIEW_MAX_CHARS))
  expect(charsOf(preview)).toBe(PREVIEW_MAX_CHARS + 1)
  expect(preview.endsWith('k…')).toBe(true)
})

it('a preview of as many characters outside of the basic plane is not cut', () => {
  const preview = previewOf('\u{1f600}'.repeat(PREVIEW_MAX_CHARS - 100))
  expect(preview.endsWith('…')).toBe(false)
})
