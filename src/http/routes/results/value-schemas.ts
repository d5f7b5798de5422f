/** The raw read: what it takes and what it answers. */
import { type Static, Type } from 'typebox'
import { SHOWN_EXAMPLES } from '../shared-schemas.ts'

/** A body of bytes. */
export const BYTES = { type: 'string', format: 'binary' }

export const ValueQuerySchema = Type.Object(
  {
    as: Type.Optional(
      Type.Enum(['text'], {
        description:
          '`text`: the text view, which windows and recall count in, instead of the bytes.',
        [SHOWN_EXAMPLES]: ['text'],
      }),
    ),
    path: Type.Optional(
      Type.String({
        description: 'A slice of a JSON value, by dotted path.',
        [SHOWN_EXAMPLES]: ['rows.0.name'],
      }),
    ),
    pointer: Type.Optional(
      Type.String({
        description: 'A slice of a JSON value, by JSON Pointer; instead of `path`.',
        [SHOWN_EXAMPLES]: ['/rows/0/name'],
      }),
    ),
  },
  { additionalProperties: false },
)
export type ValueQuery = Static<typeof ValueQuerySchema>

/** That of the example's output. */
const EXAMPLE_ETAG = '"f2078bbdac0266ab88650023f9c4ea50ba7f2bd1c0dd9df98788c5fc7340e3f5"'

const text = (description: string, example: string) =>
  Type.Optional(Type.String({ description, [SHOWN_EXAMPLES]: [example] }))

export const ValueHeadersSchema = Type.Object({
  Range: text('One range of bytes; the answer is a 206.', 'bytes=0-99'),
  'If-None-Match': text(
    'An ETag of an earlier answer; when it still holds, the answer is a 304.',
    EXAMPLE_ETAG,
  ),
  'If-Range': text('An ETag: the range counts only while it holds.', EXAMPLE_ETAG),
})

const header = (description: string, example: string) => ({
  type: 'string',
  description,
  examples: [example],
})

/** What every answer of the raw read carries. */
const ValueHeaders = {
  ETag: header('The digest of the value, with what part or view of it this is.', EXAMPLE_ETAG),
  'Accept-Ranges': header('Ranges are in bytes.', 'bytes'),
  'Cache-Control': header('To be asked again each time.', 'private, no-cache'),
  'Content-Disposition': header(
    'A file name; `attachment` for what a browser would run.',
    'inline; filename="r1"',
  ),
  'Content-Security-Policy': header(
    'Nothing in it may run or load.',
    "sandbox; default-src 'none'",
  ),
  'X-Content-Type-Options': header('The type is meant.', 'nosniff'),
}

const valueContent = {
  'application/json': { schema: { description: 'A JSON value, as it came.' } },
  'text/plain': { schema: { type: 'string', description: 'A text as it came, or a text view.' } },
  '*/*': {
    schema: { ...BYTES, description: 'The bytes, under the type that they were put with.' },
  },
}

export const ValueResponses = {
  200: {
    description: 'The value, the slice or the text view.',
    headers: ValueHeaders,
    content: valueContent,
  },
  206: {
    description: 'The part that `Range` asks for.',
    headers: {
      ...ValueHeaders,
      'Content-Range': header('Which bytes these are, and of how many.', 'bytes 0-99/1234'),
    },
    content: valueContent,
  },
  304: { description: 'It is as it was at the ETag given.', type: 'null', headers: ValueHeaders },
}
