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
import { VERSION } from '../../core/version.ts'
import { pathOf } from '../logged.ts'
import { DOCS_PAGE, PROBLEM_PAGES, PROBLEMS } from '../problems/problems.ts'
import { type AnswerExample, finishDocument, type OpenApiDocument } from './openapi-document.ts'
import { StaticText } from './static-text.ts'

const JSON_TYPE = 'application/json; charset=utf-8'
const YAML_TYPE = 'application/yaml; charset=utf-8'
const ROOT = '/'
const PAGES = new URL('../../../docs/reference/problems/', import.meta.url)

const ANSWERS = new URL('openapi-answers.jsonl', import.meta.url)

/** Before the description where tokens are set. */
const TOKEN_NEEDED = `**This service needs a token.** Press *Authorize* below and enter the value of \`COATCHECK_TOKEN\`, or a token of \`COATCHECK_TOKENS_FILE\`. Until then every call but \`/livez\` and \`/readyz\` is answered with 401.

`

const DESCRIPTION = `Coatcheck keeps bulky tool results of AI-agent loops out of the transcript, and every byte of them within reach.

1. **Put** each tool result. The answer has a handle (\`r1\`) and \`content\`: what goes into the transcript in its place.
2. **Resolve** the arguments of the next call: \`"$r1.rows.0"\` becomes the real value, and what the tool would really get is validated.
3. **Recall** any part, by lines or characters, with the id that the content names. Pages joined are the whole, byte for byte.

Every call below is filled in with an example and works as it stands: press *Execute*, from top to bottom. A run needs no setup; it opens with its first put.

Lengths say their unit: \`_bytes\` (UTF-8), \`_chars\` (code points), \`_lines\`. Whatever goes wrong is a problem (RFC 9457) with a stable \`code\`, and its \`type\` is a page of this service that says what to do. Each answer carries its request id in \`x-request-id\`. Where the service was started with tokens, press *Authorize* first; each tenant has its own runs. A body may be sent with \`content-encoding: gzip\` or \`zstd\`.`

/**
 * Everything from here, and no script but files. Swagger UI styles inline. Without `upgrade-insecure-requests`, which would
 * break the page over plain HTTP on any host but this one.
 */
const PAGE_POLICY = {
  'default-src': "'none'",
  'script-src': "'self'",
  'style-src': "'self' 'unsafe-inline'",
  // an image that a call answers with is shown from memory
  'img-src': "'self' data: blob:",
  'font-src': "'self' data:",
  'connect-src': "'self'",
  'form-action': "'self'",
  'base-uri': "'none'",
  'frame-ancestors': "'none'",
}
const PAGE_HEADERS = {
  'x-content-type-options': 'nosniff',
  'x-frame-options': 'DENY',
  'referrer-policy': 'no-referrer',
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
}
/** Our changes to Swagger UI; the browser runs the scripts in this order, before Swagger UI starts. */
const PAGE_FILES = new URL('swagger-ui/', import.meta.url)
const PAGE_STYLE = 'page.css'
const PAGE_SCRIPTS = ['large-answers.js', 'json-answers.js', 'response-rows.js', 'start.js']

const TAGS = [
  {
    name: 'runs',
    description: 'One for each run of an agent loop: its settings, its totals, its end.',
  },
  {
    name: 'results',
    description:
      'What tools came to: put it, get the content for the transcript, read it back whole.',
  },
  {
    name: 'arguments',
    description: 'What tools are called with: references resolved, then validated.',
  },
  { name: 'evidence', description: 'Results read back by the model, a page at a time.' },
  { name: 'text', description: 'Previews, windows and canonical text, without a run.' },
  {
    name: 'sentinels',
    description: 'Calls that wait or failed, as values and as text for the model.',
  },
  {
    name: 'compaction',
    description: 'Making room in a transcript: elide, decide, plan, apply. No model is asked.',
  },
  { name: 'health', description: 'For operators.' },
]

