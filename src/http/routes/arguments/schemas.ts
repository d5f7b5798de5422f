import { Type } from 'typebox'
import { UNRESOLVED_REASONS } from '../../../core/references.ts'
import { OpaqueJson } from '../../body/json-body.ts'
import {
  EXAMPLE_INPUT_SCHEMA,
  EXAMPLE_TOOL,
  RunIdSchema,
  ToolNameSchema,
} from '../shared-schemas.ts'

const ExampleToolNameSchema = { ...ToolNameSchema, examples: [EXAMPLE_TOOL] }

export const ToolParams = Type.Object({ run_id: RunIdSchema, tool_name: ExampleToolNameSchema })

export const ResolveSchema = Type.Object(
  {
    arguments: OpaqueJson({
      description:
        'The call\'s arguments as the model gave them: any JSON value. A string that is, as a whole, a reference (`"$r1"`, `"$r1.rows.0"`, `"$r1#/rows/0"`) is replaced by what it stands for.',
    }),
    input_schema: Type.Optional(
      OpaqueJson({
        description:
          'The JSON Schema that the resolved arguments are validated against; or give `tool_name`.',
      }),
    ),
    tool_name: Type.Optional(
      Type.String({
        ...ExampleToolNameSchema,
        description: 'A registered tool, whose schema is the one to validate against.',
      }),
    ),
    mode: Type.Optional(
      Type.Enum(['lenient', 'strict'], {
        default: 'lenient',
        description: '`strict`: a reference that stands for nothing makes the call invalid.',
      }),
    ),
  },
  {
    title: 'Call',
    additionalProperties: false,
    description: 'A call as the model made it, and what to validate it against, if anything.',
    examples: [
      {
        arguments: {
          files: '$r1.rows',
          first: '$r1#/rows/0/name',
          to: 'backup/',
          note: 'costs $5.00',
        },
        tool_name: EXAMPLE_TOOL,
      },
    ],
  },
)

const textOrNull = (description: string) =>
  Type.Union([Type.String(), Type.Null()], { description })

const UnresolvedSchema = Type.Object(
  {
    reference: Type.String({
      description:
        'The string, as it stands in the arguments; of more than 256 characters the start.',
    }),
    at: Type.String({ description: 'Where it stands in the arguments, as a JSON Pointer.' }),
    reason: Type.Enum([...UNRESOLVED_REASONS], {
      title: 'UnresolvedReason',
      description: 'Why it stands for nothing.',
    }),
    available: Type.Array(Type.String(), { description: 'What there is instead; a bounded list.' }),
  },
  {
    title: 'UnresolvedReference',
    additionalProperties: false,
    description: 'A string of the shape of a reference that stands for nothing.',
  },
)

const CallErrorSchema = Type.Object(
  {
    path: Type.String({ description: 'JSON Pointer into the resolved arguments.' }),
    code: Type.String({ description: 'The keyword of the schema, or `unresolved_reference`.' }),
    message: Type.String({ description: 'What is wrong, in words for the model.' }),
    expected: textOrNull('What would be right.'),
    received: textOrNull('What came: its type and a short sample.'),
    schema_path: textOrNull('The place in the schema.'),
    reference: textOrNull('The reference that the value came from, if any.'),
  },
  {
    title: 'CallError',
    additionalProperties: false,
    description: 'One thing that is wrong with a call.',
  },
)

const WarningsSchema = Type.Array(
  Type.Object(
    {
      code: Type.Enum(['unknown_keyword', 'unknown_format', 'non_unicode_pattern'], {
        title: 'SchemaWarningCode',
        description: 'What is not known.',
      }),
      message: Type.String({ description: 'The same in words.' }),
      schema_path: Type.String({ description: 'Its place in the schema.' }),
    },
    {
      title: 'SchemaWarning',
      additionalProperties: false,
      description: 'A part of a schema that says nothing in its dialect.',
    },
  ),
  {
    description:
      'Keywords and formats of the schema that its dialect does not know, and that therefore say nothing; a bounded list.',
  },
)

export const ResolvedSchema = Type.Object(
  {
    arguments: Type.Unknown({
      description:
        'The arguments, with values in the place of references; every other byte as it came.',
    }),
    resolved: Type.Array(Type.String(), {
      description: 'The references that were resolved, without their `$`, in document order.',
    }),
    unresolved: Type.Array(UnresolvedSchema, {
      description:
        'Strings of the shape of a reference that stand for nothing; they stay as they were.',
    }),
    valid: Type.Union([Type.Boolean(), Type.Null()], {
      description: 'Whether the tool may be called with them; null without a schema.',
    }),
    errors: Type.Array(CallErrorSchema, {
      description: 'What the model has to mend; a bounded list.',
    }),
    errors_total: Type.Integer({ description: 'How many errors there are in all.' }),
    warnings: WarningsSchema,
    failure: Type.Unknown({
      description: 'The `invalid_input` sentinel to record for an invalid call; else null.',
    }),
  },
  {
    $id: 'Resolved',
    additionalProperties: false,
    description: 'What the tool would really get, and whether it may.',
  },
)

export const ToolSchema = Type.Object(
  { input_schema: OpaqueJson({ description: "The JSON Schema of the tool's arguments." }) },
  {
    title: 'Tool',
    additionalProperties: false,
    description: 'A tool, by the schema of its arguments.',
    examples: [{ input_schema: EXAMPLE_INPUT_SCHEMA }],
  },
)

export const RegisteredToolSchema = Type.Object(
  {
    run_id: Type.String({ description: 'The run.' }),
    tool_name: Type.String({ description: 'The tool.' }),
    warnings: WarningsSchema,
  },
  { $id: 'RegisteredTool', additionalProperties: false, description: 'A tool that is registered.' },
)
