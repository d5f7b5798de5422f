/**
 * Previews of the format `extended`: one hard bound in bytes, whatever the value; see
 * `docs/reference/previews.md`.
 */
import { CoatcheckError } from '../errors.ts'
import type { JsonSlice } from '../json/slice.ts'
import { decodeText } from '../json/strings.ts'
import { PREVIEW_LIMIT_BYTES } from '../limits.ts'
import { extendedHint } from './hint.ts'
import { previewExtended } from './json/preview-json.ts'
import { previewExtendedText } from './text-preview.ts'

/** A handle that cannot be taken for structure. */
const HANDLE = /^[A-Za-z0-9_.:-]{1,64}$/

export interface NamedPreview {
  readonly preview: string
  /** Starts with a line end. */
  readonly hint: string
}

/**
 * The preview of a JSON value under a handle, of at most `limitBytes` bytes, the handle included. A
 * string is previewed as its text. Throws `invalid_request` for a handle of other characters than
 * letters, digits and `_.:-`, or longer than 64.
 *
 * @example namedPreview('r1', json('[1]')).preview // 'r1 = array(len=1, bytes=3) [1]'
 */
export function namedPreview(
  handle: string,
  value: JsonSlice,
  limitBytes = PREVIEW_LIMIT_BYTES,
): NamedPreview {
  if (!HANDLE.test(handle)) {
    throw new CoatcheckError(
      'invalid_request',
      '"handle" must be 1 to 64 letters, digits or characters of "_.:-" in the format extended.',
    )
  }
  const room = limitBytes - handle.length
  const preview =
    value.kind === 'string'
      ? previewExtendedText(Buffer.from(decodeText(value)), room)
      : previewExtended(value, room)
  return { preview: handle + preview, hint: extendedHint(handle, value) }
}