/** Call it before any route is added. */
export async function addOpenApi(
  app: FastifyInstance,
  options: { readonly secured: boolean },
): Promise<void> {
  const answers = await readAnswers()
  app.addHook('onRequest', async (request, reply) => {
    if (request.url.startsWith(DOCS_PAGE)) reply.headers(PAGE_HEADERS)
  })
  await app.register(fastifySwagger, {
    openapi: {
      openapi: '3.1.0',
      info: {
        title: 'coatcheck',
        version: VERSION,
        description: options.secured ? TOKEN_NEEDED + DESCRIPTION : DESCRIPTION,
        license: { name: 'MIT', identifier: 'MIT' },
      },
      servers: [{ url: '/', description: 'This service.' }],
      tags: TAGS,
      components: {
        securitySchemes: {
          token: {
            type: 'http',
            scheme: 'bearer',
            description:
              'The value of COATCHECK_TOKEN, or a token of COATCHECK_TOKENS_FILE, where the service was started with one.',
          },
        },
      },
      ...(options.secured ? { security: [{ token: [] }] } : {}),
    },
    convertConstToEnum: false,
    refResolver: {
      buildLocalReference: (json, _base, _fragment, i) =>
        typeof json['$id'] === 'string' ? json['$id'] : `def-${i}`,
    },
    transformObject: (made) => {
      const { openapiObject } = made as { openapiObject: unknown }
      return finishDocument(openapiObject as OpenApiDocument, answers) as object
    },
  })
}

/** One line for each operation: what it answers to its example. */
async function readAnswers(): Promise<readonly AnswerExample[]> {
  const lines = (await readFile(ANSWERS, 'utf8')).split('\n').filter((line) => line !== '')
  return lines.map((line) => JSON.parse(line) as AnswerExample)
}

interface PageFile {
  readonly filename: string
  readonly content: string
}

async function readPageFile(filename: string): Promise<PageFile> {
  return { filename, content: await readFile(new URL(filename, PAGE_FILES), 'utf8') }
}

/** Call it after the routes are added. */
export async function addDocs(app: FastifyInstance): Promise<void> {
  const [style, ...scripts] = await Promise.all([PAGE_STYLE, ...PAGE_SCRIPTS].map(readPageFile))
  const json = new StaticText(JSON_TYPE, () => JSON.stringify(app.swagger()))
  const yaml = new StaticText(YAML_TYPE, () => openApiYaml(app))
  await app.register(swaggerUi, {
    routePrefix: DOCS_PAGE,
    uiHooks: {
      // Its own documents would be made anew for each request.
      onRequest: (request, reply, done) => {
        const path = pathOf(request.url)
        if (path === `${DOCS_PAGE}/json`) json.send(request, reply)
        else if (path === `${DOCS_PAGE}/yaml`) yaml.send(request, reply)
        else done()
      },
    },
    staticCSP: PAGE_POLICY,
    theme: {
      title: 'coatcheck API',
      css: [style as PageFile],
      js: scripts,
    },
    uiConfig: {
      docExpansion: 'list',
      tryItOutEnabled: true,
      persistAuthorization: true,
      deepLinking: true,
      displayRequestDuration: true,
      defaultModelsExpandDepth: 0,
    },
  })
  // the router also takes other targets for the root: `//`, `*`
  app.get(ROOT, { schema: { hide: true } }, (request, reply) =>
    pathOf(request.url) === ROOT ? reply.redirect(DOCS_PAGE) : reply.callNotFound(),
  )
  app.get('/openapi.json', { schema: { hide: true } }, (request, reply) =>
    json.send(request, reply),
  )
  app.get('/openapi.yaml', { schema: { hide: true } }, (request, reply) =>
    yaml.send(request, reply),
  )
  app.get(PROBLEM_PAGES, { schema: { hide: true } }, async (_request, reply) =>
    reply.type('text/plain; charset=utf-8').send(problemIndex()),
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

/** A line for each code, with the address of its page. */
function problemIndex(): string {
  return ERROR_CODES.map((code) => {
    const { status, title } = PROBLEMS[code]
    return `${status} ${code}: ${title}. ${PROBLEM_PAGES}/${code}\n`
  }).join('')
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
