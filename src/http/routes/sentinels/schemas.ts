import { type TSchema, Type } from 'typebox'
import { OpaqueJson } from '../../body/json-body.ts'
import { FailureSchema, SuspensionSchema } from '../results/schemas.ts'

const EXAMPLE_SUSPENDED = {
  __salvor_suspend: { reason: 'needs approval', input_schema: { type: 'object' } },
}

export const EncodeSchema = Type.Object(
  { suspension: Type.Optional(SuspensionSchema), failure: Type.Optional(FailureSchema) },
  {
    title: 'SentinelRequest',
    additionalProperties: false,
    description: 'What to encode: exactly one of the two.',
    examples: [
      { failure: { kind: 'handler', messages: ['fetch failed', 'connection reset'], attempts: 3 } },
    ],
  },
)

export const EncodedSchema = Type.Object(
  {
    output: Type.Unknown({
      description: "The sentinel, to record as the call's output.",
    }),
  },
  {
    $id: 'Encoded',
    additionalProperties: false,
    description: 'A suspension or a failure as a value.',
  },
)

export const DecodeSchema = Type.Object(
  { output: OpaqueJson({ description: 'A recorded output: any JSON value.' }) },
  {
    title: 'RecordedOutput',
    additionalProperties: false,
    description: 'An output to look at.',
    examples: [{ output: EXAMPLE_SUSPENDED }],
  },
)

const nullable = (schema: TSchema, description: string) =>
  Type.Union([schema, Type.Null()], { description })

export const DecodedSchema = Type.Object(
  {
    kind: Type.Enum(['suspension', 'failure', 'output'], {
      description: 'What it is; an `output` that looks like neither is an ordinary one.',
    }),
    suspension: nullable(
      Type.Object(
        {
          reason: Type.String({ description: 'Why the run waits.' }),
          input_schema: Type.Unknown({
            description: 'The JSON Schema of the answer it waits for.',
          }),
        },
        { title: 'DecodedSuspension', description: 'A suspension that was recorded.' },
      ),
      'Null for what is no suspension.',
    ),
    failure: nullable(
      Type.Object(
        {
          kind: Type.String({ description: 'Which layer failed.' }),
          message: Type.String({ description: 'The whole error.' }),
          attempts: Type.Integer({ description: 'How often it was tried.' }),
        },
        { title: 'DecodedFailure', description: 'A failure that was recorded.' },
      ),
      'Null for what is no failure.',
    ),
  },
  { $id: 'Decoded', additionalProperties: false, description: 'What a recorded output is.' },
)

const FailedEventSchema = Type.Object(
  {
    tool: Type.String({ description: 'The tool that failed.' }),
    message: Type.String({ description: 'The whole error.' }),
  },
  { title: 'FailedEvent', additionalProperties: false, description: 'A call that failed.' },
)
const SuccessEventSchema = Type.Object(
  { success: Type.Literal(true, { description: 'It did.' }) },
  { title: 'SuccessEvent', additionalProperties: false, description: 'A call that succeeded.' },
)

export const CompactFailuresSchema = Type.Object(
  {
    events: Type.Array(Type.Union([FailedEventSchema, SuccessEventSchema]), {
      description: "What a run's calls came to, in order.",
    }),
  },
  {
    title: 'FailureLog',
    additionalProperties: false,
    description: 'What the calls of a run came to.',
    examples: [
      {
        events: [
          { tool: 'fetch', message: 'timeout' },
          { tool: 'fetch', message: 'timeout' },
          { success: true },
        ],
      },
    ],
  },
)

export const CompactedFailuresSchema = Type.Object(
  {
    contents: Type.Array(Type.Union([Type.String(), Type.Null()]), {
      description: 'Per failure the text for the model; null per success.',
    }),
  },
  {
    $id: 'CompactedFailures',
    additionalProperties: false,
    description: 'Failures as a model reads them.',
  },
)
