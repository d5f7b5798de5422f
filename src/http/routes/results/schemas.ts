import { type Static, Type } from 'typebox'
import { RENDERS } from '../../../core/content.ts'
import { FAILURE_ATTEMPTS_MAX } from '../../../core/limits.ts'
import { OpaqueJson } from '../../body/json-body.ts'
import { INSTEAD } from '../../body/request-validation.ts'
import {
  NextSchema,
  PageQuerySchema,
  RenderSchema,
  ResultSchema,
  ref,
  SHOWN_EXAMPLES,
  ToolNameSchema,
  ToolUseIdSchema,
} from '../shared-schemas.ts'
import { BYTES } from './value-schemas.ts'

export const FailureSchema = Type.Object(
  {
    kind: Type.Optional(
      Type.Enum(['invalid_input', 'handler', 'output_serialization'], {
        title: 'FailureKind',
        description:
          'Which layer failed: the arguments (`invalid_input`), the tool (`handler`), or writing its output.',
        default: 'handler',
      }),
    ),
    message: Type.Optional(
      Type.String({ description: 'The whole error, however long.', examples: ['exit status 1'] }),
    ),
    messages: Type.Optional(
      Type.Array(Type.String(), {
        minItems: 1,
        description: 'Instead of `message`: the error and its causes, top first; joined with ": ".',
        examples: [['run_tests failed', 'exit status 1']],
      }),
    ),
    attempts: Type.Optional(
      Type.Integer({
        minimum: 0,
        maximum: FAILURE_ATTEMPTS_MAX,
        default: 1,
        description: 'How often it was tried, retries included.',
      }),
    ),
    is_error: Type.Optional(
      Type.Literal(true, {
        description: 'As a sentinel has it; so that the inside of one can be put as it is.',
      }),
    ),
  },
  {
    title: 'Failure',
    additionalProperties: false,
    description: 'A call that failed, with either `message` or `messages`.',
  },
)

export const SuspensionSchema = Type.Object(
  {
    reason: Type.String({ description: 'Why the run waits.', examples: ['needs approval'] }),
    input_schema: OpaqueJson({
      description: 'The JSON Schema of the answer it waits for; any JSON value is kept.',
    }),
  },
  {
    title: 'Suspension',
    additionalProperties: false,
    description: 'A call that waits, for a person or an event.',
  },
)

/** By name, as OpenAPI has several examples of one media type. */
const ENVELOPE_EXAMPLES = {
  output: {
    summary: 'A result, shown as its preview',
    value: {
      tool_use_id: 'toolu_01',
      tool_name: 'list_files',
      render: 'preview',
      output: {
        rows: [
          { id: 1, name: 'a.txt' },
          { id: 2, name: 'b.txt' },
        ],
        total: 2,
      },
    },
  },
  failure: {
    summary: 'A failed call',
    value: {
      tool_use_id: 'toolu_02',
      tool_name: 'run_tests',
      failure: { messages: ['run_tests failed', 'exit status 1'], attempts: 2 },
    },
  },
  suspension: {
    summary: 'A call that waits for a person',
    value: {
      tool_use_id: 'toolu_03',
      tool_name: 'deploy',
      suspension: {
        reason: 'needs approval',
        input_schema: { type: 'object', required: ['approved'] },
      },
    },
  },
}

const EnvelopeSchema = Type.Object(
  {
    tool_use_id: Type.Optional(ToolUseIdSchema),
    tool_name: Type.Optional(ToolNameSchema),
    render: Type.Optional(RenderSchema),
    output: Type.Optional(
      OpaqueJson({ description: 'The result: any JSON value, null included; kept byte for byte.' }),
    ),
    failure: Type.Optional(FailureSchema),
    suspension: Type.Optional(SuspensionSchema),
  },
  {
    title: 'Envelope',
    additionalProperties: false,
    [INSTEAD]: `A result itself goes under "output", or is sent bare: with ?envelope=none, or with a type of its own, such as application/vnd.tool+json`,
    'x-examples': ENVELOPE_EXAMPLES,
    description: 'A result in an envelope: exactly one of `output`, `failure` and `suspension`.',
  },
)
export type Envelope = Static<typeof EnvelopeSchema>

