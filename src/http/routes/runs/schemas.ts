/** Schemas of the routes of runs. */
import { type Static, Type } from 'typebox'
import { VERBATIM_MAX_CHARS, VERBATIM_MIN_CHARS } from '../../../core/limits.ts'
import { RUN_ORDERS } from '../../../ledger/lists.ts'
import { OpaqueJson } from '../../body/json-body.ts'
import {
  FormatSchema,
  NextSchema,
  PageQuerySchema,
  RunIdSchema,
  ref,
  SHOWN_EXAMPLES,
} from '../shared-schemas.ts'

const MAX_TTL_SECONDS = 10 * 365 * 24 * 3600
/** Separate run for the example of ending one: the examples after it still need the other run. */
const EXAMPLE_RUN_TO_END = 'demo-to-end'

const ToolPatchSchema = Type.Union(
  [
    Type.Object(
      {
        input_schema: OpaqueJson({
          description:
            'JSON Schema of the arguments. Its `$schema` names the dialect; 2020-12 when absent.',
        }),
      },
      { additionalProperties: false },
    ),
    Type.Null(),
  ],
  { description: 'Tool of the run; null removes it.' },
)

export const RunPatchSchema = Type.Object(
  {
    ttl_seconds: Type.Optional(
      Type.Union([Type.Integer({ minimum: 1, maximum: MAX_TTL_SECONDS }), Type.Null()], {
        description:
          'Idle seconds after which the run expires. Absent: unchanged. Null: the default of the service, 7 days unless it is set otherwise.',
      }),
    ),
    verbatim_limit_chars: Type.Optional(
      Type.Union(
        [Type.Integer({ minimum: VERBATIM_MIN_CHARS, maximum: VERBATIM_MAX_CHARS }), Type.Null()],
        {
          description:
            'Characters up to which a result is shown whole. It also bounds windows and recall pages. Absent: unchanged. Null: the default of the service, 30,000 unless it is set otherwise.',
        },
      ),
    ),
    format: Type.Optional(FormatSchema),
    tools: Type.Optional(
      // Not a Record, whose pattern does not match names that hold a line end.
      Type.Unsafe<Record<string, Static<typeof ToolPatchSchema>>>({
        type: 'object',
        additionalProperties: ToolPatchSchema,
        description: 'Tools by name. They are merged with the tools of the run; null removes one.',
      }),
    ),
  },
  {
    title: 'RunSettings',
    additionalProperties: false,
    description: 'Settings to change. An empty object opens the run with the defaults.',
    examples: [
      {
        ttl_seconds: 86400,
        verbatim_limit_chars: 30000,
        tools: {
          read_file: {
            input_schema: {
              type: 'object',
              properties: { name: { type: 'string' } },
              required: ['name'],
            },
          },
        },
      },
    ],
  },
)

const time = (description: string) => Type.String({ format: 'date-time', description })
const total = (description: string) => Type.Integer({ description })

const RunStateSchema = Type.Enum(['open', 'ended', 'expired', 'evicted'], {
  title: 'RunState',
  description:
    'Only an `open` run takes results and resolves references. A run that is `ended`, or `expired` because it was idle for too long, keeps its evidence until it is `evicted`.',
})

export const RunSummarySchema = Type.Object(
  {
    run_id: Type.String({ description: 'Name of the run.' }),
    state: RunStateSchema,
    format: FormatSchema,
    ttl_seconds: total('Idle seconds after which the run expires.'),
    verbatim_limit_chars: total('Characters up to which a result is shown whole.'),
    tool_count: total('Number of tools that are registered in the run.'),
    tool_bytes: total('Bytes (UTF-8) of the names and schemas of its tools.'),
    created_at: time('Time when the run was opened.'),
    last_request_at: time('Time of the last request that named the run. Idle time counts from it.'),
    ended_at: Type.Union([Type.String({ format: 'date-time' }), Type.Null()], {
      description: 'Time when the run ended or expired; null while it is open.',
    }),
    results: total('Number of its results.'),
    kept_bytes: total('Bytes of the values of its results.'),
    produced_chars: total('Characters of the text views of its results.'),
    shown_chars: total('Characters of the contents of its results.'),
  },
  {
    $id: 'RunSummary',
    additionalProperties: false,
    description: 'Settings and totals of a run, as an item of a list.',
  },
)

export const RunSchema = Type.Object(
  {
    ...RunSummarySchema.properties,
    tools: Type.Array(Type.String(), { description: 'Names of the registered tools, sorted.' }),
  },
  { $id: 'Run', additionalProperties: false, description: 'Settings and totals of a run.' },
)

export const RunsQuerySchema = Type.Object(
  {
    limit: PageQuerySchema.properties.limit,
    after: PageQuerySchema.properties.after,
    order: Type.Enum([...RUN_ORDERS], {
      title: 'RunOrder',
      default: 'run_id',
      description:
        'Order of the runs. Runs with the same time are ordered by their names. With `created_at` and `last_request_at` the service reads all runs for each page.',
    }),
    desc: Type.Boolean({ default: false, description: 'List the last runs of the order first.' }),
    state: Type.Optional(
      Type.Enum(['open', 'ended', 'expired', 'evicted'], {
        description: 'Only runs in this state.',
        [SHOWN_EXAMPLES]: ['open'],
      }),
    ),
    prefix: Type.Optional(
      Type.String({
        description: 'Only runs whose name starts with this text.',
        [SHOWN_EXAMPLES]: ['demo'],
      }),
    ),
  },
  { additionalProperties: false },
)

export const RunPageSchema = Type.Object(
  {
    items: Type.Array(ref(RunSummarySchema), {
      description: 'Runs, in the order that was asked for.',
    }),
    next: NextSchema,
  },
  { $id: 'RunPage', additionalProperties: false, description: 'A page of runs.' },
)

export const EndParams = Type.Object({
  run_id: { ...RunIdSchema, examples: [EXAMPLE_RUN_TO_END] },
})

export const EndedSchema = Type.Object(
  {
    run_id: Type.String({ description: 'Name of the run, as in the request.' }),
    purged: Type.Boolean({
      description: 'True when everything of the run was deleted.',
    }),
    results: total('Number of results that no longer resolve, or were deleted.'),
    kept_bytes: total('Bytes of the values of these results.'),
    erased: Type.Union([Type.Enum(['pending', 'done']), Type.Null()], {
      description:
        'After a purge: `done` when no file of the ledger holds a byte of the run; `pending` while its bytes are being erased. Repeat the call to see whether that is done. Null without `purge`.',
    }),
  },
  {
    $id: 'EndedRun',
    additionalProperties: false,
    description: 'Totals of the run that was ended; zeros for an unknown run.',
  },
)

export const EndQuerySchema = Type.Object(
  {
    purge: Type.Boolean({
      default: false,
      description:
        'Delete everything at once instead of keeping the evidence until retention ends.',
    }),
  },
  { additionalProperties: false },
)
