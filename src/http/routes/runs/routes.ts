/** Runs: open, change, list, end. */
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
          'A run is one agent-loop run. It also opens by its first put. Members that are absent stay as they are; null sets the default.',
        params: RunParams,
        body: RunPatchSchema,
        response: {
          200: ok('The run was open; its settings are changed.', ref(RunSchema)),
          201: ok('The run is open.', ref(RunSchema)),
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
          'A page of the runs. It ends early when its JSON would be too long. A run that is there throughout is listed exactly once, but in the order of `last_request_at` one that is asked for between two pages moves to the newest end: ascending it may be listed twice, descending not at all.',
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
        description: 'Its state, its settings and its totals.',
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
          'Its handles stop resolving; its evidence stays recallable until retention ends. With `purge` everything is erased. An unknown run is answered with zeros.',
        params: EndParams,
        querystring: EndQuerySchema,
        response: {
          200: ok('What was ended.', ref(EndedSchema)),
          ...problemResponses(...LEDGER_PROBLEMS, 'unsupported_media_type', 'storage_full'),
        },
      },
    },
    async (request) => endRun(context, request.runRef, request.query),
  )
}
