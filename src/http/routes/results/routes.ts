/** Results: put, list, read. */
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import type { FastifyRequest } from 'fastify'
import { resultDescription } from '../../../runs/answer.ts'
import { type RunContext, resultByHandle } from '../../../runs/context.ts'
import { listResults } from '../../../runs/lists.ts'
import { putResult } from '../../../runs/put.ts'
import { contentOf } from '../../../runs/results.ts'
import {
  BODY_PROBLEMS,
  LEDGER_PROBLEMS,
  problemResponses,
  RUN_PROBLEMS,
} from '../../problems/problem-responses.ts'
import {
  ContentSchema,
  ok,
  PutResultSchema,
  ResultParams,
  ResultSchema,
  RunParams,
  ref,
} from '../shared-schemas.ts'
import { isUnwrapped, readPut } from './put.ts'
import {
  ContentQuerySchema,
  ListedResultSchema,
  ListQuerySchema,
  PutBodySchema,
  PutHeadersSchema,
  PutQuerySchema,
  ResultPageSchema,
} from './schemas.ts'
import { sendValue } from './value.ts'
import { ValueHeadersSchema, ValueQuerySchema, ValueResponses } from './value-schemas.ts'

const tags = ['results']
/** As many times as `COATCHECK_INLINE_BYTES`, a put is worked on here, in several turns. */
const INLINE_TIMES = 4
/** Of a longer body only so much has to have room before it is read: it takes a while to arrive. */
const EARLY_BYTES = 1_048_576

export const resultRoutes: FastifyPluginAsyncTypebox<{ context: RunContext }> = async (
  app,
  { context },
) => {
  for (const schema of [ListedResultSchema, ResultPageSchema]) app.addSchema(schema)

  app.post(
    '/runs/:run_id/results',
    {
      config: { rawBody: true, inlineTimes: INLINE_TIMES },
      onRequest: (request, _reply, done) => {
        context.ledger.requireRoom(earlyBytes(request))
        done()
      },
      schema: {
        operationId: 'putResult',
        tags,
        summary: 'Put a result',
        description:
          'Keeps a tool result and answers with its handle and with `content`, which goes into the transcript in its place. `application/json` is an envelope, unless `envelope` is `none`; every other type is the result itself, byte for byte. The answer comes when the result is in the ledger.',
        params: RunParams,
        querystring: PutQuerySchema,
        headers: PutHeadersSchema,
        body: PutBodySchema,
        response: {
          200: ok('A retry: the result was there already.', ref(PutResultSchema)),
          201: ok('The result is kept.', ref(PutResultSchema)),
          ...problemResponses(...BODY_PROBLEMS, ...RUN_PROBLEMS),
        },
      },
    },
    async (request, reply) => {
      const put = readPut(request, context.limits.maxJsonDepthLevels)
      const outcome = await putResult(context, request.runRef, put)
      app.metrics.countPut(outcome)
      const { answer, retried } = outcome
      const noted = isUnwrapped(request) ? { ...answer, unwrapped: true } : answer
      return reply.code(retried ? 200 : 201).send(noted)
    },
  )

  app.get(
    '/runs/:run_id/results',
    {
      schema: {
        operationId: 'listResults',
        tags,
        summary: 'List the results of a run',
        description:
          'A page of them, in the order of their handles; with filters only those that match all of them. It ends early when its JSON would be too long.',
        params: RunParams,
        querystring: ListQuerySchema,
        response: {
          200: ok('A page of results.', ref(ResultPageSchema)),
          ...problemResponses(...LEDGER_PROBLEMS, 'not_found', 'evicted'),
        },
      },
    },
    async (request) => {
      const { tool_use_id: toolUseId, tool_name: toolName, ...query } = request.query
      return listResults(context, request.runRef, { ...query, toolUseId, toolName })
    },
  )

  app.get(
    '/runs/:run_id/results/:handle',
    {
      schema: {
        operationId: 'readResult',
        tags,
        summary: 'Read what is known of a result',
        description: 'Its names, sizes, digest and preview.',
        params: ResultParams,
        response: {
          200: ok('The result.', ref(ResultSchema)),
          ...problemResponses(...LEDGER_PROBLEMS, 'not_found', 'evicted'),
        },
      },
    },
    async (request) =>
      resultDescription(
        request.runRef,
        await resultByHandle(context, request.runRef, request.params.handle),
      ),
  )

  app.get(
    '/runs/:run_id/results/:handle/content',
    {
      schema: {
        operationId: 'readContent',
        tags,
        summary: 'Get the content of a result again',
        description: 'In any rendering; for the rendering of its put, the same bytes.',
        params: ResultParams,
        querystring: ContentQuerySchema,
        response: {
          200: ok('The content.', ref(ContentSchema)),
          ...problemResponses(...LEDGER_PROBLEMS, 'not_found', 'evicted', 'over_limit'),
        },
      },
    },
    async (request) =>
      contentOf(
        context,
        await resultByHandle(context, request.runRef, request.params.handle),
        request.query.render,
      ),
  )

  app.get(
    '/runs/:run_id/results/:handle/value',
    {
      schema: {
        operationId: 'readValue',
        tags,
        summary: 'Read the value itself',
        description:
          'The bytes as they came, with their type; a part by `Range`; a slice of a JSON value by `path` or `pointer`; the text view by `as=text`. ETags are digests.',
        params: ResultParams,
        querystring: ValueQuerySchema,
        headers: ValueHeadersSchema,
        response: {
          ...ValueResponses,
          ...problemResponses(
            ...LEDGER_PROBLEMS,
            'not_found',
            'path_not_found',
            'evicted',
            'range_not_satisfiable',
            'no_text_view',
          ),
        },
      },
    },
    async (request, reply) => {
      const result = await resultByHandle(context, request.runRef, request.params.handle)
      return sendValue(context, result, request, reply)
    },
  )
}

/** What a put will add to the queue at least, as far as its headers tell; so that one too many is refused unread. */
function earlyBytes({ headers }: FastifyRequest): number {
  return Math.min(Number(headers['content-length'] ?? 0), EARLY_BYTES)
}
