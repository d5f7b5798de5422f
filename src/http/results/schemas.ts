import { Type, type Static } from 'typebox'
import { OpaqueJson } from '../body.ts'
import { NextSchema, PageQuerySchema, ref, RenderSchema, ResultSchema, ToolNameSchema, ToolUseIdSchema } from '../schemas.ts'

export const FailureSchema = Type.Object(
  {
    kind: Type.Optional(
      Type.Enum(['invalid_input', 'handler', 'output_serialization'], {
        description: 'Which layer failed.',
        default: 'handler',
      }),
    ),
    message: Type.Optional(Type.String({ description: 'The whole error.' })),
    messages: Type.Optional(
      Type.Array(Type.String(), {
        minItems: 1,
        description: 'Instead of `message`: the error and its causes, top first; joined with ": ".',
      }),
    ),
    attempts: Type.Optional(
      Type.Integer({ minimum: 0, maximum: 4_294_967_295, default: 1, description: 'Executions, retries included.' }),
    ),
  },
  { additionalProperties: false },
)

export const SuspensionSchema = Type.Object(
  {
    reason: Type.String({ description: 'Why the run waits.' }),
    input_schema: OpaqueJson({ description: 'The JSON Schema of the answer it waits for; any JSON value.' }),
  },
  { additionalProperties: false },
)

export const EnvelopeSchema = Type.Object(
  {
    tool_use_id: Type.Optional(ToolUseIdSchema),
    tool_name: Type.Optional(ToolNameSchema),
    render: Type.Optional(RenderSchema),
    output: Type.Optional(OpaqueJson({ description: 'The result: any JSON value, null included.' })),
    failure: Type.Optional(FailureSchema),
    suspension: Type.Optional(SuspensionSchema),
  },
  {
    additionalProperties: false,
    description: 'A result in an envelope: exactly one of `output`, `failure` and `suspension`.',
  },
)
export type Envelope = Static<typeof EnvelopeSchema>

export const PutQuerySchema = Type.Object(
  {
    tool_use_id: Type.Optional(Type.String({ description: 'For a raw body: the call it answers.' })),
    tool_name: Type.Optional(Type.String({ minLength: 1, maxLength: 256, description: 'For a raw body: the tool.' })),
    render: Type.Optional(RenderSchema),
  },
  { additionalProperties: false },
)
export type PutQuery = Static<typeof PutQuerySchema>

export const PutHeadersSchema = Type.Object({
  'coatcheck-tool-use-id': Type.Optional(
    Type.String({ description: 'For a raw body: the same as the query parameter `tool_use_id`, in UTF-8.' }),
  ),
  'idempotency-key': Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: 255,
      description: 'Replaces the test for a retry: same key, same result; another key, a new one.',
    }),
  ),
})

export const ENVELOPE_EXAMPLES = {
  output: {
    summary: 'A bulky result',
    value: {
      tool_use_id: 'toolu_01',
      tool_name: 'list_files',
      render: 'preview',
      output: { rows: [{ id: 9007199254740993, name: 'a.txt' }, { id: 2, name: 'b.txt' }], total: 2 },
    },
  },
  failure: {
    summary: 'A failed call',
    value: { tool_use_id: 'toolu_02', tool_name: 'run_tests', failure: { messages: ['run_tests failed', 'exit status 1'], attempts: 2 } },
  },
  suspension: {
    summary: 'A call that waits for a person',
    value: { tool_use_id: 'toolu_03', tool_name: 'deploy', suspension: { reason: 'needs approval', input_schema: { type: 'object', required: ['approved'] } } },
  },
}

export const ResultPageSchema = Type.Object(
  { items: Type.Array(ref(ResultSchema)), next: NextSchema },
  { $id: 'ResultPage', additionalProperties: false },
)

export const ListQuerySchema = Type.Object(
  {
    ...PageQuerySchema.properties,
    tool_use_id: Type.Optional(Type.String({ description: 'Only the results put under this id.' })),
  },
  { additionalProperties: false },
)

export const ContentQuerySchema = Type.Object({ render: RenderSchema }, { additionalProperties: false })

export const ValueQuerySchema = Type.Object(
  {
    as: Type.Optional(Type.Enum(['text'], { description: 'The text view instead of the bytes.' })),
    path: Type.Optional(Type.String({ description: 'A slice of a JSON value, by dotted path: `rows.0`.' })),
    pointer: Type.Optional(Type.String({ description: 'A slice of a JSON value, by JSON Pointer: `/rows/0`.' })),
  },
  { additionalProperties: false },
)
export type ValueQuery = Static<typeof ValueQuerySchema>
