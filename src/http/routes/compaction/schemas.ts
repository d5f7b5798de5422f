/** Schemas of the routes of compaction. */
import { Type } from 'typebox'
import { OpaqueJson } from '../../body/json-body.ts'
import { EXAMPLE_RUN, FormatSchema, RunIdSchema } from '../shared-schemas.ts'

const MessagesSchema = OpaqueJson({
  description:
    'A transcript: Anthropic messages with content blocks, or OpenAI messages. Their form tells which.',
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
  description:
    'True when everything was summarized, because nothing comes before the last call and its results.',
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
      description: 'Number of newest tool results that are not elided; null keeps all.',
    }),
    format: Type.Optional(FormatSchema),
  },
  {
    title: 'ElideRequest',
    additionalProperties: false,
    description: 'A transcript, and how many of its tool results stay.',
    examples: [{ messages: EXAMPLE_MESSAGES, keep_recent_tool_results: 0 }],
  },
)

export const ElisionSchema = Type.Object(
  {
    messages: Type.Unknown({
      description: 'Messages of the transcript. Only the contents of elided tool results differ.',
    }),
    elided: Type.Array(
      Type.Object(
        {
          tool_use_id: TextOrNull('Id of the tool call; null when the transcript does not say.'),
          tool_name: Type.String({ description: 'Name of the tool.' }),
          bytes: Count('Bytes of the content that was replaced.'),
        },
        { title: 'ElidedResult', description: 'An elided tool result.' },
      ),
      { description: 'Tool results whose content was replaced, in order.' },
    ),
    estimated_tokens: Type.Object(
      {
        before: Count('Estimate of the transcript as it came.'),
        after: Count('Estimate of the answer.'),
      },
      { title: 'EstimatedTokens', description: 'Estimates of tokens.' },
    ),
  },
  {
    $id: 'Elision',
    additionalProperties: false,
    description: 'A transcript whose old tool results are elided.',
  },
)

export const TriggerBodySchema = Type.Object(
  {
    auto_threshold_tokens: Type.Optional(
      Tokens('Number of tokens above which compaction is due; null: none.'),
    ),
    auto_threshold_percent: Type.Optional(
      Tokens('Share of the context window, in percent, above which compaction is due; null: none.'),
    ),
    context_window: Type.Optional(Tokens('Tokens that the model accepts; null: unknown.')),
    estimated_tokens: Type.Optional(
      Type.Integer({
        minimum: 0,
        maximum: Number.MAX_SAFE_INTEGER,
        description: 'Estimate of the transcript. Give it or `messages`, not both.',
      }),
    ),
    messages: Type.Optional(MessagesSchema),
  },
  {
    title: 'TriggerRequest',
    additionalProperties: false,
    description: 'Thresholds, and the estimate to compare with them.',
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
      description: 'Settings that decide: thresholds, the share of the window alone, or nothing.',
    }),
    threshold_tokens: CountOrNull('Threshold that applies; null: none.'),
    fires: Type.Boolean({ description: 'True when the estimate is above the threshold.' }),
    estimated_tokens: Count('Estimate that was compared.'),
  },
  { $id: 'Trigger', additionalProperties: false, description: 'Tells whether compaction is due.' },
)

const PreserveSchema = Type.Integer({
  minimum: 0,
  maximum: Number.MAX_SAFE_INTEGER,
  description: 'Tokens of recent user messages that are kept as they are.',
})

export const PlanBodySchema = Type.Object(
  {
    messages: MessagesSchema,
    preserve_recent_user_tokens: PreserveSchema,
    run_id: Type.Optional(
      Type.String({
        ...RunIdSchema,
        description: 'Run in which the whole transcript is stored.',
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
    compactable: Type.Boolean({ description: 'True when there is something to summarize.' }),
    summarize: Type.Union(
      [
        Type.Object({
          start: Count('Index of the first message.'),
          end: Count('Index after the last message.'),
        }),
        Type.Null(),
      ],
      {
        description:
          'Messages to summarize: indices from 0, the end excluded. Null when there is nothing to summarize.',
      },
    ),
    preserved_user_turns: Count('Number of user messages among them that are kept as they are.'),
    tail_start: Count('Index of the first message after the summary.'),
    split_turn: SplitTurn,
    facts: Type.Object(
      {
        files_touched: Files,
        notable_lines: Type.Array(Type.String(), {
          description: 'Lines that tell how checks ended, or that something was forbidden.',
        }),
      },
      {
        title: 'TranscriptFacts',
        description: 'Facts that a summary must not lose. They are found without a model.',
      },
    ),
    summary_request: TextOrNull(
      'Text that asks a model for the summary; null when there is nothing to summarize.',
    ),
    handle: TextOrNull('With `run_id`: handle of the stored transcript.'),
    evidence_id: TextOrNull(
      'With `run_id`: evidence id of the stored transcript, which can be recalled like any result.',
    ),
  },
  {
    $id: 'CompactionPlan',
    additionalProperties: false,
    description: 'Messages to summarize, and the text that asks for the summary.',
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
    description: 'The transcript of the plan, and the summary.',
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
    messages: Type.Unknown({ description: 'Messages of the new transcript, ready to send.' }),
    transcript: Type.Array(
      Type.Union([
        Type.Object(
          { original_index: Count('Index of the message in the transcript as it came.') },
          { title: 'KeptMessage', description: 'A message that is kept.' },
        ),
        Type.Object(
          {
            summary: Type.String({ description: 'Text of the summary.' }),
            files_touched: Files,
          },
          { title: 'InsertedSummary', description: 'The message that holds the summary.' },
        ),
      ]),
      { description: 'Source of each message in `messages`.' },
    ),
    replaced_items: Count('Number of messages that the summary replaces.'),
    preserved_items: Count(
      'Number of messages before and after the summarized range, which are kept.',
    ),
    preserved_user_turns: Count(
      'Number of user messages of the summarized range that are kept as they are.',
    ),
    split_turn: SplitTurn,
    approx_tokens_before: Count(
      'Rough token count of the transcript as it came, without tool results.',
    ),
    approx_tokens_after: Count('Rough token count of the answer, without tool results.'),
    summary_preview: TextOrNull('Start of the summary; null without one.'),
  },
  {
    $id: 'AppliedCompaction',
    additionalProperties: false,
    description: 'A compacted transcript.',
  },
)
