import { Type } from 'typebox'
import { OpaqueJson } from '../body.ts'
import { FailureSchema, SuspensionSchema } from '../results/schemas.ts'

export const EncodeSchema = Type.Object(
  { suspension: Type.Optional(SuspensionSchema), failure: Type.Optional(FailureSchema) },
  {
    additionalProperties: false,
    examples: [{ failure: { kind: 'handler', messages: ['fetch failed', 'connection reset'], attempts: 3 } }],
  },
)

export const EncodedSchema = Type.Object(
  { output: Type.Unknown({ description: 'The sentinel, to record as the call\'s output.' }) },
  { $id: 'Encoded', additionalProperties: false },
)

export const DecodeSchema = Type.Object(
  { output: OpaqueJson({ description: 'A recorded output: any JSON value.' }) },
  {
    additionalProperties: false,
    examples: [{ output: { __salvor_suspend: { reason: 'needs approval', input_schema: { type: 'object' } } } }],
  },
)

const nullable = (schema: Parameters<typeof Type.Union>[0][number]) => Type.Union([schema, Type.Null()])

export const DecodedSchema = Type.Object(
  {
    kind: Type.Enum(['suspension', 'failure', 'output']),
    suspension: nullable(Type.Object({ reason: Type.String(), input_schema: Type.Unknown() })),
    failure: nullable(Type.Object({ kind: Type.String(), message: Type.String(), attempts: Type.Integer() })),
  },
  { $id: 'Decoded', additionalProperties: false },
)

const FailedEventSchema = Type.Object(
  { tool: Type.String(), message: Type.String() },
  { additionalProperties: false },
)
const SuccessEventSchema = Type.Object({ success: Type.Literal(true) }, { additionalProperties: false })

export const CompactFailuresSchema = Type.Object(
  {
    events: Type.Array(Type.Union([FailedEventSchema, SuccessEventSchema]), {
      description: 'What a run\'s calls came to, in order.',
    }),
  },
  {
    additionalProperties: false,
    examples: [{ events: [{ tool: 'fetch', message: 'timeout' }, { tool: 'fetch', message: 'timeout' }, { success: true }] }],
  },
)

export const CompactedFailuresSchema = Type.Object(
  {
    contents: Type.Array(Type.Union([Type.String(), Type.Null()]), {
      description: 'Per failure the text for the model; null per success.',
    }),
  },
  { $id: 'CompactedFailures', additionalProperties: false },
)
