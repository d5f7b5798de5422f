/** Schemas of the routes of arguments. */
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
        'Arguments of the call as the model gave them: any JSON value. A string that is a whole reference (`"$r1"`, `"$r1.rows.0"`, `"$r1#/rows/0"`) is replaced by the value that it stands for.',
    }),
    input_schema: Type.Optional(
      OpaqueJson({
        description:
          'JSON Schema that the resolved arguments are validated against. Give it or `tool_name`, not both.',
      }),
    ),
    tool_name: Type.Optional(
      Type.String({
        ...ExampleToolNameSchema,
        description: 'Registered tool whose schema the resolved arguments are validated against.',
      }),
    ),
    mode: Type.Optional(
      Type.Enum(['lenient', 'strict'], {
        default: 'lenient',
        description: 'With `strict`, an unresolved reference makes the call invalid.',
      }),
    ),
  },
  {
    title: 'Call',
    additionalProperties: false,
    description:
      'A call as the model made it, and optionally a schema or a tool to validate it against.',
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
        'The reference, as it stands in the arguments. Only the start of one that is longer than 256 characters.',
    }),
    at: Type.String({ description: 'Place in the arguments, as a JSON Pointer.' }),
    reason: Type.Enum([...UNRESOLVED_REASONS], {
      title: 'UnresolvedReason',
      description: 'Reason why the reference was not resolved.',
    }),
    available: Type.Array(Type.String(), {
      description: 'Names or indices that exist where the reference found nothing; a bounded list.',
    }),
  },
  {
    title: 'UnresolvedReference',
    additionalProperties: false,
    description: 'A string that has the form of a reference and stands for nothing.',
  },
)

const CallErrorSchema = Type.Object(
  {
    path: Type.String({ description: 'Place in the resolved arguments, as a JSON Pointer.' }),
    code: Type.String({ description: 'Keyword of the schema, or `unresolved_reference`.' }),
    message: Type.String({ description: 'Text of the error, for the model.' }),
    expected: textOrNull('What the schema asks for.'),
    received: textOrNull('What came: its type and a short sample.'),
    schema_path: textOrNull('Place in the schema.'),
    reference: textOrNull('Reference that the value came from, if any.'),
  },
  {
    title: 'CallError',
    additionalProperties: false,
    description: 'An error of the arguments.',
  },
)

const WarningsSchema = Type.Array(
  Type.Object(
    {
      code: Type.Enum(['unknown_keyword', 'unknown_format', 'non_unicode_pattern'], {
        title: 'SchemaWarningCode',
        description: 'Kind of the warning.',
      }),
      message: Type.String({ description: 'Text of the warning.' }),
      schema_path: Type.String({ description: 'Place in the schema.' }),
    },
    {
      title: 'SchemaWarning',
      additionalProperties: false,
      description: 'A warning about a part of the schema.',
    },
  ),
  {
    description:
      'Keywords and formats of the schema that have no effect, and patterns that are read without Unicode mode; a bounded list.',
  },
)

export const ResolvedSchema = Type.Object(
  {
    arguments: Type.Unknown({
      description:
        'Arguments with references replaced by their values. Every other byte is as it came.',
    }),
    resolved: Type.Array(Type.String(), {
      description: 'References that were resolved, without their `$`, in document order.',
    }),
    unresolved: Type.Array(UnresolvedSchema, {
      description:
        'Strings that have the form of a reference and stand for nothing. They stay in the arguments.',
    }),
    valid: Type.Union([Type.Boolean(), Type.Null()], {
      description: 'True when the arguments fit the schema; null without a schema.',
    }),
    errors: Type.Array(CallErrorSchema, {
      description: 'Errors of the arguments; a bounded list.',
    }),
    errors_total: Type.Integer({ description: 'Number of all errors.' }),
    warnings: WarningsSchema,
    failure: Type.Unknown({
      description: 'Sentinel of the kind `invalid_input` to record for an invalid call; else null.',
    }),
  },
  {
    $id: 'Resolved',
    additionalProperties: false,
    description: 'Arguments that the tool would get, and whether they are valid.',
  },
)

export const ToolSchema = Type.Object(
  { input_schema: OpaqueJson({ description: "JSON Schema of the tool's arguments." }) },
  {
    title: 'Tool',
    additionalProperties: false,
    description: 'A tool, described by the schema of its arguments.',
    examples: [{ input_schema: EXAMPLE_INPUT_SCHEMA }],
  },
)

export const RegisteredToolSchema = Type.Object(
  {
    run_id: Type.String({ description: 'Name of the run.' }),
    tool_name: Type.String({ description: 'Name of the tool.' }),
    warnings: WarningsSchema,
  },
  { $id: 'RegisteredTool', additionalProperties: false, description: 'A registered tool.' },
)
