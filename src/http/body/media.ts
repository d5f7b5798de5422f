/**
 * What a raw body is, by its content type alone.
 */
import { CoatcheckError } from '../../core/errors.ts'

/** Without `*`, which is for ranges of types: nothing can be of one. */
const MEDIA_TYPE = /^([!#$%&'+.^_`|~0-9a-z-]+\/[!#$%&'+.^_`|~0-9a-z-]+)\s*(?:;.*)?$/is
const BINARY = /^(?:image|audio|video)\/|^application\/(?:octet-stream|pdf|zip)$/
const FORM = /^(?:application\/x-www-form-urlencoded|multipart\/.*)$/
const JSON_SUFFIX = /\+json$/
const CHARSET = /;\s*charset\s*=\s*"?([^";\s]+)"?/i
const UTF8 = /^(?:utf-?8|us-ascii)$/i

export interface Media {
  /** `text`: if it is UTF-8, else a binary. */
  readonly kind: 'json' | 'text' | 'binary'
  /** The content type as it came. */
  readonly mediaType: string
}

/** Throws `unsupported_media_type`. */
export function mediaOf(contentType: string | undefined): Media {
  const mediaType = contentType?.trim() ?? ''
  const type = MEDIA_TYPE.exec(mediaType)?.[1]?.toLowerCase()
  if (type === undefined) {
    const given =
      mediaType === '' ? 'the body has no content-type' : `${mediaType} is no media type`
    throw refused(given)
  }
  if (FORM.test(type)) {
    throw refused(`${type} is a form (with curl, add -H 'content-type: …' to --data-binary)`)
  }
  if (BINARY.test(type) && type !== 'image/svg+xml') return { kind: 'binary', mediaType }
  const charset = foreignCharset(mediaType)
  if (charset !== undefined) {
    throw refused(`the charset ${JSON.stringify(charset)} is not UTF-8`)
  }
  return { kind: JSON_SUFFIX.test(type) ? 'json' : 'text', mediaType }
}

/** The charset that a content type names when it is not UTF-8. */
export function foreignCharset(contentType = ''): string | undefined {
  const charset = CHARSET.exec(contentType)?.[1]
  return charset === undefined || UTF8.test(charset) ? undefined : charset
}

const refused = (why: string): CoatcheckError =>
  new CoatcheckError(
    'unsupported_media_type',
    `A put cannot take this body: ${why}. Send application/json (an envelope), another JSON type (*/*+json), text/plain or any other text type in UTF-8, or application/octet-stream.`,
  )
