/**
 * What a raw body is, by its content type.
 */
import { isUtf8 } from 'node:buffer'
import { CoatcheckError } from '../../core/errors.ts'
import { parseJson } from '../../core/json/scan.ts'
import type { PutSource } from '../../runs/value.ts'
import { foreignCharset } from '../body.ts'

const MEDIA_TYPE = /^([!#$%&'*+.^_`|~0-9a-z-]+\/[!#$%&'*+.^_`|~0-9a-z-]+)\s*(?:;.*)?$/is
const BINARY = /^(?:image|audio|video)\/|^application\/(?:octet-stream|pdf|zip)$/
const FORM = /^(?:application\/x-www-form-urlencoded|multipart\/.*)$/
const JSON_SUFFIX = /\+json$/

/** A raw body as the source of a result. Throws `unsupported_media_type`, `invalid_json`, `invalid_utf8`. */
export function rawSource(
  body: Buffer,
  contentType: string | undefined,
  maxDepthLevels: number,
): PutSource {
  const { type, mediaType } = readType(contentType)
  if (FORM.test(type)) {
    throw refused(`${type} is a form (with curl, add -H 'content-type: …' to --data-binary)`)
  }
  if (BINARY.test(type) && type !== 'image/svg+xml') return { binary: body, mediaType }
  const charset = foreignCharset(mediaType)
  if (charset !== undefined) {
    throw refused(`the charset ${JSON.stringify(charset)} is not UTF-8`)
  }
  if (JSON_SUFFIX.test(type)) {
    return { json: parseJson(body, maxDepthLevels), body, mediaType }
  }
  return isUtf8(body) ? { text: body, mediaType } : { binary: body, mediaType }
}

function readType(contentType: string | undefined): { type: string; mediaType: string } {
  const match = MEDIA_TYPE.exec(contentType?.trim() ?? '')
  if (match === null) throw refused('the body has no content-type')
  const type = (match[1] as string).toLowerCase()
  return { type, mediaType: contentType?.trim() ?? type }
}

const refused = (why: string): CoatcheckError =>
  new CoatcheckError(
    'unsupported_media_type',
    `A put cannot take this body: ${why}. Send application/json (an envelope), another JSON type (*/*+json), text/plain or any other text type in UTF-8, or application/octet-stream.`,
  )
