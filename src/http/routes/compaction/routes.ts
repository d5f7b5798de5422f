/** Routes that make room in a transcript. They call no model. */
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import type { Static } from 'typebox'
import { applyCompaction } from '../../../core/compaction/apply.ts'
import { elide } from '../../../core/compaction/elide.ts'
import { estimateMessages } from '../../../core/compaction/estimate.ts'
import { decideTrigger } from '../../../core/compaction/trigger.ts'
import { CoatcheckError } from '../../../core/errors.ts'
import type { Splice } from '../../../core/json/splice.ts'
import type { RunContext } from '../../../runs/context.ts'
import { planTranscript } from '../../../runs/plan-compaction.ts'
import { BODY_PROBLEMS, problemResponses, RUN_PROBLEMS } from '../../problems/problem-responses.ts'
import { sendSpliced } from '../../reply/reply.ts'
import { ok, ref } from '../shared-schemas.ts'
import {
  AppliedSchema,
  ApplyBodySchema,
  ElideBodySchema,
  ElisionSchema,
  PlanBodySchema,
  PlanSchema,
  TriggerBodySchema,
  TriggerSchema,
} from './schemas.ts'

const tags = ['compaction']
const problems = problemResponses(...BODY_PROBLEMS)

const ANSWERS = [ElisionSchema, TriggerSchema, PlanSchema, AppliedSchema]

/** Adds the routes of compaction. */
export const compactionRoutes: FastifyPluginAsyncTypebox<{ context: RunContext }> = async (
  app,
  { context },
) => {
  for (const schema of ANSWERS) app.addSchema(schema)

  app.post(
    '/compaction/elide',
    {
      schema: {
        operationId: 'elide',
        tags,
        summary: 'Elide old tool results',
        description:
          'Replaces the contents of all but the newest tool results by one line each. Every other byte stays.',
        body: ElideBodySchema,
        response: { 200: ok('The messages.', ref(ElisionSchema)), ...problems },
      },
    },
    async (request, reply) => {
      const { messages, keep_recent_tool_results: keep } = request.body
      return sendSpliced(reply, elide(messages, keep) as unknown as Splice)
    },
  )

  app.post(
    '/compaction/trigger',
    {
      schema: {
        operationId: 'decideTrigger',
        tags,
        summary: 'Decide whether to summarize',
        description: 'Tells which threshold applies, and whether the estimate is above it.',
        body: TriggerBodySchema,
        response: { 200: ok('The decision.', ref(TriggerSchema)), ...problems },
      },
    },
    async (request) => trigger(request.body),
  )

  app.post(
    '/compaction/plan',
    {
      schema: {
        operationId: 'planCompaction',
        tags,
        summary: 'Plan a compaction',
        description:
          'Tells which messages to summarize, and gives the text that asks a model for the summary. With `run_id` the whole transcript is stored as a result of that run.',
        body: PlanBodySchema,
        response: {
          200: ok('The plan.', ref(PlanSchema)),
          ...problemResponses(...BODY_PROBLEMS, ...RUN_PROBLEMS),
        },
      },
    },
    async (request) => {
      const { messages, preserve_recent_user_tokens: preserve, run_id: run } = request.body
      const named = run === undefined ? undefined : request.refOf(run)
      const { plan, put } = await planTranscript(context, {
        messages,
        preserve,
        ref: named,
      })
      if (put !== undefined) app.metrics.countPut(put)
      const kept = put?.answer
      return { ...plan, handle: kept?.handle ?? null, evidence_id: kept?.evidence_id ?? null }
    },
  )

  app.post(
    '/compaction/apply',
    {
      schema: {
        operationId: 'applyCompaction',
        tags,
        summary: 'Apply a summary',
        description:
          'Replaces the summarized messages by the summary. The answer is ready to send.',
        body: ApplyBodySchema,
        response: { 200: ok('The new transcript.', ref(AppliedSchema)), ...problems },
      },
    },
    async (request, reply) => {
      const { messages, preserve_recent_user_tokens: preserve, summary } = request.body
      return sendSpliced(reply, applyCompaction(messages, preserve, summary) as unknown as Splice)
    },
  )
}

function trigger(body: Static<typeof TriggerBodySchema>): Static<typeof TriggerSchema> {
  const { estimated_tokens: given, messages } = body
  if ((given === undefined) === (messages === undefined)) {
    throw new CoatcheckError(
      'invalid_request',
      'Give exactly one of "estimated_tokens" and "messages".',
    )
  }
  const estimated = given ?? estimateMessages(messages as NonNullable<typeof messages>)
  const {
    auto_threshold_tokens = null,
    auto_threshold_percent = null,
    context_window = null,
  } = body
  const settings = { auto_threshold_tokens, auto_threshold_percent, context_window }
  return { ...decideTrigger(settings, estimated), estimated_tokens: estimated }
}
