/**
 * Schemas that several routes share. Swagger UI shows their descriptions and examples. An id in an
 * example exists once the calls above it on the page have been tried. The OpenAPI document lists a
 * schema with a `title` once, under that name; see `http/docs/openapi-document.ts`.
 */
import { type TSchema, Type } from 'typebox'
import { RENDERINGS, RENDERS } from '../../core/content.ts'
import { EVIDENCE_ID_BYTES } from '../../core/limits.ts'
import { FORMATS } from '../../ledger/ledger.ts'

/**
 * Keyword for examples of a parameter that Swagger UI shows but does not fill in, because the
 * parameter would change what the example call does.
 */
export const SHOWN_EXAMPLES = 'x-shown-examples'

/** Run that the examples use. */
export const EXAMPLE_RUN = 'demo'

export const RunIdSchema = Type.String({
  pattern: '^[A-Za-z0-9_][A-Za-z0-9._:-]{0,127}$',
  description: 'Name of the run, chosen by the caller: up to 128 letters, digits and `._:-`.',
  examples: [EXAMPLE_RUN],
})

const HandleSchema = Type.String({
  description: 'Handle from the answer to a put: `r1`, `r2`, …',
  examples: ['r1'],
})

export const ToolNameSchema = Type.String({
  minLength: 1,
  maxLength: 256,
  description: 'Name of the tool, as the model calls it.',
  examples: ['list_files'],
})
/** Tool that the examples register and then call. */
export const EXAMPLE_TOOL = 'copy_files'
export const EXAMPLE_INPUT_SCHEMA = {
  type: 'object',
  properties: { files: { type: 'array', items: { type: 'object' } }, to: { type: 'string' } },
  required: ['files', 'to'],
}

export const RunParams = Type.Object({ run_id: RunIdSchema })
export const ResultParams = Type.Object({ run_id: RunIdSchema, handle: HandleSchema })

export const ToolUseIdSchema = Type.String({
  description: `Id of the tool call, up to ${EVIDENCE_ID_BYTES} bytes. It becomes the evidence id. When it is empty or absent, the handle is the evidence id.`,
  examples: ['toolu_01'],
})

export const RenderSchema = Type.Enum([...RENDERS], {
  description:
    'Rendering of the content: `auto` (verbatim while it fits), `verbatim`, `preview` or `window`.',
  default: 'auto',
})

export const FormatSchema = Type.Enum([...FORMATS], {
  title: 'Format',
  description:
    'Set of rules for previews, windows and notes. A run keeps the format it opened with.',
})

export const PageQuerySchema = Type.Object(
  {
    limit: Type.Integer({
      minimum: 1,
      maximum: 1000,
      default: 100,
      description: 'Most items on a page.',
    }),
    after: Type.Optional(
      Type.String({
        description: 'The `next` of the page before; absent for the first page.',
        [SHOWN_EXAMPLES]: ['demo'],
      }),
    ),
  },
  { additionalProperties: false },
)

export const NextSchema = Type.Union([Type.String(), Type.Null()], {
  description: 'Value of `after` for the following page; null at the end.',
})

export const OmittedSchema = Type.Union(
  [
    Type.Object(
      {
        start_line: Type.Integer({ description: 'First line that is left out, counted from 1.' }),
        end_line: Type.Integer({ description: 'Last line that is left out.' }),
        chars: Type.Integer({
          description: 'Characters of those lines, with one for each line end.',
        }),
      },
      { additionalProperties: false },
    ),
    Type.Null(),
  ],
  {
    title: 'Omitted',
    description: 'Range of lines that a window leaves out; null when it leaves out none.',
  },
)

const ContentMembers = {
  content: Type.Union([Type.String(), Type.Null()], {
    description: 'Text for the transcript in place of the result; null for a suspension.',
  }),
  rendering: Type.Enum([...RENDERINGS], {
    title: 'Rendering',
    description:
      'How `content` shows the result: the whole text (`verbatim`), its head and tail (`window`), a `preview` with its hint, a shortened failure (`compacted`), or nothing (`none`).',
  }),
  omitted: OmittedSchema,
  preview: Type.String({
    description: 'Bounded, typed text that shows what the value is, how large it is, and a sample.',
  }),
  hint: Type.String({
    description: 'Line that tells the model how to reach the whole value.',
  }),
}

export const ContentSchema = Type.Object(ContentMembers, {
  $id: 'Content',
  additionalProperties: false,
  description: 'Text that goes into the transcript in place of a result.',
})

const ResultMembers = {
  run_id: Type.String({ description: 'Run that holds the result.' }),
  handle: Type.String({
    description:
      'Handle of the result in its run: `r1`, `r2`, … in the order of commit. References use it: `$r1.rows.0`.',
  }),
  evidence_id: Type.String({ description: 'Id by which recall finds the result.' }),
  kind: Type.Enum(['json', 'text', 'binary'], {
    title: 'Kind',
    description: 'Kind of the value.',
  }),
  outcome: Type.Enum(['output', 'failure', 'suspension'], {
    title: 'Outcome',
    description: 'Outcome of the call.',
  }),
  total_bytes: Type.Integer({ description: 'Bytes of the value.' }),
  total_chars: Type.Union([Type.Integer(), Type.Null()], {
    description: 'Characters (code points) of the text view; null for the kind `binary`.',
  }),
  total_lines: Type.Union([Type.Integer(), Type.Null()], {
    description: 'Lines of the text view; null for the kind `binary`.',
  }),
  sha256: Type.String({
    description: 'SHA-256 digest of the value, in hex.',
  }),
}

export const PutResultSchema = Type.Object(
  {
    ...ResultMembers,
    ...ContentMembers,
    unwrapped: Type.Optional(
      Type.Literal(true, {
        description:
          'Present only when `output` was the sole member of the body: the value is that `output`, not the whole document. Send `?envelope=none` to store such a document whole.',
      }),
    ),
  },
  {
    $id: 'PutResult',
    additionalProperties: false,
    description: 'A stored result and its content.',
  },
)

export const ResultSchema = Type.Object(
  {
    ...ResultMembers,
    preview: ContentMembers.preview,
    hint: ContentMembers.hint,
    tool_use_id: Type.Union([Type.String(), Type.Null()], {
      description: 'Id of the tool call that the put gave; null when it gave none.',
    }),
    tool_name: Type.Union([Type.String(), Type.Null()], {
      description: 'Tool that the put named; null when it named none.',
    }),
    media_type: Type.String({ description: 'Media type of the value.' }),
    created_at: Type.String({
      format: 'date-time',
      description: 'Time when the result was stored.',
    }),
  },
  { $id: 'Result', additionalProperties: false, description: 'A stored result.' },
)

/** Reference to a schema that was added to the app under its `$id`. */
export const ref = (schema: TSchema): TSchema =>
  Type.Unsafe({ $ref: `${(schema as { $id?: string }).$id}#` })

/** Declares a JSON response that has this schema. */
export const ok = (description: string, schema: TSchema): Record<string, unknown> => ({
  description,
  content: { 'application/json': { schema } },
})

/** Schemas to add to the app before any route. */
export const SHARED_SCHEMAS = [ContentSchema, PutResultSchema, ResultSchema]
