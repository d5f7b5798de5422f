/** Routes of evidence: recall, and the definition of the recall tool for a model. */
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

/** Adds the routes of evidence. */
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
          "Send the model's own arguments. A page is an exact part of the text view and at most `verbatim_limit_chars` long. Send `next` to get the following page.",
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
        description:
          'Definition that a loop gives its model. Recall accepts all arguments that it allows.',
        querystring: ToolQuerySchema,
        response: {
          200: ok("The definition, in the provider's form.", RecallToolSchema),
          ...problemResponses(...CALL_PROBLEMS, 'invalid_request'),
        },
      },
    },
    async (request) => recallTool(request.query.provider),
  )
}
