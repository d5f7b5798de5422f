/** Schemas of the routes of sentinels. */
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
    description: 'Exactly one of `suspension` and `failure`.',
    examples: [
      { failure: { kind: 'handler', messages: ['fetch failed', 'connection reset'], attempts: 3 } },
    ],
  },
)

export const EncodedSchema = Type.Object(
  {
    output: Type.Unknown({
      description: 'Sentinel to record as the output of the call.',
    }),
  },
  {
    $id: 'Encoded',
    additionalProperties: false,
    description: 'A suspension or a failure as a JSON value.',
  },
)

export const DecodeSchema = Type.Object(
  { output: OpaqueJson({ description: 'Recorded output: any JSON value.' }) },
  {
    title: 'RecordedOutput',
    additionalProperties: false,
    description: 'An output to decode.',
    examples: [{ output: EXAMPLE_SUSPENDED }],
  },
)

const nullable = (schema: TSchema, description: string) =>
  Type.Union([schema, Type.Null()], { description })

export const DecodedSchema = Type.Object(
  {
    kind: Type.Enum(['suspension', 'failure', 'output'], {
      description: 'Kind of the output. `output` is an ordinary output, which is no sentinel.',
    }),
    suspension: nullable(
      Type.Object(
        {
          reason: Type.String({ description: 'Reason why the run waits.' }),
          input_schema: Type.Unknown({
            description: 'JSON Schema of the answer that the run waits for.',
          }),
        },
        { title: 'DecodedSuspension', description: 'A recorded suspension.' },
      ),
      'The suspension; null for another kind.',
    ),
    failure: nullable(
      Type.Object(
        {
          kind: Type.String({ description: 'Step that failed.' }),
          message: Type.String({ description: 'Text of the error, whole.' }),
          attempts: Type.Integer({ description: 'Number of times the call was tried.' }),
        },
        { title: 'DecodedFailure', description: 'A recorded failure.' },
      ),
      'The failure; null for another kind.',
    ),
  },
  { $id: 'Decoded', additionalProperties: false, description: 'A decoded output.' },
)

const FailedEventSchema = Type.Object(
  {
    tool: Type.String({ description: 'Name of the tool that failed.' }),
    message: Type.String({ description: 'Text of the error, whole.' }),
  },
  { title: 'FailedEvent', additionalProperties: false, description: 'A failed call.' },
)
const SuccessEventSchema = Type.Object(
  { success: Type.Literal(true, { description: 'Always true.' }) },
  { title: 'SuccessEvent', additionalProperties: false, description: 'A call that went well.' },
)

export const CompactFailuresSchema = Type.Object(
  {
    events: Type.Array(Type.Union([FailedEventSchema, SuccessEventSchema]), {
      description: "Outcomes of a run's calls, in order.",
    }),
  },
  {
    title: 'FailureLog',
    additionalProperties: false,
    description: 'Outcomes of the calls of a run.',
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
      description: 'Text for the model for each failure; null for each success.',
    }),
  },
  {
    $id: 'CompactedFailures',
    additionalProperties: false,
    description: 'Failures as a model reads them.',
  },
)
