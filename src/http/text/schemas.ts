import { Type } from 'typebox'
import { OpaqueJson } from '../body.ts'
import { FormatSchema, OmittedSchema } from '../schemas.ts'

export const PreviewBodySchema = Type.Object(
  {
    handle: Type.String({ description: 'What the preview calls the value.', examples: ['r1'] }),
    value: OpaqueJson({ description: 'Any JSON value.' }),
    format: Type.Optional(FormatSchema),
  },
  { additionalProperties: false, examples: [{ handle: 'r1', value: [{ id: 1, name: 'a' }, { id: 2, name: 'b' }] }] },
)

export const PreviewSchema = Type.Object(
  { preview: Type.String(), hint: Type.String() },
  { $id: 'Preview', additionalProperties: false },
)

export const WindowBodySchema = Type.Object(
  {
    content: OpaqueJson({ description: 'The text, as a JSON string.' }),
    recall_id: Type.Optional(
      Type.Union([Type.String(), Type.Null()], { description: 'The id that the note names; without one it only counts.' }),
    ),
    first_line: Type.Optional(
      Type.Integer({ minimum: 0, maximum: 4_503_599_627_370_496, default: 1, description: 'The number of the first line.' }),
    ),
    format: Type.Optional(FormatSchema),
  },
  { additionalProperties: false, examples: [{ content: 'one\ntwo\n', recall_id: 'toolu_01', first_line: 1 }] },
)

export const WindowSchema = Type.Object(
  {
    windowed: Type.Boolean({ description: 'False when the text fits; then `content` is the text.' }),
    content: Type.String(),
    omitted: OmittedSchema,
  },
  { $id: 'Window', additionalProperties: false },
)

export const ContentStringBodySchema = Type.Object(
  { value: OpaqueJson({ description: 'Any JSON value.' }) },
  { additionalProperties: false, examples: [{ value: { b: 1.5, a: [true, null] } }] },
)

export const ContentStringSchema = Type.Object(
  {
    content: Type.String({ description: 'A string bare, anything else as canonical JSON.' }),
    content_hash: Type.String({ description: '`sha256:` and the hex digest of the canonical JSON.' }),
  },
  { $id: 'ContentString', additionalProperties: false },
)
