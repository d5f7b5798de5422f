/** Is it alive, is it ready, how is it doing. */
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
  { status: Type.Literal('ok', { description: 'It is.' }) },
  { title: 'Health', additionalProperties: false, description: 'All is well.' },
)
const ReadySchema = Type.Object(
  {
    status: Type.Literal('ok', { description: 'It is.' }),
    version: Type.String({ description: 'Of the service.', examples: [VERSION] }),
  },
  { title: 'Readiness', additionalProperties: false, description: 'Requests can be answered.' },
)
const PROMETHEUS_TYPE = 'text/plain; version=0.0.4; charset=utf-8'

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
        summary: 'Is the process alive',
        description: 'Asks nothing of the ledger.',
        response: {
          200: ok('It is.', StatusSchema),
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
        summary: 'Is the ledger there',
        description: 'Really asks the ledger.',
        response: {
          200: ok('It is.', ReadySchema),
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
      // However many ask at a time, the ledger is asked once.
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
          'Counters since the start, and durations of requests and commits, of all tenants together: the token of a tenant does not open them.',
        response: {
          200: {
            description: 'In the text format.',
            content: {
              'text/plain': {
                schema: {
                  type: 'string',
                  description: 'Samples, one a line.',
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

/** Not ready is one thing to whoever asks, whatever is wrong with the ledger; the log has the cause. */
function notReady(cause: unknown): never {
  throw new CoatcheckError('ledger_unavailable', 'The ledger does not answer.', {}, { cause })
}
