/** Schemas of the routes of text. */
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
    handle: Type.String({ description: 'Name of the value in the preview.', examples: ['r1'] }),
    value: OpaqueJson({ description: 'Any JSON value.' }),
    format: Type.Optional(
      Type.Enum(['reference', 'extended'], {
        description:
          'Set of rules for the preview. `extended` shows shapes, columns and notable lines, and has a hard limit. Runs do not have it yet.',
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
      description:
        'Bounded, typed text that shows what the value is, how large it is, and a sample.',
    }),
    hint: Type.String({
      description: 'Line that tells the model how to reach the whole value.',
    }),
  },
  { $id: 'Preview', additionalProperties: false, description: 'A preview and its hint.' },
)

export const WindowBodySchema = Type.Object(
  {
    content: OpaqueJson({ description: 'The text, as a JSON string.' }),
    recall_id: Type.Optional(
      Type.Union([Type.String(), Type.Null()], {
        description:
          'Id that the note of the window names. Without it the note only counts what is left out.',
      }),
    ),
    first_line: Type.Optional(
      Type.Integer({
        minimum: 0,
        maximum: 4_503_599_627_370_496,
        default: 1,
        description: 'Number of the first line of the text within its evidence.',
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
      description: 'True when the text did not fit. When false, `content` is the text itself.',
    }),
    content: Type.String({
      description: 'The text, or its head and tail with a note between them.',
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
      description: 'A string without its quotes, any other value as canonical text.',
    }),
    content_hash: Type.String({
      description: '`sha256:` and the digest of the canonical JSON, in hex.',
    }),
  },
  {
    $id: 'ContentString',
    additionalProperties: false,
    description: 'A value as text, and its digest.',
  },
)
