/**
 * Schemas that several routes share. Descriptions and examples here are what Swagger UI shows; an example id is one that
 * exists after the calls above it on the page were tried. A `title` is the name under which the OpenAPI document lists a
 * schema once, see `http/docs/openapi-document.ts`.
 */
import { type TSchema, Type } from 'typebox'
import { RENDERINGS, RENDERS } from '../../core/content.ts'
import { EVIDENCE_ID_BYTES } from '../../core/limits.ts'
import { FORMATS } from '../../ledger/ledger.ts'

/** Examples of a parameter that Swagger UI shows and does not fill in: the call is another one with it. */
export const SHOWN_EXAMPLES = 'x-shown-examples'

export const EXAMPLE_RUN = 'demo'

export const RunIdSchema = Type.String({
  pattern: '^[A-Za-z0-9_][A-Za-z0-9._:-]{0,127}$',
  description: 'The run, as the caller names it: up to 128 letters, digits and `._:-`.',
  examples: [EXAMPLE_RUN],
})

const HandleSchema = Type.String({
  description: 'A handle, as a put answered it: `r1`, `r2`, …',
  examples: ['r1'],
})

export const ToolNameSchema = Type.String({
  minLength: 1,
  maxLength: 256,
  description: 'The name of a tool, as the model calls it.',
  examples: ['list_files'],
})
/** The tool that the examples register, and then call. */
export const EXAMPLE_TOOL = 'copy_files'
export const EXAMPLE_INPUT_SCHEMA = {
  type: 'object',
  properties: { files: { type: 'array', items: { type: 'object' } }, to: { type: 'string' } },
  required: ['files', 'to'],
}

export const RunParams = Type.Object({ run_id: RunIdSchema })
export const ResultParams = Type.Object({ run_id: RunIdSchema, handle: HandleSchema })

export const ToolUseIdSchema = Type.String({
  description: `The call's tool_use_id, up to ${EVIDENCE_ID_BYTES} bytes; it becomes the evidence id. Empty or absent: the handle is.`,
  examples: ['toolu_01'],
})

export const RenderSchema = Type.Enum([...RENDERS], {
  description:
    'Which content to answer: `auto` (verbatim while it fits), `verbatim`, `preview` or `window`.',
  default: 'auto',
})

export const FormatSchema = Type.Enum([...FORMATS], {
  title: 'Format',
  description:
    'How previews, windows and markers are written. A run keeps the format it opened with.',
})

export const PageQuerySchema = Type.Object(
  {
    limit: Type.Integer({
      minimum: 1,
      maximum: 1000,
      default: 100,
      description: 'Items on a page.',
    }),
    after: Type.Optional(
      Type.String({
        description: 'The `next` of the page before; absent for the first.',
        [SHOWN_EXAMPLES]: ['demo'],
      }),
    ),
  },
  { additionalProperties: false },
)

export const NextSchema = Type.Union([Type.String(), Type.Null()], {
  description: 'What to give as `after` for the following page; null at the end.',
})

export const OmittedSchema = Type.Union(
  [
    Type.Object(
      {
        start_line: Type.Integer({ description: 'First line left out, from 1.' }),
        end_line: Type.Integer({ description: 'Last line left out, included.' }),
        chars: Type.Integer({
          description: 'Characters of those lines, and one for each line end.',
        }),
      },
      { additionalProperties: false },
    ),
    Type.Null(),
  ],
  {
    title: 'Omitted',
    description: 'The lines that a window leaves out; null when none are.',
  },
)

const ContentMembers = {
  content: Type.Union([Type.String(), Type.Null()], {
    description: 'What to put into the transcript in place of the result; null for a suspension.',
  }),
  rendering: Type.Enum([...RENDERINGS], {
    title: 'Rendering',
    description:
      'What `content` is: the whole text (`verbatim`), head and tail of it (`window`), a `preview` with its hint, a shortened failure (`compacted`), or nothing (`none`).',
  }),
  omitted: OmittedSchema,
  preview: Type.String({
    description: 'The typed, bounded preview: what it is, how big, and a sample.',
  }),
  hint: Type.String({
    description: 'The line that tells the model how to reach the whole.',
  }),
}

export const ContentSchema = Type.Object(ContentMembers, {
  $id: 'Content',
  additionalProperties: false,
  description: 'What stands for a result in the transcript.',
})

const ResultMembers = {
  run_id: Type.String({ description: 'The run that holds it.' }),
  handle: Type.String({
    description:
      'The handle within the run: `r1`, `r2`, … in the order of commit. References use it: `$r1.rows.0`.',
  }),
  evidence_id: Type.String({ description: 'What recall takes.' }),
  kind: Type.Enum(['json', 'text', 'binary'], {
    title: 'Kind',
    description: 'What the value is.',
  }),
  outcome: Type.Enum(['output', 'failure', 'suspension'], {
    title: 'Outcome',
    description: 'What the call came to.',
  }),
  total_bytes: Type.Integer({ description: 'Bytes of the value.' }),
  total_chars: Type.Union([Type.Integer(), Type.Null()], {
    description: 'Characters (code points) of the text view; null for a binary.',
  }),
  total_lines: Type.Union([Type.Integer(), Type.Null()], {
    description: 'Lines of the text view; null for a binary.',
  }),
  sha256: Type.String({
    description: 'Hex digest of the value.',
  }),
}

export const PutResultSchema = Type.Object(
  {
    ...ResultMembers,
    ...ContentMembers,
    unwrapped: Type.Optional(
      Type.Literal(true, {
        description:
          'Only there when the body was `{"output": …}` and nothing else: its `output` is the value. A document of that shape is kept whole with `?envelope=none`.',
      }),
    ),
  },
  {
    $id: 'PutResult',
    additionalProperties: false,
    description: 'A result that is kept, and its content.',
  },
)

export const ResultSchema = Type.Object(
  {
    ...ResultMembers,
    preview: ContentMembers.preview,
    hint: ContentMembers.hint,
    tool_use_id: Type.Union([Type.String(), Type.Null()], {
      description: 'The id it was put under; null when it was put without.',
    }),
    tool_name: Type.Union([Type.String(), Type.Null()], {
      description: 'The tool it came from, when the put named it.',
    }),
    media_type: Type.String({ description: 'The type of the value.' }),
    created_at: Type.String({ format: 'date-time', description: 'When it was kept.' }),
  },
  { $id: 'Result', additionalProperties: false, description: 'A result that is kept.' },
)

/** A reference to a schema that the app has added by its `$id`. */
export const ref = (schema: TSchema): TSchema =>
  Type.Unsafe({ $ref: `${(schema as { $id?: string }).$id}#` })

/** A JSON response by a schema. */
export const ok = (description: string, schema: TSchema): Record<string, unknown> => ({
  description,
  content: { 'application/json': { schema } },
})

export const SHARED_SCHEMAS = [ContentSchema, PutResultSchema, ResultSchema]
