/**
 * Tests Swagger UI in a real browser, as a newcomer uses it. The page loads and asks no other host.
 * Every operation, from top to bottom, fits on a screen and succeeds with its prepared example.
 * Large values leave the page usable (`browser/large-values.ts`). With a token set, the page says
 * where to enter it. Screenshots stay in artifacts/.
 *
 * `COATCHECK_URL`: a running service; without it one is started, with its own ledger.
 * `COATCHECK_TOKEN`: its token. `CHROMIUM`: the browser, when it is not /usr/bin/chromium. Prints
 * what is wrong and then exits 1.
 */
import { mkdir } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import { type Browser, chromium } from 'playwright-core'
import type { OpenApiDocument } from '../src/http/docs/openapi-document.ts'
import { startChild } from '../test/support/service.ts'
import { DocsPage, type Shown } from './browser/docs-page.ts'
import { tryLargeValues } from './browser/large-values.ts'
import { exampleRequests } from './openapi/example-requests.ts'
import { scriptOptions } from './options.ts'

const ARTIFACTS = fileURLToPath(new URL('../artifacts/', import.meta.url))
const { CHROMIUM = '/usr/bin/chromium', COATCHECK_TOKEN: token, COATCHECK_URL: given } = process.env
const OWN_TOKEN = 'a-token-of-some-length'
/**
 * Largest height of an opened operation, in pixels. With an example of each problem it was 3,000 to
 * 5,200.
 */
const OPERATION_PX = 1_500
/**
 * Includes flags that stop the browser from contacting its vendor, on a network where nothing
 * answers.
 */
const FLAGS = [
  '--headless',
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
]

scriptOptions({
  command: 'npm run test:browser --',
  does: 'Tests every call of Swagger UI in Chromium. COATCHECK_URL, COATCHECK_TOKEN and CHROMIUM in the environment name the service and the browser.',
})

const failures = given === undefined ? await withOwnService() : await inBrowser(given)
for (const failure of failures) console.error(`FAIL ${failure}`)
if (failures.length > 0) process.exitCode = 1

async function withOwnService(): Promise<readonly string[]> {
  const service = await startChild(token === undefined ? {} : { env: { COATCHECK_TOKEN: token } })
  try {
    return await inBrowser(service.url)
  } finally {
    await service.stop()
  }
}

/** Checks that the page and the answer tell a reader that a token is needed. */
async function tryWithoutToken(browser: Browser): Promise<readonly string[]> {
  const service = await startChild({ env: { COATCHECK_TOKEN: OWN_TOKEN } })
  try {
    const page = await DocsPage.open(browser, service.url)
    const introduction = await page.introduction()
    await page.screenshot(`${ARTIFACTS}swagger-ui-token.png`)
    await page.open('listRuns')
    const refused = await page.execute('listRuns')
    await page.authorize(OWN_TOKEN)
    await page.open('recallTool')
    const { status } = await page.execute('recallTool')
    console.log(`${refused.status} without the token that is set, ${status} with it`)
    return [
      ...(introduction.includes('This service needs a token') ? [] : ['no word of the token']),
      ...(refused.body.includes('press \\"Authorize\\"') ? [] : [`the 401 says ${refused.body}`]),
      ...(status === '200' ? [] : [`authorized, and the answer is ${status}`]),
    ]
  } finally {
    await service.stop()
  }
}

async function inBrowser(url: string): Promise<readonly string[]> {
  await mkdir(ARTIFACTS, { recursive: true })
  // The profile is a new folder that is deleted with the browser.
  const browser = await chromium.launch({ executablePath: CHROMIUM, args: FLAGS })
  try {
    const failures = await tryDocs(browser, url)
    const large = await tryLargeValues(browser, url, token)
    return [...failures, ...large, ...(await tryWithoutToken(browser))]
  } finally {
    await browser.close()
  }
}

async function tryDocs(browser: Browser, url: string): Promise<readonly string[]> {
  const page = await DocsPage.open(browser, url)
  const document = (await (await fetch(`${url}/openapi.json`)).json()) as OpenApiDocument
  const operations = exampleRequests(document).map(({ operationId }) => operationId)
  const failures: string[] = []
  const shown = await page.operations()
  if (shown.length !== operations.length || !operations.every((id) => shown.includes(id))) {
    failures.push(`the page shows ${shown.join(', ')}; the document has ${operations.join(', ')}`)
  }
  await page.screenshot(`${ARTIFACTS}swagger-ui-top.png`)
  if (token !== undefined) await page.authorize(token)
  for (const id of shown) {
    await page.open(id)
    const height = await page.height(id)
    if (height > OPERATION_PX) failures.push(`${id} is ${height} px tall`)
    const answer = await page.execute(id)
    console.log(`${answer.status} ${id} (${Math.round(height)} px)`)
    if (!answer.status.startsWith('2')) failures.push(`${id}: ${answer.status} ${answer.body}`)
    failures.push(...complaints(id, answer))
    if (id === 'putResult') await page.screenshotOf(id, `${ARTIFACTS}swagger-ui.png`)
    await page.collapse(id)
  }
  return [...failures, ...page.complaints(url)]
}

/** Checks the answers of put and recall, beyond their success. */
function complaints(id: string, { body }: Shown): readonly string[] {
  const wanted: Readonly<Record<string, string>> = {
    putResult: '"evidence_id": "toolu_01"',
    recall: '"content": "{\\n',
  }
  const part = wanted[id]
  return part === undefined || body.includes(part) ? [] : [`${id} shows no ${part}: ${body}`]
}
