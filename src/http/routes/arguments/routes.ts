/** Routes that register tools, and resolve and validate the arguments of their calls. */
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { JsonSlice } from '../../../core/json/slice.ts'
import type { RunContext } from '../../../runs/context.ts'
import { registerTool } from '../../../runs/lifecycle.ts'
import { resolveArguments } from '../../../runs/resolve.ts'
import { BODY_PROBLEMS, problemResponses, RUN_PROBLEMS } from '../../problems/problem-responses.ts'
import { sendSpliced } from '../../reply/reply.ts'
import { ok, RunParams, ref } from '../shared-schemas.ts'
import {
  RegisteredToolSchema,
  ResolvedSchema,
  ResolveSchema,
  ToolParams,
  ToolSchema,
} from './schemas.ts'

const tags = ['arguments']

/** Adds the routes of arguments. */
export const argumentRoutes: FastifyPluginAsyncTypebox<{ context: RunContext }> = async (
  app,
  { context },
) => {
  for (const schema of [ResolvedSchema, RegisteredToolSchema]) app.addSchema(schema)

  app.put(
    '/runs/:run_id/tools/:tool_name',
    {
      schema: {
        operationId: 'registerTool',
        tags,
        summary: 'Register a tool',
        description:
          "Stores the JSON Schema of the tool's arguments in the run. `resolve` can then validate against it by name. Keywords and formats that have no effect are listed in `warnings`.",
        params: ToolParams,
        body: ToolSchema,
        response: {
          200: ok(
            'The tool was registered before; its schema is replaced.',
            ref(RegisteredToolSchema),
          ),
          201: ok('The tool is registered.', ref(RegisteredToolSchema)),
          ...problemResponses(...BODY_PROBLEMS, ...RUN_PROBLEMS, 'invalid_schema'),
        },
      },
    },
    async (request, reply) => {
      const { run_id, tool_name } = request.params
      const { created, warnings } = await registerTool(
        context,
        request.runRef,
        { name: tool_name, inputSchema: request.body.input_schema },
        request.caller,
      )
      return reply.code(created ? 201 : 200).send({ run_id, tool_name, warnings })
    },
  )

  app.post(
    '/runs/:run_id/resolve',
    {
      schema: {
        operationId: 'resolveArguments',
        tags,
        summary: 'Resolve references and validate',
        description:
          'Replaces references by their values, then validates the arguments that the tool would get. An invalid call is answered with a 200, `valid: false` and the failure to record.',
        params: RunParams,
        body: ResolveSchema,
        response: {
          200: ok('The resolved arguments.', ref(ResolvedSchema)),
          ...problemResponses(
            ...BODY_PROBLEMS,
            ...RUN_PROBLEMS,
            'tool_not_registered',
            'invalid_schema',
          ),
        },
      },
    },
    async (request, reply) => {
      const {
        arguments: args,
        input_schema: inputSchema,
        tool_name: toolName,
        mode = 'lenient',
      } = request.body
      const answer = await resolveArguments(context, request.runRef, {
        arguments: args,
        inputSchema,
        toolName,
        mode,
        caller: request.caller,
      })
      app.metrics.countReferences(answer)
      return sendSpliced(reply, {
        ...answer,
        unresolved: asSlice(answer.unresolved),
        errors: asSlice(answer.errors),
        warnings: asSlice(answer.warnings),
      })
    },
  )
}

/** One slice for a list of ours in a spliced reply, which else could have thousands of parts. */
const asSlice = (answer: unknown): JsonSlice => new JsonSlice(Buffer.from(JSON.stringify(answer)))
