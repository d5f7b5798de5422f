import { Type, type Static } from 'typebox'
import { UNRESOLVED_REASONS } from '../../core/references.ts'
import { OpaqueJson } from '../body.ts'
import { ToolNameSchema } from '../schemas.ts'

export const ResolveSchema = Type.Object(
  {
    arguments: OpaqueJson({
      description:
        'The call\'s arguments as the model gave them: any JSON value. A string that is, as a whole, a reference (`"$r1"`, `"$r1.rows.0"`, `"$r1#/rows/0"`) is replaced by what it stands for.',
    }),
    input_schema: Type.Optional(
      OpaqueJson({ description: 'The JSON Schema that the resolved arguments are validated against.' }),
    ),
    tool_name: Type.Optional(ToolNameSchema),
    mode: Type.Optional(
      Type.Enum(['lenient', 'strict'], {
        default: 'lenient',
        description: '`strict`: a reference that stands for nothing makes the call invalid.',
      }),
    ),
  },
  {
    additionalProperties: false,
    examples: [
      {
        arguments: { row: '$r1.rows.0', all: '$r1#/rows', note: 'costs $5.00' },
        input_schema: { type: 'object', properties: { row: { type: 'object' }, all: { type: 'array' } } },
      },
    ],
  },
)
export type ResolveBody = Static<typeof ResolveSchema>

const AnyJson = (description: string) => Type.Unknown({ description })
const StringOrNull = Type.Union([Type.String(), Type.Null()])

export const ResolvedSchema = Type.Object(
  {
    arguments: AnyJson('The arguments, with values in the place of references; every other byte as it came.'),
    resolved: Type.Array(Type.String(), {
      description: 'The references that were resolved, without their `$`, in document order.',
    }),
    unresolved: Type.Array(
      Type.Object(
        {
          reference: Type.String(),
          at: Type.String({ description: 'Where it stands in the arguments, as a JSON Pointer.' }),
          reason: Type.Enum([...UNRESOLVED_REASONS]),
          available: Type.Array(Type.String(), { description: 'What there is instead; a bounded list.' }),
        },
        { additionalProperties: false },
      ),
      { description: 'Strings of the shape of a reference that stand for nothing; they stay as they were.' },
    ),
    valid: Type.Union([Type.Boolean(), Type.Null()], { description: 'Null without a schema.' }),
    errors: Type.Array(
      Type.Object(
        {
          path: Type.String({ description: 'JSON Pointer into the resolved arguments.' }),
          code: Type.String({ description: 'The keyword of the schema, or `unresolved_reference`.' }),
          message: Type.String(),
          expected: StringOrNull,
          received: StringOrNull,
          schema_path: StringOrNull,
        },
        { additionalProperties: false },
      ),
      { description: 'What the model has to mend; a bounded list.' },
    ),
    errors_total: Type.Integer({ description: 'How many errors there are in all.' }),
    failure: Type.Unknown({ description: 'The `invalid_input` sentinel to record for an invalid call; else null.' }),
  },
  { $id: 'Resolved', additionalProperties: false },
)

export const ToolSchema = Type.Object(
  { input_schema: OpaqueJson({ description: 'The JSON Schema of the tool\'s arguments.' }) },
  {
    additionalProperties: false,
    examples: [
      { input_schema: { type: 'object', properties: { rows: { type: 'array' } }, required: ['rows'] } },
    ],
  },
)

export const RegisteredToolSchema = Type.Object(
  { run_id: Type.String(), tool_name: Type.String() },
  { $id: 'RegisteredTool', additionalProperties: false },
)
