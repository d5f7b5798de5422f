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
/** A run of its own, so that trying the page from top to bottom does not end the one it works in. */
const EXAMPLE_RUN_TO_END = 'demo-to-end'

const ToolPatchSchema = Type.Union(
  [
    Type.Object(
      {
        input_schema: OpaqueJson({
          description:
            'The JSON Schema of its arguments; the dialect is its `$schema`, else 2020-12.',
        }),
      },
      { additionalProperties: false },
    ),
    Type.Null(),
  ],
  { description: 'A tool of the run, or null to remove it.' },
)

export const RunPatchSchema = Type.Object(
  {
    ttl_seconds: Type.Optional(
      Type.Union([Type.Integer({ minimum: 1, maximum: MAX_TTL_SECONDS }), Type.Null()], {
        description:
          'Seconds without a request after which the run ends itself. Absent: unchanged; null: the default, 7 days as shipped.',
      }),
    ),
    verbatim_limit_chars: Type.Optional(
      Type.Union(
        [Type.Integer({ minimum: VERBATIM_MIN_CHARS, maximum: VERBATIM_MAX_CHARS }), Type.Null()],
        {
          description:
            'Most characters of a result that its content carries verbatim; also the size of windows and recall pages. Absent: unchanged; null: the default, 30,000 as shipped.',
        },
      ),
    ),
    format: Type.Optional(FormatSchema),
    tools: Type.Optional(
      // Not a Record: its pattern would pass over a name with a line end in it.
      Type.Unsafe<Record<string, Static<typeof ToolPatchSchema>>>({
        type: 'object',
        additionalProperties: ToolPatchSchema,
        description: 'Tools by name, merged with those there are; null removes one.',
      }),
    ),
  },
  {
    title: 'RunSettings',
    additionalProperties: false,
    description: 'What to set; an empty object opens the run with the defaults.',
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
    'Only an `open` run takes results and resolves references. `ended` and `expired` (idle too long) keep their evidence until it is `evicted`.',
})

export const RunSummarySchema = Type.Object(
  {
    run_id: Type.String({ description: 'Its name.' }),
    state: RunStateSchema,
    format: FormatSchema,
    ttl_seconds: total('Seconds without a request after which it ends itself.'),
    verbatim_limit_chars: total('Most characters that a content carries verbatim.'),
    tool_count: total('How many tools it has registered.'),
    tool_bytes: total('UTF-8 bytes of the names and schemas of its tools.'),
    created_at: time('When it opened.'),
    last_request_at: time('From when its idle time counts.'),
    ended_at: Type.Union([Type.String({ format: 'date-time' }), Type.Null()], {
      description: 'When it ended or expired; null while it is open.',
    }),
    results: total('How many results it keeps.'),
    kept_bytes: total('Bytes of their values.'),
    produced_chars: total('Characters of their text views: what a transcript would carry.'),
    shown_chars: total('Characters of the contents that stand in the transcript instead.'),
  },
  {
    $id: 'RunSummary',
    additionalProperties: false,
    description: 'A run as a list shows it: its settings and its totals.',
  },
)

export const RunSchema = Type.Object(
  {
    ...RunSummarySchema.properties,
    tools: Type.Array(Type.String(), { description: 'Names of the registered tools, sorted.' }),
  },
  { $id: 'Run', additionalProperties: false, description: 'A run, its settings and its totals.' },
)

export const RunsQuerySchema = Type.Object(
  {
    limit: PageQuerySchema.properties.limit,
    after: PageQuerySchema.properties.after,
    order: Type.Enum([...RUN_ORDERS], {
      title: 'RunOrder',
      default: 'run_id',
      description:
        'What the runs are ordered by; those with the same time are ordered by their ids. In the order of times a page reads all runs.',
    }),
    desc: Type.Boolean({ default: false, description: 'The last of the order first.' }),
    state: Type.Optional(
      Type.Enum(['open', 'ended', 'expired', 'evicted'], {
        description: 'Only runs in this state.',
        [SHOWN_EXAMPLES]: ['open'],
      }),
    ),
    prefix: Type.Optional(
      Type.String({
        description: 'Only runs whose id starts with it.',
        [SHOWN_EXAMPLES]: ['demo'],
      }),
    ),
  },
  { additionalProperties: false },
)

export const RunPageSchema = Type.Object(
  {
    items: Type.Array(ref(RunSummarySchema), { description: 'The runs, in the order asked for.' }),
    next: NextSchema,
  },
  { $id: 'RunPage', additionalProperties: false, description: 'A page of runs.' },
)

export const EndParams = Type.Object({
  run_id: { ...RunIdSchema, examples: [EXAMPLE_RUN_TO_END] },
})

export const EndedSchema = Type.Object(
  {
    run_id: Type.String({ description: 'The run, as asked for.' }),
    purged: Type.Boolean({
      description: 'It was purged: nothing of it can be read any more.',
    }),
    results: total('Results that stopped resolving, or were erased.'),
    kept_bytes: total('Bytes of their values.'),
    erased: Type.Union([Type.Enum(['pending', 'done']), Type.Null()], {
      description:
        'With `purge`: `done` when no file of the ledger holds a byte of the run any more; `pending` while that goes on. The same call again tells when it is done. Null without `purge`.',
    }),
  },
  {
    $id: 'EndedRun',
    additionalProperties: false,
    description: 'What was ended; zeros when there was nothing.',
  },
)

export const EndQuerySchema = Type.Object(
  {
    purge: Type.Boolean({
      default: false,
      description:
        'Erase everything at once, instead of keeping the evidence until retention ends.',
    }),
  },
  { additionalProperties: false },
)
