/** Decides from the content type alone what a raw body is. */
import { CoatcheckError } from '../../core/errors.ts'

/** Excludes `*`, which stands for ranges of types. */
const MEDIA_TYPE = /^([!#$%&'+.^_`|~0-9a-z-]+\/[!#$%&'+.^_`|~0-9a-z-]+)\s*(?:;.*)?$/is
const BINARY = /^(?:image|audio|video)\/|^application\/(?:octet-stream|pdf|zip)$/
const FORM = /^(?:application\/x-www-form-urlencoded|multipart\/.*)$/
const JSON_SUFFIX = /\+json$/
const CHARSET = /;\s*charset\s*=\s*"?([^";\s]+)"?/i
const UTF8 = /^(?:utf-?8|us-ascii)$/i

/** Kind and type of a raw body. */
export interface Media {
  /** A body of the kind `text` that is not UTF-8 is stored as a binary. */
  readonly kind: 'json' | 'text' | 'binary'
  /** Content type as it came. */
  readonly mediaType: string
}

/** Media of a content type. Throws `unsupported_media_type`. */
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

/** Charset that a content type names; undefined for UTF-8 and for none. */
export function foreignCharset(contentType = ''): string | undefined {
  const charset = CHARSET.exec(contentType)?.[1]
  return charset === undefined || UTF8.test(charset) ? undefined : charset
}

const refused = (why: string): CoatcheckError =>
  new CoatcheckError(
    'unsupported_media_type',
    `A put cannot take this body: ${why}. Send application/json (an envelope), another JSON type (*/*+json), text/plain or any other text type in UTF-8, or application/octet-stream.`,
  )
