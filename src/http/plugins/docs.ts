/**
 * The OpenAPI document, made from the route schemas, Swagger UI over it, and a page for each problem code. Everything is
 * served from here: the pages ask no other host.
 */
import { readFile } from 'node:fs/promises'
import fastifySwagger from '@fastify/swagger'
import swaggerUi from '@fastify/swagger-ui'
import type { FastifyInstance } from 'fastify'
import { Type } from 'typebox'
import { stringify } from 'yaml'
import { CoatcheckError, ERROR_CODES } from '../../core/errors.ts'
import { PROBLEM_PAGES } from '../problems.ts'

const VERSION = '0.1.0'
const PAGES = new URL('../../../docs/reference/problems/', import.meta.url)

const DESCRIPTION =
  'Coatcheck keeps bulky tool results of AI-agent loops out of the transcript, and every byte of them within reach: put a result, show its content, pass references to it, recall any part.'

/** Call it before any route is added. */
export async function addOpenApi(app: FastifyInstance, options: { readonly secured: boolean }): Promise<void> {
  await app.register(fastifySwagger, {
    openapi: {
      openapi: '3.1.0',
      info: { title: 'coatcheck', version: VERSION, description: DESCRIPTION, license: { name: 'MIT', identifier: 'MIT' } },
      servers: [{ url: '/', description: 'This service.' }],
      tags: [
        { name: 'runs', description: 'One agent-loop run each.' },
        { name: 'results', description: 'What tools came to.' },
        { name: 'arguments', description: 'What tools are called with.' },
        { name: 'evidence', description: 'Results, read back by the model.' },
        { name: 'text', description: 'Previews, windows and canonical text, without a run.' },
        { name: 'sentinels', description: 'Suspensions and failures.' },
        { name: 'compaction', description: 'Making room in a transcript.' },
        { name: 'health', description: 'For operators.' },
      ],
      components: {
        securitySchemes: {
          token: { type: 'http', scheme: 'bearer', description: 'COATCHECK_TOKEN, where the service was started with one.' },
        },
      },
      ...(options.secured ? { security: [{ token: [] }] } : {}),
    },
    convertConstToEnum: false,
    refResolver: {
      buildLocalReference: (json, _base, _fragment, i) =>
        typeof json['$id'] === 'string' ? json['$id'] : `def-${i}`,
    },
  })
}

/** Call it after the routes are added. */
export async function addDocs(app: FastifyInstance): Promise<void> {
  await app.register(swaggerUi, {
    routePrefix: '/docs',
    staticCSP: true,
    uiConfig: { docExpansion: 'list', tryItOutEnabled: true, persistAuthorization: true },
  })
  app.get('/openapi.json', { schema: { hide: true } }, async () => app.swagger())
  app.get('/openapi.yaml', { schema: { hide: true } }, async (_request, reply) =>
    reply.type('application/yaml; charset=utf-8').send(openApiYaml(app)),
  )
  app.get(
    `${PROBLEM_PAGES}/:code`,
    { schema: { hide: true, params: Type.Object({ code: Type.String() }) } },
    async (request, reply) => {
      const { code } = request.params as { code: string }
      return reply.type('text/plain; charset=utf-8').send(await problemPage(code))
    },
  )
}

async function problemPage(code: string): Promise<string> {
  const known = ERROR_CODES.find((candidate) => candidate === code)
  if (known !== undefined) return readFile(new URL(`${known}.md`, PAGES), 'utf8')
  throw new CoatcheckError('not_found', `There is no problem code ${JSON.stringify(code)}.`)
}

/** The document as committed: no aliases, in the order of the routes. */
export function openApiYaml(app: FastifyInstance): string {
  return stringify(app.swagger(), { aliasDuplicateObjects: false, lineWidth: 0 })
}
