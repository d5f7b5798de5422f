/** Routes that put, list and read results. */
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
/** A put of at most this many times `COATCHECK_INLINE_BYTES` stays here, in several turns. */
const INLINE_TIMES = 4
/** Most bytes for which the queue must have room before a body is read: its rest comes later. */
const EARLY_BYTES = 1_048_576

/** Adds the routes of results. */
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
          'Stores a tool result. The answer has its handle and `content`, the text for the transcript in its place. A body of `application/json` is an envelope unless `envelope` is `none`. A body of any other type is the value itself, byte for byte. The answer is sent once the result is in the ledger.',
        params: RunParams,
        querystring: PutQuerySchema,
        headers: PutHeadersSchema,
        body: PutBodySchema,
        response: {
          200: ok('A retry: the result was stored before.', ref(PutResultSchema)),
          201: ok('The result is stored.', ref(PutResultSchema)),
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
          'A page of the results, in the order of their handles. With filters it has only results that match all of them. A page has fewer items than `limit` when its JSON would be too long.',
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
        summary: 'Read the description of a result',
        description: 'Names, sizes, digest and preview of the result.',
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
        description:
          'The content in any rendering. The rendering of the put gives the same bytes as the put did.',
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
          'Answers the bytes as they came, with their media type. `Range` asks for a part, `path` or `pointer` for a slice of a JSON value, and `as=text` for the text view. ETags are digests.',
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

/**
 * Bytes that a put adds to the queue at least, judged by its headers. A put that cannot fit is then
 * refused before its body is read.
 */
function earlyBytes({ headers }: FastifyRequest): number {
  return Math.min(Number(headers['content-length'] ?? 0), EARLY_BYTES)
}
