import { Type } from 'typebox'
import {
  PREVIEW_LIMIT_BYTES,
  PREVIEW_LIMIT_MAX_BYTES,
  PREVIEW_LIMIT_MIN_BYTES,
} from '../../../core/limits.ts'
import { OpaqueJson } from '../../body/json-body.ts'
import { FormatSchema, OmittedSchema } from '../shared-schemas.ts'

export const PreviewBodySchema = Type.Object(
  {
    handle: Type.String({ description: 'What the preview calls the value.', examples: ['r1'] }),
    value: OpaqueJson({ description: 'Any JSON value.' }),
    format: Type.Optional(
      Type.Enum(['reference', 'extended'], {
        description:
          'Rules for the preview. `extended` shows shapes, columns and notable lines under a hard bound; runs do not have it yet.',
        default: 'reference',
      }),
    ),
    preview_limit_bytes: Type.Optional(
      Type.Integer({
        minimum: PREVIEW_LIMIT_MIN_BYTES,
        maximum: PREVIEW_LIMIT_MAX_BYTES,
        description: `Most bytes of a preview in the format \`extended\`, the handle included; ${PREVIEW_LIMIT_BYTES} when absent. Refused with \`reference\`.`,
      }),
    ),
  },
  {
    title: 'PreviewRequest',
    additionalProperties: false,
    description: 'A value to preview.',
    examples: [
      {
        handle: 'r1',
        value: [
          { id: 1, name: 'a' },
          { id: 2, name: 'b' },
        ],
      },
    ],
  },
)

export const PreviewSchema = Type.Object(
  {
    preview: Type.String({
      description: 'What it is, how big, and a sample.',
    }),
    hint: Type.String({
      description: 'The line that tells the model how to reach the whole.',
    }),
  },
  { $id: 'Preview', additionalProperties: false, description: 'A preview and its hint.' },
)

export const WindowBodySchema = Type.Object(
  {
    content: OpaqueJson({ description: 'The text, as a JSON string.' }),
    recall_id: Type.Optional(
      Type.Union([Type.String(), Type.Null()], {
        description: 'The id that the note names; without one it only counts.',
      }),
    ),
    first_line: Type.Optional(
      Type.Integer({
        minimum: 0,
        maximum: 4_503_599_627_370_496,
        default: 1,
        description: 'The number of the first line.',
      }),
    ),
    format: Type.Optional(FormatSchema),
  },
  {
    title: 'WindowRequest',
    additionalProperties: false,
    description: 'A text to window.',
    examples: [{ content: 'one\ntwo\n', recall_id: 'toolu_01', first_line: 1 }],
  },
)

export const WindowSchema = Type.Object(
  {
    windowed: Type.Boolean({
      description: 'False when the text fits; then `content` is the text.',
    }),
    content: Type.String({
      description: 'The text, or its head and tail around a note of what is left out.',
    }),
    omitted: OmittedSchema,
  },
  { $id: 'Window', additionalProperties: false, description: 'A text, whole or windowed.' },
)

export const ContentStringBodySchema = Type.Object(
  { value: OpaqueJson({ description: 'Any JSON value.' }) },
  {
    title: 'ContentStringRequest',
    additionalProperties: false,
    description: 'A value to write as text.',
    examples: [{ value: { b: 1.5, a: [true, null] } }],
  },
)

export const ContentStringSchema = Type.Object(
  {
    content: Type.String({
      description: 'A string bare, anything else as canonical JSON.',
    }),
    content_hash: Type.String({
      description: '`sha256:` and the hex digest of the canonical JSON.',
    }),
  },
  {
    $id: 'ContentString',
    additionalProperties: false,
    description: 'A value as text, and its digest.',
  },
)
