import { Type } from 'typebox'
import { OpaqueJson } from '../../body/json-body.ts'
import { EXAMPLE_RUN, FormatSchema, RunIdSchema } from '../shared-schemas.ts'

const MessagesSchema = OpaqueJson({
  description:
    'A transcript: Anthropic messages with content blocks, or OpenAI messages; told apart by their shape.',
})
const Count = (description: string) => Type.Integer({ description })
const TextOrNull = (description: string) =>
  Type.Union([Type.String(), Type.Null()], { description })
const CountOrNull = (description: string) =>
  Type.Union([Type.Integer(), Type.Null()], { description })
const Tokens = (description: string) =>
  Type.Union([Type.Integer({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER }), Type.Null()], {
    description,
  })

const SplitTurn = Type.Boolean({
  description: 'All was summarized, as there is nothing before the last call and its results.',
})
const Files = Type.Array(Type.String(), { description: 'Files that tool calls and results name.' })

const EXAMPLE_MESSAGES = [
  { role: 'user', content: [{ type: 'text', text: 'List the files.' }] },
  {
    role: 'assistant',
    content: [{ type: 'tool_use', id: 'toolu_01', name: 'list_files', input: {} }],
  },
  {
    role: 'user',
    content: [
      { type: 'tool_result', tool_use_id: 'toolu_01', content: 'a long listing, '.repeat(8) },
    ],
  },
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
  {
    title: 'ElideRequest',
    additionalProperties: false,
    description: 'A transcript, and how much of it stays.',
    examples: [{ messages: EXAMPLE_MESSAGES, keep_recent_tool_results: 0 }],
  },
)

export const ElisionSchema = Type.Object(
  {
    messages: Type.Unknown({
      description: 'The messages; only contents of elided tool results differ.',
    }),
    elided: Type.Array(
      Type.Object(
        {
          tool_use_id: TextOrNull('The call; null when the transcript does not say.'),
          tool_name: Type.String({ description: 'Its tool.' }),
          bytes: Count('Bytes of what gave way.'),
        },
        { title: 'ElidedResult', description: 'A tool result that gave way.' },
      ),
      { description: 'Which tool results gave way, in order.' },
    ),
    estimated_tokens: Type.Object(
      { before: Count('Of the transcript as it came.'), after: Count('Of the answer.') },
      { title: 'EstimatedTokens', description: 'Rough counts of tokens.' },
    ),
  },
  {
    $id: 'Elision',
    additionalProperties: false,
    description: 'A transcript without its old tool results.',
  },
)

export const TriggerBodySchema = Type.Object(
  {
    auto_threshold_tokens: Type.Optional(Tokens('An absolute threshold; null: none.')),
    auto_threshold_percent: Type.Optional(Tokens('A share of the context window; null: none.')),
    context_window: Type.Optional(Tokens("The model's window; null: unknown.")),
    estimated_tokens: Type.Optional(
      Type.Integer({
        minimum: 0,
        maximum: Number.MAX_SAFE_INTEGER,
        description: 'Or give `messages` to estimate from.',
      }),
    ),
    messages: Type.Optional(MessagesSchema),
  },
  {
    title: 'TriggerRequest',
    additionalProperties: false,
    description: 'Thresholds, and the estimate to compare.',
    examples: [
      {
        auto_threshold_tokens: 50000,
        auto_threshold_percent: 75,
        context_window: 200000,
        estimated_tokens: 160000,
      },
    ],
  },
)

export const TriggerSchema = Type.Object(
  {
    trigger: Type.Enum(['Thresholds', 'WindowShareOnly', 'Off'], {
      description: 'Which settings decide: thresholds, only the share of the window, or nothing.',
    }),
    threshold_tokens: CountOrNull('The threshold that counts; null: none.'),
    fires: Type.Boolean({ description: 'The estimate is above it.' }),
    estimated_tokens: Count('The estimate that was used.'),
  },
  { $id: 'Trigger', additionalProperties: false, description: 'Whether it is time to summarize.' },
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
    run_id: Type.Optional(
      Type.String({
        ...RunIdSchema,
        description: 'A run in which the whole transcript is kept first.',
      }),
    ),
  },
  {
    title: 'PlanRequest',
    additionalProperties: false,
    description: 'A transcript to summarize.',
    examples: [
      { messages: EXAMPLE_MESSAGES, preserve_recent_user_tokens: 20000, run_id: EXAMPLE_RUN },
    ],
  },
)

export const PlanSchema = Type.Object(
  {
    compactable: Type.Boolean({ description: 'There is something to summarize.' }),
    summarize: Type.Union(
      [
        Type.Object({
          start: Count('The first.'),
          end: Count('The one after the last.'),
        }),
        Type.Null(),
      ],
      { description: 'Which messages to summarize: indices from 0, the end excluded.' },
    ),
    preserved_user_turns: Count('How many user turns among them stay as they are.'),
    tail_start: Count('The first message that stays after the summary.'),
    split_turn: SplitTurn,
    facts: Type.Object(
      {
        files_touched: Files,
        notable_lines: Type.Array(Type.String(), {
          description: 'Lines that tell how checks went, or that something was forbidden.',
        }),
      },
      { title: 'TranscriptFacts', description: 'What is drawn from the messages without a model.' },
    ),
    summary_request: TextOrNull(
      'The text to ask a model with; null when there is nothing to summarize.',
    ),
    handle: TextOrNull('With `run_id`: the handle of the kept transcript.'),
    evidence_id: TextOrNull(
      'With `run_id`: where the whole transcript is kept, recallable like any result.',
    ),
  },
  {
    $id: 'CompactionPlan',
    additionalProperties: false,
    description: 'What to summarize, and how to ask for it.',
  },
)

export const ApplyBodySchema = Type.Object(
  {
    messages: MessagesSchema,
    preserve_recent_user_tokens: PreserveSchema,
    summary: OpaqueJson({
      description: "The model's answer as a string, or the summary as an object.",
    }),
  },
  {
    title: 'ApplyRequest',
    additionalProperties: false,
    description: 'The transcript that was planned for, and what the model answered.',
    examples: [
      {
        messages: EXAMPLE_MESSAGES,
        preserve_recent_user_tokens: 20000,
        summary: {
          goal: 'Look at the files',
          progress: 'Listed them',
          next_steps: ['Read the first'],
        },
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
        Type.Object(
          { original_index: Count('Its index in the transcript that came.') },
          { title: 'KeptMessage', description: 'A message that stays.' },
        ),
        Type.Object(
          {
            summary: Type.String({ description: 'The text of the summary.' }),
            files_touched: Files,
          },
          { title: 'InsertedSummary', description: 'The summary, where it stands.' },
        ),
      ]),
      { description: 'Where each of `messages` comes from.' },
    ),
    replaced_items: Count('Messages that the summary stands for.'),
    preserved_items: Count('Messages before and after them.'),
    preserved_user_turns: Count('User turns among them that stay as they are.'),
    split_turn: SplitTurn,
    approx_tokens_before: Count('Rough count of the transcript as it came, tool results left out.'),
    approx_tokens_after: Count('Rough count of the answer, tool results left out.'),
    summary_preview: TextOrNull('The start of the summary; null without one.'),
  },
  {
    $id: 'AppliedCompaction',
    additionalProperties: false,
    description: 'A transcript with its summary.',
  },
)
