/** Routes that open, change, list, read and end runs. */
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import type { RunContext } from '../../../runs/context.ts'
import { endRun, openRun, readRun } from '../../../runs/lifecycle.ts'
import { listRuns } from '../../../runs/lists.ts'
import {
  BODY_PROBLEMS,
  LEDGER_PROBLEMS,
  problemResponses,
  RUN_PROBLEMS,
} from '../../problems/problem-responses.ts'
import { ok, RunParams, ref } from '../shared-schemas.ts'
import {
  EndedSchema,
  EndParams,
  EndQuerySchema,
  RunPageSchema,
  RunPatchSchema,
  RunSchema,
  RunSummarySchema,
  RunsQuerySchema,
} from './schemas.ts'

const tags = ['runs']

/** Adds the routes of runs. */
export const runRoutes: FastifyPluginAsyncTypebox<{ context: RunContext }> = async (
  app,
  { context },
) => {
  for (const schema of [RunSchema, RunSummarySchema, RunPageSchema, EndedSchema])
    app.addSchema(schema)

  app.put(
    '/runs/:run_id',
    {
      config: { bodyOptional: true },
      schema: {
        operationId: 'openRun',
        tags,
        summary: 'Open a run or change its settings',
        description:
          'A run is one execution of an agent loop. Its first put opens it too. An absent member leaves its setting unchanged; null sets the default.',
        params: RunParams,
        body: RunPatchSchema,
        response: {
          200: ok('The run was open already; its settings are changed.', ref(RunSchema)),
          201: ok('The run was opened.', ref(RunSchema)),
          ...problemResponses(...BODY_PROBLEMS, ...RUN_PROBLEMS, 'format_fixed', 'invalid_schema'),
        },
      },
    },
    async (request, reply) => {
      const { run, created } = await openRun(context, request.runRef, request.body, request.caller)
      return reply.code(created ? 201 : 200).send(run)
    },
  )

  app.get(
    '/runs',
    {
      schema: {
        operationId: 'listRuns',
        tags,
        summary: 'List the runs',
        description:
          'A page of the runs. A page has fewer items than `limit` when its JSON would be too long. A run that exists all the while is listed exactly once. The order `last_request_at` is an exception: a request that names a run between two pages makes that run the newest, so it may be listed twice, or not at all with `desc`.',
        querystring: RunsQuerySchema,
        response: {
          200: ok('A page of runs.', ref(RunPageSchema)),
          ...problemResponses(...LEDGER_PROBLEMS),
        },
      },
    },
    async (request) => listRuns(context, request.runRef.tenant, request.query),
  )

  app.get(
    '/runs/:run_id',
    {
      schema: {
        operationId: 'readRun',
        tags,
        summary: 'Read a run',
        description: 'State, settings and totals of the run.',
        params: RunParams,
        response: {
          200: ok('The run.', ref(RunSchema)),
          ...problemResponses(...LEDGER_PROBLEMS, 'not_found'),
        },
      },
    },
    async (request) => readRun(context, request.runRef),
  )

  app.delete(
    '/runs/:run_id',
    {
      schema: {
        operationId: 'endRun',
        tags,
        summary: 'End a run',
        description:
          'References to its results no longer resolve. Its evidence can be recalled until retention ends. With `purge` everything is deleted at once. For an unknown run the answer has zeros.',
        params: EndParams,
        querystring: EndQuerySchema,
        response: {
          200: ok('The run has ended.', ref(EndedSchema)),
          ...problemResponses(...LEDGER_PROBLEMS, 'storage_full'),
        },
      },
    },
    async (request) => endRun(context, request.runRef, request.query),
  )
}
