import { Type } from 'typebox'
import { OpaqueJson } from '../../body/json-body.ts'

const span = (name: { title: string; description: string }) =>
  Type.Object(
    {
      start: Type.Integer({ description: 'The first.' }),
      end: Type.Integer({ description: 'The end.' }),
    },
    { ...name, additionalProperties: false },
  )
const LinesSchema = span({
  title: 'Lines',
  description: 'Lines, numbered from 1, both ends included.',
})
const CharsSchema = span({
  title: 'Chars',
  description: 'Characters (code points), numbered from 0, the end excluded.',
})

const askedSpan = (description: string) => ({
  type: ['object', 'null'],
  description,
  properties: {
    start: { type: 'integer', description: 'The first.' },
    end: { type: 'integer', description: 'The end; past the last it means the last.' },
  },
})

/** Read by the recall itself, which takes what models send; so its schema here only tells of it. */
export const RecallBodySchema = OpaqueJson({
  type: 'object',
  title: 'Recall',
  description:
    "The model's own arguments, untouched: `id`, and `range` (lines, from 1, both ends included) or `chars` (from 0, end excluded).",
  properties: {
    id: { type: 'string', description: 'An evidence id, or a handle (`r1`, `$r1`).' },
    range: askedSpan(
      'Lines to return, numbered from 1, both ends included. Absent: from the start.',
    ),
    chars: askedSpan(
      'Instead of `range`: characters to return, numbered from 0, the end excluded.',
    ),
  },
  required: ['id'],
  examples: [{ id: 'toolu_01', range: { start: 1, end: 5 } }],
})

const NextIdSchema = Type.String({ description: 'Whose view goes on.' })

export const RecallPageSchema = Type.Object(
  {
    text: Type.String({
      description:
        'For the model: the content and, when there is more, a last line that says how to go on.',
    }),
    content: Type.String({
      description: 'For programs: pages joined are the whole, byte for byte.',
    }),
    evidence_id: Type.String({ description: 'Whose view it is.' }),
    range: Type.Union([LinesSchema, Type.Null()], {
      description: 'The lines it holds, whole or in part; null when it is empty.',
    }),
    chars: CharsSchema,
    total_lines: Type.Integer({ description: 'Lines of the whole view.' }),
    total_chars: Type.Integer({ description: 'Characters of the whole view.' }),
    truncated: Type.Boolean({ description: 'There is more of what was asked for.' }),
    next: Type.Union(
      [
        Type.Object({ id: NextIdSchema, range: LinesSchema }, { additionalProperties: false }),
        Type.Object({ id: NextIdSchema, chars: CharsSchema }, { additionalProperties: false }),
        Type.Null(),
      ],
      {
        title: 'NextRecall',
        description: 'The literal body of the following call; null when there is nothing more.',
      },
    ),
    ignored: Type.Array(Type.String(), {
      description: 'Members of the request that mean nothing here.',
    }),
  },
  {
    $id: 'RecallPage',
    additionalProperties: false,
    description: "A page of a result's text view.",
  },
)

export const ToolQuerySchema = Type.Object(
  {
    provider: Type.Enum(['anthropic', 'openai', 'mcp'], {
      default: 'anthropic',
      description: 'Whose shape the definition is to have.',
      examples: ['anthropic'],
    }),
  },
  { additionalProperties: false },
)

export const RecallToolSchema = Type.Object(
  {},
  {
    title: 'ToolDefinition',
    additionalProperties: true,
    description: 'A tool definition in the shape of the provider; to hand to a model as it is.',
  },
)
