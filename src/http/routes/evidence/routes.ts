/** Evidence: recall, and the tool by which a model does it. */
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import type { RunContext } from '../../../runs/context.ts'
import { recall } from '../../../runs/recall.ts'
import {
  BODY_PROBLEMS,
  CALL_PROBLEMS,
  LEDGER_PROBLEMS,
  problemResponses,
} from '../../problems/problem-responses.ts'
import { ok, RunParams, ref } from '../shared-schemas.ts'
import { RecallBodySchema, RecallPageSchema, RecallToolSchema, ToolQuerySchema } from './schemas.ts'
import { recallTool } from './tool.ts'

const tags = ['evidence']

export const evidenceRoutes: FastifyPluginAsyncTypebox<{ context: RunContext }> = async (
  app,
  { context },
) => {
  app.addSchema(RecallPageSchema)

  app.post(
    '/runs/:run_id/recall',
    {
      schema: {
        operationId: 'recall',
        tags,
        summary: 'Recall a part of a result',
        description:
          "Forward the model's own arguments. A page is the exact slice of the text view and never longer than the run's limit; follow `next` for more.",
        params: RunParams,
        body: RecallBodySchema,
        response: {
          200: ok('A page.', ref(RecallPageSchema)),
          ...problemResponses(
            ...BODY_PROBLEMS,
            ...LEDGER_PROBLEMS,
            'invalid_range',
            'not_found',
            'evicted',
            'no_text_view',
          ),
        },
      },
    },
    async (request) => app.metrics.watchRecall(() => recall(context, request.runRef, request.body)),
  )

  app.get(
    '/tools/recall',
    {
      schema: {
        operationId: 'recallTool',
        tags,
        summary: "Get the recall tool's definition",
        description: 'What a loop hands its model. Everything it admits, recall accepts.',
        querystring: ToolQuerySchema,
        response: {
          200: ok("The definition, in the provider's shape.", RecallToolSchema),
          ...problemResponses(...CALL_PROBLEMS, 'invalid_request'),
        },
      },
    },
    async (request) => recallTool(request.query.provider),
  )
}
