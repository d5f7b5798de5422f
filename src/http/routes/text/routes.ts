/** Routes that make previews, windows and canonical text without a run. */
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { CoatcheckError } from '../../../core/errors.ts'
import { canonicalJson } from '../../../core/json/canonical.ts'
import type { JsonSlice } from '../../../core/json/slice.ts'
import type { Splice } from '../../../core/json/splice.ts'
import { decodeText } from '../../../core/json/strings.ts'
import { namedPreview } from '../../../core/preview/extended.ts'
import { previewJson, referenceHint } from '../../../core/preview/preview.ts'
import { composeWindow, planWindow } from '../../../core/window/window.ts'
import { sha256Hex } from '../../../ledger/digest.ts'
import { BODY_PROBLEMS, problemResponses } from '../../problems/problem-responses.ts'
import { sendSpliced } from '../../reply/reply.ts'
import { ok, ref } from '../shared-schemas.ts'
import {
  ContentStringBodySchema,
  ContentStringSchema,
  PreviewBodySchema,
  PreviewSchema,
  WindowBodySchema,
  WindowSchema,
} from './schemas.ts'

const tags = ['text']
const problems = problemResponses(...BODY_PROBLEMS)

/** Adds the routes of text. */
export const textRoutes: FastifyPluginAsyncTypebox = async (app) => {
  for (const schema of [PreviewSchema, WindowSchema, ContentStringSchema]) app.addSchema(schema)

  app.post(
    '/preview',
    {
      schema: {
        operationId: 'preview',
        tags,
        summary: 'Preview a value',
        description: 'Makes the preview that a put would give. Nothing is stored.',
        body: PreviewBodySchema,
        response: { 200: ok('The preview and its hint.', ref(PreviewSchema)), ...problems },
      },
    },
    async (request) => {
      const { format, preview_limit_bytes: limitBytes, value } = request.body
      if (format === 'extended') return namedPreview(request.body.handle, value, limitBytes)
      if (limitBytes !== undefined) throw limitInReference()
      const handle = request.body.handle.toWellFormed()
      return { preview: handle + previewJson(value), hint: referenceHint(handle) }
    },
  )

  app.post(
    '/window',
    {
      schema: {
        operationId: 'window',
        tags,
        summary: 'Window a text',
        description: 'Makes the window of a text that is too long. Nothing is stored.',
        body: WindowBodySchema,
        response: { 200: ok('The text, or its window.', ref(WindowSchema)), ...problems },
      },
    },
    async (request, reply) => {
      const { content, recall_id = null, first_line = 1 } = request.body
      return sendSpliced(reply, windowAnswer(content, recall_id, first_line))
    },
  )

  app.post(
    '/content-string',
    {
      schema: {
        operationId: 'contentString',
        tags,
        summary: 'Write a value as text',
        description:
          'Writes equal values as the same text each time, as prompt caches and hashes need.',
        body: ContentStringBodySchema,
        response: { 200: ok('The text and its digest.', ref(ContentStringSchema)), ...problems },
      },
    },
    async (request) => {
      const { value } = request.body
      const canonical = canonicalJson(value)
      return {
        content: value.kind === 'string' ? decodeText(value) : canonical,
        content_hash: `sha256:${sha256Hex(canonical)}`,
      }
    },
  )
}

const limitInReference = (): CoatcheckError =>
  new CoatcheckError(
    'invalid_request',
    '"preview_limit_bytes" needs "format": "extended"; the format reference has fixed sizes.',
  )

function windowAnswer(content: JsonSlice, recallId: string | null, firstLine: number): Splice {
  if (content.kind !== 'string') {
    throw new CoatcheckError(
      'invalid_request',
      `"content" is a JSON ${content.kind}; it must be a string.`,
    )
  }
  const text = decodeText(content)
  const plan = planWindow(Buffer.from(text), { firstLine })
  if (plan === undefined) return { windowed: false, content: text, omitted: null }
  const omitted = plan.omitted === null ? null : { ...plan.omitted }
  return { windowed: true, content: composeWindow(plan, recallId?.toWellFormed() ?? null), omitted }
}
