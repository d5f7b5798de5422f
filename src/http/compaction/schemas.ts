import { Type } from 'typebox'
import { OpaqueJson } from '../body.ts'
import { FormatSchema, RunIdSchema } from '../schemas.ts'

const MessagesSchema = OpaqueJson({
  description: 'A transcript: Anthropic messages with content blocks, or OpenAI messages; told apart by their shape.',
})
const Count = (description: string) => Type.Integer({ description })
const CountOrNull = (description: string) => Type.Union([Type.Integer(), Type.Null()], { description })
const Tokens = (description: string) =>
  Type.Union([Type.Integer({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER }), Type.Null()], { description })

const EXAMPLE_MESSAGES = [
  { role: 'user', content: [{ type: 'text', text: 'List the files.' }] },
  { role: 'assistant', content: [{ type: 'tool_use', id: 'toolu_01', name: 'list_files', input: {} }] },
  { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'toolu_01', content: 'a long listing, '.repeat(8) }] },
  { role: 'assistant', content: [{ type: 'text', text: 'There are two files.' }] },
  { role: 'user', content: [{ type: 'text', text: 'Read the first.' }] },
]

export const ElideBodySchema = Type.Object(
  {
    messages: MessagesSchema,
    keep_recent_tool_results: Type.Union([Type.Integer({ minimum: 0 }), Type.Null()], {
      description: 'How many of the newest tool results stay; null keeps all.',
    }),
    format: Type.Optional(FormatSchema),
  },
  { additionalProperties: false, examples: [{ messages: EXAMPLE_MESSAGES, keep_recent_tool_results: 0 }] },
)

export const ElisionSchema = Type.Object(
  {
    messages: Type.Unknown({ description: 'The messages; only contents of elided tool results differ.' }),
    elided: Type.Array(
      Type.Object({
        tool_use_id: Type.Union([Type.String(), Type.Null()]),
        tool_name: Type.String(),
        bytes: Count('Bytes of what gave way.'),
      }),
    ),
    estimated_tokens: Type.Object({ before: Type.Integer(), after: Type.Integer() }),
  },
  { $id: 'Elision', additionalProperties: false },
)

export const TriggerBodySchema = Type.Object(
  {
    auto_threshold_tokens: Type.Optional(Tokens('An absolute threshold; null: none.')),
    auto_threshold_percent: Type.Optional(Tokens('A share of the context window; null: none.')),
    context_window: Type.Optional(Tokens('The model\'s window; null: unknown.')),
    estimated_tokens: Type.Optional(
      Type.Integer({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER, description: 'Or give `messages` to estimate from.' }),
    ),
    messages: Type.Optional(MessagesSchema),
  },
  {
    additionalProperties: false,
    examples: [{ auto_threshold_tokens: 50000, auto_threshold_percent: 75, context_window: 200000, estimated_tokens: 160000 }],
  },
)

export const TriggerSchema = Type.Object(
  {
    trigger: Type.Enum(['Thresholds', 'WindowShareOnly', 'Off']),
    threshold_tokens: CountOrNull('The threshold that counts.'),
    fires: Type.Boolean({ description: 'The estimate is above it.' }),
    estimated_tokens: Count('The estimate that was used.'),
  },
  { $id: 'Trigger', additionalProperties: false },
)

const PreserveSchema = Type.Integer({
  minimum: 0,
  maximum: Number.MAX_SAFE_INTEGER,
  description: 'What recent user turns may take to stay as they are.',
})

export const PlanBodySchema = Type.Object(
  {
    messages: MessagesSchema,
    preserve_recent_user_tokens: PreserveSchema,
    run_id: Type.Optional(RunIdSchema),
  },
  { additionalProperties: false, examples: [{ messages: EXAMPLE_MESSAGES, preserve_recent_user_tokens: 20000, run_id: 'demo' }] },
)

export const PlanSchema = Type.Object(
  {
    compactable: Type.Boolean(),
    summarize: Type.Union([Type.Object({ start: Type.Integer(), end: Type.Integer() }), Type.Null()], {
      description: 'Which messages to summarize: indices from 0, the end excluded.',
    }),
    preserved_user_turns: Type.Integer(),
    tail_start: Count('The first message that stays after the summary.'),
    split_turn: Type.Boolean(),
    facts: Type.Object({ files_touched: Type.Array(Type.String()), notable_lines: Type.Array(Type.String()) }),
    summary_request: Type.Union([Type.String(), Type.Null()], { description: 'The text to ask a model with.' }),
    evidence_id: Type.Union([Type.String(), Type.Null()], {
      description: 'With `run_id`: where the whole transcript is kept, recallable like any result.',
    }),
  },
  { $id: 'CompactionPlan', additionalProperties: false },
)

export const ApplyBodySchema = Type.Object(
  {
    messages: MessagesSchema,
    preserve_recent_user_tokens: PreserveSchema,
    summary: OpaqueJson({ description: 'The model\'s answer as a string, or the summary as an object.' }),
  },
  {
    additionalProperties: false,
    examples: [
      {
        messages: EXAMPLE_MESSAGES,
        preserve_recent_user_tokens: 20000,
        summary: { goal: 'Look at the files', progress: 'Listed them', next_steps: ['Read the first'] },
      },
    ],
  },
)

export const AppliedSchema = Type.Object(
  {
    compacted: Type.Boolean({ description: 'False when there was nothing to summarize.' }),
    messages: Type.Unknown({ description: 'Ready to send.' }),
    transcript: Type.Array(
      Type.Union([
        Type.Object({ original_index: Type.Integer() }),
        Type.Object({ summary: Type.String(), files_touched: Type.Array(Type.String()) }),
      ]),
    ),
    replaced_items: Type.Integer(),
    preserved_items: Type.Integer(),
    preserved_user_turns: Type.Integer(),
    split_turn: Type.Boolean(),
    approx_tokens_before: Type.Integer(),
    approx_tokens_after: Type.Integer(),
    summary_preview: Type.Union([Type.String(), Type.Null()]),
  },
  { $id: 'AppliedCompaction', additionalProperties: false },
)