export const PutQuerySchema = Type.Object(
  {
    tool_use_id: Type.Optional(
      Type.String({
        description:
          "For a raw body: the id of the call it answers. An envelope's own comes first.",
        [SHOWN_EXAMPLES]: ['toolu_04'],
      }),
    ),
    tool_name: Type.Optional(
      Type.String({
        minLength: 1,
        maxLength: 256,
        description: "For a raw body: the tool it comes from. An envelope's own comes first.",
        [SHOWN_EXAMPLES]: ['read_file'],
      }),
    ),
    render: Type.Optional(
      Type.Enum([...RENDERS], {
        description: "For a raw body: which content to answer. An envelope's own comes first.",
        [SHOWN_EXAMPLES]: ['window'],
      }),
    ),
    envelope: Type.Optional(
      Type.Enum(['none'], {
        description:
          '`none`: a body of `application/json` is no envelope; the whole document is the value.',
        [SHOWN_EXAMPLES]: ['none'],
      }),
    ),
  },
  { additionalProperties: false },
)
export type PutQuery = Static<typeof PutQuerySchema>

export const PutHeadersSchema = Type.Object({
  'Coatcheck-Tool-Use-Id': Type.Optional(
    Type.String({
      description: 'For a raw body: the same as the query parameter `tool_use_id`, in UTF-8.',
      [SHOWN_EXAMPLES]: ['toolu_04'],
    }),
  ),
  'Idempotency-Key': Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: 255,
      description: 'Replaces the test for a retry: same key, same result; another key, a new one.',
      [SHOWN_EXAMPLES]: ['turn-7-call-2'],
    }),
  ),
})

/** Only the JSON schema is validated against; the others tell of bytes. */
export const PutBodySchema = {
  content: {
    'application/json': { schema: EnvelopeSchema },
    'text/plain': {
      schema: {
        type: 'string',
        description: 'A text, kept as its bytes.',
        examples: ['line one\nline two\n'],
      },
    },
    'application/octet-stream': { schema: { ...BYTES, description: 'Any bytes: a binary.' } },
  },
}

export const ListedResultSchema = Type.Object(
  {
    ...ResultSchema.properties,
    preview: Type.Union([Type.String(), Type.Null()], {
      description:
        'The preview; null when it is too long for a list: `GET …/results/{handle}` has it.',
    }),
  },
  { $id: 'ListedResult', additionalProperties: false, description: 'A result as a list shows it.' },
)

export const ResultPageSchema = Type.Object(
  {
    items: Type.Array(ref(ListedResultSchema), {
      description: 'The results, in the order of their handles.',
    }),
    next: NextSchema,
  },
  { $id: 'ResultPage', additionalProperties: false, description: 'A page of results.' },
)

export const ListQuerySchema = Type.Object(
  {
    limit: PageQuerySchema.properties.limit,
    after: Type.Optional(
      Type.String({
        description: 'The `next` of the page before; absent for the first.',
        [SHOWN_EXAMPLES]: ['r100'],
      }),
    ),
    tool_use_id: Type.Optional(
      Type.String({ description: 'Only the results put under this id.', examples: ['toolu_01'] }),
    ),
    tool_name: Type.Optional(
      Type.String({
        description: 'Only the results of this tool.',
        [SHOWN_EXAMPLES]: ['list_files'],
      }),
    ),
    outcome: Type.Optional(
      Type.Enum(['output', 'failure', 'suspension'], {
        description: 'Only the results with this outcome.',
        [SHOWN_EXAMPLES]: ['failure'],
      }),
    ),
    kind: Type.Optional(
      Type.Enum(['json', 'text', 'binary'], {
        description: 'Only the results of this kind.',
        [SHOWN_EXAMPLES]: ['json'],
      }),
    ),
  },
  { additionalProperties: false },
)

export const ContentQuerySchema = Type.Object(
  { render: RenderSchema },
  { additionalProperties: false },
)
