/** Schemas of the raw read of a value. */
import { type Static, Type } from 'typebox'
import { SHOWN_EXAMPLES } from '../shared-schemas.ts'

/** Schema of a body of bytes. */
export const BYTES = { type: 'string', format: 'binary' }

export const ValueQuerySchema = Type.Object(
  {
    as: Type.Optional(
      Type.Enum(['text'], {
        description:
          '`text` asks for the text view, in which windows and recall count, instead of the bytes.',
        [SHOWN_EXAMPLES]: ['text'],
      }),
    ),
    path: Type.Optional(
      Type.String({
        description: 'Dotted path of a slice of a JSON value.',
        [SHOWN_EXAMPLES]: ['rows.0.name'],
      }),
    ),
    pointer: Type.Optional(
      Type.String({
        description: 'JSON Pointer of a slice of a JSON value. Give it instead of `path`.',
        [SHOWN_EXAMPLES]: ['/rows/0/name'],
      }),
    ),
  },
  { additionalProperties: false },
)
/** Query of a raw read. */
export type ValueQuery = Static<typeof ValueQuerySchema>

/** ETag of the example's output. */
const EXAMPLE_ETAG = '"f2078bbdac0266ab88650023f9c4ea50ba7f2bd1c0dd9df98788c5fc7340e3f5"'

const text = (description: string, example: string) =>
  Type.Optional(Type.String({ description, [SHOWN_EXAMPLES]: [example] }))

export const ValueHeadersSchema = Type.Object({
  Range: text('Asks for one range of bytes. The answer is a 206.', 'bytes=0-99'),
  'If-None-Match': text(
    'ETag of an earlier answer. The answer is a 304 while it still holds.',
    EXAMPLE_ETAG,
  ),
  'If-Range': text(
    'ETag of an earlier answer. `Range` counts only while it still holds.',
    EXAMPLE_ETAG,
  ),
})

const header = (description: string, example: string) => ({
  type: 'string',
  description,
  examples: [example],
})

/** Headers of every answer of the raw read. */
const ValueHeaders = {
  ETag: header(
    'Digest of the value. For a slice or the text view it also names that.',
    EXAMPLE_ETAG,
  ),
  'Accept-Ranges': header('Unit of ranges.', 'bytes'),
  'Cache-Control': header(
    'A stored copy must be revalidated before each use.',
    'private, no-cache',
  ),
  'Content-Disposition': header(
    'File name. `attachment` for types that a browser would run.',
    'inline; filename="r1"',
  ),
  'Content-Security-Policy': header(
    'A browser that shows the value runs and loads nothing.',
    "sandbox; default-src 'none'",
  ),
  'X-Content-Type-Options': header('A browser must not guess another type.', 'nosniff'),
}

const valueContent = {
  'application/json': { schema: { description: 'JSON value, as it came.' } },
  'text/plain': { schema: { type: 'string', description: 'Text as it came, or a text view.' } },
  '*/*': {
    schema: { ...BYTES, description: 'Bytes, with the media type of their put.' },
  },
}

export const ValueResponses = {
  200: {
    description: 'The value, the slice or the text view.',
    headers: ValueHeaders,
    content: valueContent,
  },
  206: {
    description: 'The range that was asked for.',
    headers: {
      ...ValueHeaders,
      'Content-Range': header(
        'First and last byte of the range, and the number of all bytes.',
        'bytes 0-99/1234',
      ),
    },
    content: valueContent,
  },
  304: { description: 'The ETag still holds.', type: 'null', headers: ValueHeaders },
}
