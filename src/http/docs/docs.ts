/**
 * Serves the OpenAPI document, which is made from the route schemas, Swagger UI, and a page for
 * each problem code. The pages load nothing from other hosts.
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

/** Put before the description when tokens are set. */
const TOKEN_NEEDED = `**This service needs a token.** Press *Authorize* below and enter the value of \`COATCHECK_TOKEN\`, or a token of \`COATCHECK_TOKENS_FILE\`. Until then every call but \`/livez\` and \`/readyz\` is answered with 401.

`

const DESCRIPTION = `Coatcheck keeps large tool results of AI-agent loops out of the transcript. Every byte of them can still be read.

1. **Put** each tool result. The answer has a handle (\`r1\`) and \`content\`, the text for the transcript in its place.
2. **Resolve** the arguments of the next call: \`"$r1.rows.0"\` is replaced by its value, then the arguments that the tool would get are validated.
3. **Recall** any part, by lines or characters, with the id that the content names. All pages joined are the whole text, byte for byte.

Every call below has an example that works without a change: press *Execute*, from top to bottom. A run needs no setup; its first put opens it.

Units stand in names: \`_bytes\` (UTF-8), \`_chars\` (code points), \`_lines\`. A refused request is answered with a problem (RFC 9457), which has a stable \`code\`. Its \`type\` is the address of a page of this service that says what to do. Each answer has its request id in \`x-request-id\`. If the service was started with tokens, press *Authorize* first. Each tenant has its own runs. A body may be sent with \`content-encoding: gzip\` or \`zstd\`.`

/**
 * Content security policy of the pages: everything comes from this service, scripts only from
 * files. Swagger UI needs inline styles. `upgrade-insecure-requests` is left out, because it would
 * break the page over plain HTTP on any host but this one.
 */
const PAGE_POLICY = {
  'default-src': "'none'",
  'script-src': "'self'",
  'style-src': "'self' 'unsafe-inline'",
  // An image in an answer is shown from memory.
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
/** Changes to Swagger UI. The browser runs the scripts in this order, before Swagger UI starts. */
const PAGE_FILES = new URL('swagger-ui/', import.meta.url)
const PAGE_STYLE = 'page.css'
const PAGE_SCRIPTS = ['large-answers.js', 'json-answers.js', 'response-rows.js', 'start.js']

const TAGS = [
  {
    name: 'runs',
    description: 'A run is one execution of an agent loop. Open, change, read, list and end runs.',
  },
  {
    name: 'results',
    description:
      'Results of tool calls: put them, get their contents for the transcript, read them back whole.',
  },
  {
    name: 'arguments',
    description:
      'Arguments of tool calls: references are resolved, then the arguments are validated.',
  },
  { name: 'evidence', description: 'Results that the model reads back, a page at a time.' },
  { name: 'text', description: 'Previews, windows and canonical text, without a run.' },
  {
    name: 'sentinels',
    description: 'Calls that wait or failed, as JSON values and as text for the model.',
  },
  {
    name: 'compaction',
    description: 'Make room in a transcript: elide, decide, plan, apply. No model is called.',
  },
  { name: 'health', description: 'Liveness, readiness and metrics, for operators.' },
]

/** Collects the schemas of the routes. Call it before any route is added. */
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
              'Value of COATCHECK_TOKEN, or a token of COATCHECK_TOKENS_FILE, if the service was started with tokens.',
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

/** Answers to the example requests, one line for each operation. */
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

/** Adds the pages and the document. Call it after the routes are added. */
export async function addDocs(app: FastifyInstance): Promise<void> {
  const [style, ...scripts] = await Promise.all([PAGE_STYLE, ...PAGE_SCRIPTS].map(readPageFile))
  const json = new StaticText(JSON_TYPE, () => JSON.stringify(app.swagger()))
  const yaml = new StaticText(YAML_TYPE, () => openApiYaml(app))
  await app.register(swaggerUi, {
    routePrefix: DOCS_PAGE,
    uiHooks: {
      // Swagger UI would make its own documents anew for each request.
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
  // The router also takes `//` and `*` for the root.
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

/** One line for each code, with the address of its page. */
function problemIndex(): string {
  return ERROR_CODES.map((code) => {
    const { status, title } = PROBLEMS[code]
    return `${status} ${code}: ${title}. ${PROBLEM_PAGES}/${code}\n`
  }).join('')
}

/** Text of a page. Throws `not_found` for an unknown code. */
async function problemPage(code: string): Promise<string> {
  const known = ERROR_CODES.find((candidate) => candidate === code)
  if (known !== undefined) return readFile(new URL(`${known}.md`, PAGES), 'utf8')
  throw new CoatcheckError('not_found', `There is no problem code ${JSON.stringify(code)}.`)
}

/** The document as it is committed: without aliases, in the order of the routes. */
export function openApiYaml(app: FastifyInstance): string {
  return stringify(app.swagger(), { aliasDuplicateObjects: false, lineWidth: 0 })
}
