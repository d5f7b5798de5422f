/** Schemas of the routes that put and list results. */
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
          'Step that failed: the arguments (`invalid_input`), the tool (`handler`), or the serialization of its output (`output_serialization`).',
        default: 'handler',
      }),
    ),
    message: Type.Optional(
      Type.String({
        description: 'Text of the error. It need not be shortened.',
        examples: ['exit status 1'],
      }),
    ),
    messages: Type.Optional(
      Type.Array(Type.String(), {
        minItems: 1,
        description: 'Instead of `message`: the error, then its causes. They are joined with ": ".',
        examples: [['run_tests failed', 'exit status 1']],
      }),
    ),
    attempts: Type.Optional(
      Type.Integer({
        minimum: 0,
        maximum: FAILURE_ATTEMPTS_MAX,
        default: 1,
        description: 'Number of times the call was tried.',
      }),
    ),
    is_error: Type.Optional(
      Type.Literal(true, {
        description:
          'Mark of a failure in a sentinel. It is accepted so that such a failure can be put unchanged.',
      }),
    ),
  },
  {
    title: 'Failure',
    additionalProperties: false,
    description: 'A failed call, with either `message` or `messages`.',
  },
)

export const SuspensionSchema = Type.Object(
  {
    reason: Type.String({ description: 'Reason why the run waits.', examples: ['needs approval'] }),
    input_schema: OpaqueJson({
      description: 'JSON Schema of the answer that the run waits for. Any JSON value is accepted.',
    }),
  },
  {
    title: 'Suspension',
    additionalProperties: false,
    description: 'A call that waits for an answer from outside, such as an approval.',
  },
)

/** Examples of one media type, by name, as OpenAPI has them. */
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
      OpaqueJson({
        description: 'The value: any JSON value, also null. It is stored byte for byte.',
      }),
    ),
    failure: Type.Optional(FailureSchema),
    suspension: Type.Optional(SuspensionSchema),
  },
  {
    title: 'Envelope',
    additionalProperties: false,
    [INSTEAD]: `Put the value under "output", or send it as a raw body: with ?envelope=none, or with another type, such as application/vnd.tool+json`,
    'x-examples': ENVELOPE_EXAMPLES,
    description: 'A result in an envelope: exactly one of `output`, `failure` and `suspension`.',
  },
)
/** Body of a put that is an envelope. */
export type Envelope = Static<typeof EnvelopeSchema>

export const PutQuerySchema = Type.Object(
  {
    tool_use_id: Type.Optional(
      Type.String({
        description:
          'Id of the tool call, for a raw body. The member of an envelope takes precedence.',
        [SHOWN_EXAMPLES]: ['toolu_04'],
      }),
    ),
    tool_name: Type.Optional(
      Type.String({
        minLength: 1,
        maxLength: 256,
        description:
          'Name of the tool, for a raw body. The member of an envelope takes precedence.',
        [SHOWN_EXAMPLES]: ['read_file'],
      }),
    ),
    render: Type.Optional(
      Type.Enum([...RENDERS], {
        description:
          'Rendering of the content, for a raw body. The member of an envelope takes precedence.',
        [SHOWN_EXAMPLES]: ['window'],
      }),
    ),
    envelope: Type.Optional(
      Type.Enum(['none'], {
        description:
          'With `none`, a body of `application/json` is not an envelope but the value itself.',
        [SHOWN_EXAMPLES]: ['none'],
      }),
    ),
  },
  { additionalProperties: false },
)
/** Query of a put. */
export type PutQuery = Static<typeof PutQuerySchema>

export const PutHeadersSchema = Type.Object({
  'Coatcheck-Tool-Use-Id': Type.Optional(
    Type.String({
      description:
        'Id of the tool call, for a raw body, in UTF-8. The query parameter `tool_use_id` takes precedence.',
      [SHOWN_EXAMPLES]: ['toolu_04'],
    }),
  ),
  'Idempotency-Key': Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: 255,
      description:
        'Names the put. A put with the same key is a retry; a put with another key stores a new result.',
      [SHOWN_EXAMPLES]: ['turn-7-call-2'],
    }),
  ),
})

/** Bodies are validated against the JSON schema only. The others document raw bodies. */
export const PutBodySchema = {
  content: {
    'application/json': { schema: EnvelopeSchema },
    'text/plain': {
      schema: {
        type: 'string',
        description: 'A text. Its bytes are stored.',
        examples: ['line one\nline two\n'],
      },
    },
    'application/octet-stream': {
      schema: { ...BYTES, description: 'Any bytes, stored as the kind `binary`.' },
    },
  },
}

export const ListedResultSchema = Type.Object(
  {
    ...ResultSchema.properties,
    preview: Type.Union([Type.String(), Type.Null()], {
      description:
        'Preview of the value; null when it is too long for a list. `GET …/results/{handle}` returns it.',
    }),
  },
  {
    $id: 'ListedResult',
    additionalProperties: false,
    description: 'A stored result, as an item of a list.',
  },
)

export const ResultPageSchema = Type.Object(
  {
    items: Type.Array(ref(ListedResultSchema), {
      description: 'Results, in the order of their handles.',
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
        description: 'The `next` of the page before; absent for the first page.',
        [SHOWN_EXAMPLES]: ['r100'],
      }),
    ),
    tool_use_id: Type.Optional(
      Type.String({
        description: 'Only results of the call with this id.',
        examples: ['toolu_01'],
      }),
    ),
    tool_name: Type.Optional(
      Type.String({
        description: 'Only results of this tool.',
        [SHOWN_EXAMPLES]: ['list_files'],
      }),
    ),
    outcome: Type.Optional(
      Type.Enum(['output', 'failure', 'suspension'], {
        description: 'Only results with this outcome.',
        [SHOWN_EXAMPLES]: ['failure'],
      }),
    ),
    kind: Type.Optional(
      Type.Enum(['json', 'text', 'binary'], {
        description: 'Only results of this kind.',
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
