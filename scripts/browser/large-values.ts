/**
 * Tests how Swagger UI shows values. Large values are clipped, with a link that saves them whole,
 * and the page stays usable. Small values keep the digits that were put. Without clipping, Swagger
 * UI took 46 s for 2.2 MB, and 22 MB crashed the page.
 */
import type { Browser } from 'playwright-core'
import { DocsPage } from './docs-page.ts'

const RUN = 'browser-values'
const OPERATION = 'readValue'
/** Longest pause of the page: far more than it takes, and far less than without clipping. */
const PAUSE_MS = 5_000
/** Most characters that are shown: the clipped text and the line above it. */
const SHOWN_CHARS = 70_000
const ROW = '{"id":12345678901234567890,"name":"a file of some name","size":1.0,"tags":["a","b"]}'
const PIXEL =
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg=='

interface Value {
  readonly name: string
  readonly type: string
  readonly bytes: Buffer
  /** Part of the value that must be shown. */
  readonly shown?: string
  readonly isClipped: boolean
}

const rows = (bytes: number): Buffer =>
  Buffer.from(`[${Array.from({ length: bytes / ROW.length }, () => ROW).join(',')}]`)

const VALUES: readonly Value[] = [
  {
    name: 'small JSON',
    type: 'application/vnd.rows+json',
    bytes: rows(1_000),
    shown: '"id": 12345678901234567890,\n    "name": "a file of some name",\n    "size": 1.0',
    isClipped: false,
  },
  { name: 'an image', type: 'image/png', bytes: Buffer.from(PIXEL, 'base64'), isClipped: false },
  {
    name: '2.2 MB of JSON',
    type: 'application/vnd.rows+json',
    bytes: rows(2_200_000),
    shown: ROW,
    isClipped: true,
  },
  {
    name: '22 MB of JSON',
    type: 'application/vnd.rows+json',
    bytes: rows(22_000_000),
    shown: ROW,
    isClipped: true,
  },
  {
    name: '22 MB of text',
    type: 'text/plain',
    bytes: Buffer.from('key: value, and some words\n'.repeat(815_000)),
    shown: 'key: value, and some words\nkey',
    isClipped: true,
  },
  {
    name: '22 MB of bytes',
    type: 'application/octet-stream',
    bytes: Buffer.alloc(22_000_000, 7),
    isClipped: true,
  },
]

/** Returns everything that is wrong; empty when nothing is. */
export async function tryLargeValues(
  browser: Browser,
  url: string,
  token: string | undefined,
): Promise<readonly string[]> {
  const failures: string[] = []
  for (const value of VALUES) {
    const handle = await put(url, value, token)
    const page = await DocsPage.open(browser, url)
    if (token !== undefined) await page.authorize(token)
    await page.open(OPERATION, { run_id: RUN, handle })
    const wrong = await tryValue(page, value)
    failures.push(...[...wrong, ...page.complaints(url)].map((text) => `${value.name}: ${text}`))
    await page.close()
  }
  return failures
}

async function tryValue(
  page: DocsPage,
  { name, bytes, shown, isClipped }: Value,
): Promise<readonly string[]> {
  await page.watchPauses()
  const { status, body } = await page.execute(OPERATION)
  const pause = Math.round(await page.longestPause())
  console.log(`${status} ${name}: ${body.length} characters shown, the page paused for ${pause} ms`)
  const wrong: string[] = []
  if (status !== '200') wrong.push(`the answer is ${status}`)
  if (pause > PAUSE_MS) wrong.push(`the page paused for ${pause} ms`)
  if (shown !== undefined && !body.includes(shown)) wrong.push(`it shows ${body.slice(0, 300)}`)
  if (!isClipped) return wrong
  if (body.length > SHOWN_CHARS) wrong.push(`it shows ${body.length} characters`)
  if (!body.includes(`${bytes.length.toLocaleString('en')} bytes`)) wrong.push('no size is shown')
  if (!(await page.saved(OPERATION)).equals(bytes)) wrong.push('what is saved is not the value')
  return wrong
}

/** Puts a value and returns its handle. */
async function put(
  url: string,
  { type, bytes }: Value,
  token: string | undefined,
): Promise<string> {
  const reply = await fetch(`${url}/v1/runs/${RUN}/results`, {
    method: 'POST',
    headers: {
      'content-type': type,
      ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
    },
    body: bytes,
  })
  if (!reply.ok) throw new Error(`the put was answered with ${reply.status}: ${await reply.text()}`)
  return ((await reply.json()) as { handle: string }).handle
}
