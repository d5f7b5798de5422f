import { Type } from 'typebox'
import { OpaqueJson } from '../body.ts'

const SpanSchema = Type.Object({ start: Type.Integer(), end: Type.Integer() }, { additionalProperties: false })

/** Read by the recall itself, which takes what models send; so its schema here only tells of it. */
export const RecallBodySchema = OpaqueJson({
  type: 'object',
  description:
    'The model\'s own arguments, untouched: `id`, and `range` (lines, from 1, both ends included) or `chars` (from 0, end excluded).',
  properties: {
    id: { type: 'string', description: 'An evidence id, or a handle.' },
    range: { type: ['object', 'null'], properties: { start: { type: 'integer' }, end: { type: 'integer' } } },
    chars: { type: ['object', 'null'], properties: { start: { type: 'integer' }, end: { type: 'integer' } } },
  },
  required: ['id'],
  examples: [{ id: 'toolu_01', range: { start: 1, end: 5 } }],
})

export const RecallPageSchema = Type.Object(
  {
    text: Type.String({ description: 'For the model: the content and, when there is more, a line that says how to go on.' }),
    content: Type.String({ description: 'For programs: pages joined are the whole, byte for byte.' }),
    evidence_id: Type.String(),
    range: Type.Union([SpanSchema, Type.Null()], { description: 'The lines it holds; null when it is empty.' }),
    chars: SpanSchema,
    total_lines: Type.Integer(),
    total_chars: Type.Integer(),
    truncated: Type.Boolean({ description: 'There is more of what was asked for.' }),
    next: Type.Union(
      [
        Type.Object({ id: Type.String(), range: SpanSchema }, { additionalProperties: false }),
        Type.Object({ id: Type.String(), chars: SpanSchema }, { additionalProperties: false }),
        Type.Null(),
      ],
      { description: 'The literal body of the following call.' },
    ),
    ignored: Type.Array(Type.String(), { description: 'Members that mean nothing here.' }),
  },
  { $id: 'RecallPage', additionalProperties: false },
)

export const ToolQuerySchema = Type.Object(
  {
    provider: Type.Enum(['anthropic', 'openai', 'mcp'], {
      default: 'anthropic',
      description: 'Whose shape of a tool definition.',
    }),
  },
  { additionalProperties: false },
)
