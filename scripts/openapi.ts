/**
 * Writes openapi.yaml from the route schemas, and the answers to its examples. Each example is
 * sent, in the order of the document, to a service with an empty ledger and a fixed clock, so the
 * answers are real. With `--check` it writes nothing, and exits 1 when a committed file differs.
 */
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { readConfig } from '../src/config.ts'
import { openApiYaml } from '../src/http/docs/docs.ts'
import type { OpenApiDocument } from '../src/http/docs/openapi-document.ts'
import { type Service, startService } from '../src/service.ts'
import { exampleRequests } from './openapi/example-requests.ts'
import { scriptOptions } from './options.ts'

const DOCUMENT = new URL('../openapi.yaml', import.meta.url)
const ANSWERS = new URL('../src/http/docs/openapi-answers.jsonl', import.meta.url)
const CLOCK_MS = Date.UTC(2026, 0, 31, 9, 30)
const JSON_TYPE = 'application/json'

const { flags } = scriptOptions({
  command: 'npm run openapi --',
  does: 'Writes openapi.yaml, and the answers of its examples.',
  flags: { check: 'write nothing; exit 1 when a file differs' },
})

const check = flags.check
await settle(ANSWERS, await withService(answersOf))
await settle(DOCUMENT, await withService(async ({ app }) => openApiYaml(app)))

async function withService(use: (service: Service) => Promise<string>): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'coatcheck-openapi-'))
  const config = readConfig({ COATCHECK_LEDGER: join(folder, 'ledger.db') })
  const service = await startService(config, { now: () => CLOCK_MS })
  try {
    await service.app.ready()
    return await use(service)
  } finally {
    await service.close()
    await rm(folder, { recursive: true })
  }
}

/** One line for each operation that answers JSON. Throws when an example does not succeed. */
async function answersOf({ app }: Service): Promise<string> {
  const lines: string[] = []
  for (const { operationId, method, url, payload } of exampleRequests(
    app.swagger() as unknown as OpenApiDocument,
  )) {
    const headers = payload === undefined ? {} : { 'content-type': JSON_TYPE }
    const reply = await app.inject({
      method,
      url,
      headers,
      ...(payload === undefined ? {} : { payload }),
    })
    if (!isSuccess(reply.statusCode)) {
      throw new Error(
        `the example of ${operationId} was answered with ${reply.statusCode}: ${reply.payload}`,
      )
    }
    const isJson = String(reply.headers['content-type']).startsWith(JSON_TYPE)
    const { statusCode: status, payload: body } = reply
    if (isJson) lines.push(`{"operationId":"${operationId}","status":${status},"body":${body}}`)
  }
  return `${lines.join('\n')}\n`
}

function isSuccess(status: number): boolean {
  return String(status).startsWith('2')
}

async function settle(file: URL, text: string): Promise<void> {
  if (!check) return writeFile(file, text)
  if ((await readFile(file, 'utf8').catch(() => '')) === text) return
  console.error(`${file.pathname.split('/').at(-1)} is not what the routes say: npm run openapi`)
  process.exitCode = 1
}
