import { Type, type Static } from 'typebox'
import { VERBATIM_MAX_CHARS, VERBATIM_MIN_CHARS } from '../../core/limits.ts'
import { OpaqueJson } from '../body.ts'
import { FormatSchema, NextSchema, ref } from '../schemas.ts'

const MAX_TTL_SECONDS = 10 * 365 * 24 * 3600

const ToolPatchSchema = Type.Union([
  Type.Object(
    { input_schema: OpaqueJson({ description: 'The JSON Schema of its arguments.' }) },
    { additionalProperties: false },
  ),
  Type.Null(),
])

export const RunPatchSchema = Type.Object(
  {
    ttl_seconds: Type.Optional(
      Type.Union([Type.Integer({ minimum: 1, maximum: MAX_TTL_SECONDS }), Type.Null()], {
        description: 'Idle time after which the run ends itself. Absent: unchanged; null: the default.',
      }),
    ),
    verbatim_limit_chars: Type.Optional(
      Type.Union(
        [Type.Integer({ minimum: VERBATIM_MIN_CHARS, maximum: VERBATIM_MAX_CHARS }), Type.Null()],
        {
          description:
            'Most characters of a result that its content carries verbatim; also the size of windows and recall pages.',
        },
      ),
    ),
    format: Type.Optional(FormatSchema),
    tools: Type.Optional(
      Type.Record(Type.String({ minLength: 1, maxLength: 256 }), ToolPatchSchema, {
        description: 'Tools by name, merged with those there are; null removes one.',
      }),
    ),
  },
  {
    additionalProperties: false,
    examples: [
      {
        ttl_seconds: 86400,
        tools: {
          list_files: {
            input_schema: {
              type: 'object',
              properties: { rows: { type: 'array' } },
              required: ['rows'],
            },
          },
        },
      },
    ],
  },
)
export type RunPatchBody = Static<typeof RunPatchSchema>

export const RunSchema = Type.Object(
  {
    run_id: Type.String(),
    state: Type.Enum(['open', 'ended', 'expired', 'evicted']),
    format: FormatSchema,
    ttl_seconds: Type.Integer(),
    verbatim_limit_chars: Type.Integer(),
    tools: Type.Array(Type.String(), { description: 'Names of the registered tools.' }),
    created_at: Type.String({ format: 'date-time' }),
    last_request_at: Type.String({ format: 'date-time' }),
    ended_at: Type.Union([Type.String({ format: 'date-time' }), Type.Null()]),
    results: Type.Integer({ description: 'How many results it keeps.' }),
    kept_bytes: Type.Integer({ description: 'Bytes of their values.' }),
    produced_chars: Type.Integer({ description: 'Characters of their text views.' }),
    shown_chars: Type.Integer({ description: 'Characters that their contents showed instead.' }),
  },
  { $id: 'Run', additionalProperties: false, description: 'A run, its settings and its totals.' },
)

export const RunPageSchema = Type.Object(
  { items: Type.Array(ref(RunSchema)), next: NextSchema },
  { $id: 'RunPage', additionalProperties: false },
)

export const EndedSchema = Type.Object(
  {
    run_id: Type.String(),
    purged: Type.Boolean(),
    results: Type.Integer({ description: 'Results that stopped resolving, or were erased.' }),
    kept_bytes: Type.Integer({ description: 'Bytes of their values.' }),
  },
  { $id: 'EndedRun', additionalProperties: false },
)

export const EndQuerySchema = Type.Object(
  {
    purge: Type.Boolean({
      default: false,
      description: 'Erase everything, instead of keeping the evidence until retention ends.',
    }),
  },
  { additionalProperties: false },
)
