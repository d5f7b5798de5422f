/** Schemas of the routes of evidence. */
import { Type } from 'typebox'
import { OpaqueJson } from '../../body/json-body.ts'

const span = (name: { title: string; description: string }) =>
  Type.Object(
    {
      start: Type.Integer({ description: 'First line, or first character.' }),
      end: Type.Integer({ description: 'Last line, or the character after the last one.' }),
    },
    { ...name, additionalProperties: false },
  )
const LinesSchema = span({
  title: 'Lines',
  description: 'Range of lines, from 1, both ends included.',
})
const CharsSchema = span({
  title: 'Chars',
  description: 'Range of characters (code points), from 0, the end excluded.',
})

const askedSpan = (description: string) => ({
  type: ['object', 'null'],
  description,
  properties: {
    start: { type: 'integer', description: 'First line, or first character.' },
    end: {
      type: 'integer',
      description:
        'Last line, or the character after the last one. An end past the text view stands for its end.',
    },
  },
})

/** Documents the body. The recall itself reads it, since it accepts some mistakes of models. */
export const RecallBodySchema = OpaqueJson({
  type: 'object',
  title: 'Recall',
  description:
    "The model's own arguments, unchanged: `id`, and `range` (lines, from 1, both ends included) or `chars` (from 0, the end excluded).",
  properties: {
    id: { type: 'string', description: 'Evidence id, or handle (`r1`, `$r1`).' },
    range: askedSpan('Lines to return, from 1, both ends included. Absent: from the first line.'),
    chars: askedSpan('Characters to return instead of lines, from 0, the end excluded.'),
  },
  required: ['id'],
  examples: [{ id: 'toolu_01', range: { start: 1, end: 5 } }],
})

const NextIdSchema = Type.String({ description: 'Id of the result, as the next recall takes it.' })

export const RecallPageSchema = Type.Object(
  {
    text: Type.String({
      description:
        'Page as the model reads it: the content and, when there is more, a line that names the next call.',
    }),
    content: Type.String({
      description:
        'The part that was read. The contents of all pages joined are the text view, byte for byte.',
    }),
    evidence_id: Type.String({ description: 'Evidence id of the result.' }),
    range: Type.Union([LinesSchema, Type.Null()], {
      description: 'Lines that the page holds, whole or in part; null when it is empty.',
    }),
    chars: CharsSchema,
    total_lines: Type.Integer({ description: 'Lines of the text view.' }),
    total_chars: Type.Integer({ description: 'Characters of the text view.' }),
    truncated: Type.Boolean({ description: 'True when more of the asked range follows.' }),
    next: Type.Union(
      [
        Type.Object({ id: NextIdSchema, range: LinesSchema }, { additionalProperties: false }),
        Type.Object({ id: NextIdSchema, chars: CharsSchema }, { additionalProperties: false }),
        Type.Null(),
      ],
      {
        title: 'NextRecall',
        description: 'Body of the call that returns the following page; null at the end.',
      },
    ),
    ignored: Type.Array(Type.String(), {
      description: 'Members of the request that have no meaning.',
    }),
  },
  {
    $id: 'RecallPage',
    additionalProperties: false,
    description: 'A page of the text view of a result.',
  },
)

export const ToolQuerySchema = Type.Object(
  {
    provider: Type.Enum(['anthropic', 'openai', 'mcp'], {
      default: 'anthropic',
      description: 'Model provider whose form the definition has.',
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
    description: "A tool definition in the provider's form, to be given to a model unchanged.",
  },
)
