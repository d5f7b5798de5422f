/** Routes for operators: liveness, readiness and metrics. */
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { Type } from 'typebox'
import { CoatcheckError } from '../../../core/errors.ts'
import { VERSION } from '../../../core/version.ts'
import type { Ledger } from '../../../ledger/ledger.ts'
import { requireOperator } from '../../auth/access.ts'
import { CALL_PROBLEMS, problemResponses } from '../../problems/problem-responses.ts'
import { ok } from '../shared-schemas.ts'

const tags = ['health']
const StatusSchema = Type.Object(
  { status: Type.Literal('ok', { description: 'Always `ok`.' }) },
  { title: 'Health', additionalProperties: false, description: 'The process is alive.' },
)
const ReadySchema = Type.Object(
  {
    status: Type.Literal('ok', { description: 'Always `ok`.' }),
    version: Type.String({ description: 'Version of the service.', examples: [VERSION] }),
  },
  { title: 'Readiness', additionalProperties: false, description: 'Requests can be answered.' },
)
const PROMETHEUS_TYPE = 'text/plain; version=0.0.4; charset=utf-8'

/** Adds the routes for operators. */
export const healthRoutes: FastifyPluginAsyncTypebox<{ ledger: Ledger }> = async (
  app,
  { ledger },
) => {
  let asked: Promise<void> | undefined
  app.get(
    '/livez',
    {
      config: { probe: true },
      schema: {
        operationId: 'livez',
        tags,
        security: [],
        summary: 'Check that the process is alive',
        description: 'Does not read the ledger.',
        response: {
          200: ok('The process is alive.', StatusSchema),
          ...problemResponses('invalid_request', 'forbidden_origin', 'internal_error'),
        },
      },
    },
    async () => ({ status: 'ok' as const }),
  )

  app.get(
    '/readyz',
    {
      config: { probe: true },
      schema: {
        operationId: 'readyz',
        tags,
        security: [],
        summary: 'Check that the ledger answers',
        description: 'Asks the ledger each time.',
        response: {
          200: ok('The ledger answers.', ReadySchema),
          ...problemResponses(
            'invalid_request',
            'forbidden_origin',
            'internal_error',
            'ledger_unavailable',
          ),
        },
      },
    },
    async () => {
      // Requests at the same time share one question to the ledger.
      asked ??= ledger.ping().finally(() => {
        asked = undefined
      })
      await asked.catch(notReady)
      return { status: 'ok' as const, version: VERSION }
    },
  )

  app.get(
    '/metrics',
    {
      config: { probe: true },
      onRequest: requireOperator,
      schema: {
        operationId: 'metrics',
        tags,
        summary: 'Metrics for Prometheus',
        description:
          'Counters since the start, and durations of requests and commits. They are of all tenants together, so only the token of the operator gives access.',
        response: {
          200: {
            description: 'Metrics in the text format of Prometheus.',
            content: {
              'text/plain': {
                schema: {
                  type: 'string',
                  description: 'One sample in each line.',
                  examples: ['coatcheck_up 1'],
                },
              },
            },
          },
          ...problemResponses(...CALL_PROBLEMS, 'invalid_request'),
        },
      },
    },
    async (_request, reply) => reply.type(PROMETHEUS_TYPE).send(await app.metrics.text()),
  )
}

/** Throws `ledger_unavailable` for any fault of the ledger. The service's log has the cause. */
function notReady(cause: unknown): never {
  throw new CoatcheckError('ledger_unavailable', 'The ledger does not answer.', {}, { cause })
}
