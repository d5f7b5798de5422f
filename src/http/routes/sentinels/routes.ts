/** Routes that encode and decode sentinels, and that shorten failures for a model. */
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import type { Static } from 'typebox'
import { CoatcheckError } from '../../../core/errors.ts'
import { collapseFailures } from '../../../core/failures.ts'
import type { JsonSlice } from '../../../core/json/slice.ts'
import type { Splice } from '../../../core/json/splice.ts'
import { decodeSentinel } from '../../../core/sentinels.ts'
import { sentinelOf } from '../../../runs/describe.ts'
import { BODY_PROBLEMS, problemResponses } from '../../problems/problem-responses.ts'
import { sendSpliced } from '../../reply/reply.ts'
import { checkedFailure } from '../results/put.ts'
import { ok, ref } from '../shared-schemas.ts'
import {
  CompactedFailuresSchema,
  CompactFailuresSchema,
  DecodedSchema,
  DecodeSchema,
  EncodedSchema,
  EncodeSchema,
} from './schemas.ts'

const tags = ['sentinels']
const problems = problemResponses(...BODY_PROBLEMS)

/** Adds the routes of sentinels. */
export const sentinelRoutes: FastifyPluginAsyncTypebox = async (app) => {
  for (const schema of [EncodedSchema, DecodedSchema, CompactedFailuresSchema])
    app.addSchema(schema)

  app.post(
    '/sentinels/encode',
    {
      schema: {
        operationId: 'encodeSentinel',
        tags,
        summary: 'Encode a suspension or a failure',
        description:
          'Makes the value to record as the output of a call that waits or failed. Give exactly one of `suspension` and `failure`.',
        body: EncodeSchema,
        response: { 200: ok('The sentinel.', ref(EncodedSchema)), ...problems },
      },
    },
    async (request, reply) => sendSpliced(reply, { output: encode(request.body) }),
  )

  app.post(
    '/sentinels/decode',
    {
      schema: {
        operationId: 'decodeSentinel',
        tags,
        summary: 'Decode a recorded output',
        description: 'Tells whether an output is a suspension, a failure or an ordinary output.',
        body: DecodeSchema,
        response: { 200: ok('The decoded output.', ref(DecodedSchema)), ...problems },
      },
    },
    async (request, reply) => sendSpliced(reply, decode(request.body.output)),
  )

  app.post(
    '/failures/compact',
    {
      schema: {
        operationId: 'compactFailures',
        tags,
        summary: 'Compact failures for the model',
        description:
          'A long message keeps its two ends. A repeated failure is replaced by a short note.',
        body: CompactFailuresSchema,
        response: { 200: ok('The texts.', ref(CompactedFailuresSchema)), ...problems },
      },
    },
    async (request) => ({ contents: collapseFailures(request.body.events) }),
  )
}

function encode({ suspension, failure }: Static<typeof EncodeSchema>): JsonSlice {
  if ((suspension === undefined) === (failure === undefined)) {
    throw new CoatcheckError('invalid_request', 'Give exactly one of "suspension" and "failure".')
  }
  const source =
    suspension === undefined
      ? { failure: checkedFailure(failure as NonNullable<typeof failure>) }
      : { suspension: { reason: suspension.reason, inputSchema: suspension.input_schema } }
  return sentinelOf(source).value
}

function decode(output: JsonSlice): Splice {
  const decoded = decodeSentinel(output)
  const { kind } = decoded
  switch (kind) {
    case 'output':
      return { kind, suspension: null, failure: null }
    case 'suspension':
      return {
        kind,
        suspension: { reason: decoded.reason, input_schema: decoded.inputSchema },
        failure: null,
      }
    case 'failure': {
      const { failureKind, message, attempts } = decoded
      return { kind, suspension: null, failure: { kind: failureKind, message, attempts } }
    }
    default:
      return kind satisfies never
  }
}
