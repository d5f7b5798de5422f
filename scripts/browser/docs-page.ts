/**
 * Swagger UI's page with the actions of a reader. Records the requests and complaints of the
 * browser.
 */
import { readFile } from 'node:fs/promises'
import type { Browser, Locator, Page } from 'playwright-core'

const VIEWPORT = { width: 1280, height: 1600 }
const TIMEOUT_MS = 20_000
const OPERATION = '.opblock'
const WATCH_PAUSES = `{
  window.longestPauseMs = 0
  let last = performance.now()
  setInterval(() => {
    const now = performance.now()
    window.longestPauseMs = Math.max(window.longestPauseMs, now - last)
    last = now
  }, 20)
}`
/** Id of an operation's block in Swagger UI: `operations-{tag}-{operationId}`. */
const BLOCK_ID = /^operations-[^-]+-(.+)$/

/** The answer as the page shows it. */
export interface Shown {
  readonly status: string
  readonly body: string
}

/** Swagger UI in a page of a browser. */
export class DocsPage {
  readonly #page: Page
  readonly #requests: string[] = []
  readonly #complaints: string[] = []

  /** Opens the page. Resolves when the operations are shown. */
  static async open(browser: Browser, url: string): Promise<DocsPage> {
    const page = await browser.newPage({ viewport: VIEWPORT })
    page.setDefaultTimeout(TIMEOUT_MS)
    const docs = new DocsPage(page)
    await page.goto(`${url}/docs`)
    await page.locator(OPERATION).first().waitFor()
    return docs
  }

  private constructor(page: Page) {
    this.#page = page
    page.on('request', (request) => this.#requests.push(request.url()))
    page.on('requestfailed', (request) => this.#complaints.push(`${request.url()} failed`))
    page.on('pageerror', (error) => this.#complaints.push(String(error)))
    // Violations of the content security policy are such messages, too.
    page.on('console', (message) => {
      if (message.type() === 'error') this.#complaints.push(message.text())
    })
  }

  /** Ids of the operations, from top to bottom. */
  async operations(): Promise<readonly string[]> {
    const ids = await this.#page
      .locator(OPERATION)
      .evaluateAll((blocks) => blocks.map(({ id }) => id))
    return ids.map((id) => BLOCK_ID.exec(id)?.[1] ?? id)
  }

  /** Requests to other hosts, errors of the page and messages of the console. */
  complaints(url: string): readonly string[] {
    const { origin } = new URL(url)
    const foreign = this.#requests.filter((request) => {
      const { protocol } = new URL(request)
      return protocol.startsWith('http') && new URL(request).origin !== origin
    })
    return [...foreign.map((request) => `the page asked for ${request}`), ...this.#complaints]
  }

  /** The text above the operations. */
  async introduction(): Promise<string> {
    return (await this.#page.locator('.info').textContent()) ?? ''
  }

  /** Height of the opened operation, in pixels. */
  async height(operationId: string): Promise<number> {
    return (await this.#block(operationId).boundingBox())?.height ?? 0
  }

  async authorize(token: string): Promise<void> {
    await this.#page.locator('.btn.authorize').click()
    const dialog = this.#page.locator('.dialog-ux')
    await dialog.locator('input').fill(token)
    await dialog.locator('button.authorize').click()
    await dialog.locator('button.btn-done').click()
  }

  /** Opens the operation and fills in parameters by name. */
  async open(operationId: string, parameters: Readonly<Record<string, string>> = {}) {
    const block = this.#block(operationId)
    await block.locator('.opblock-summary-control').click()
    await block.locator('.opblock-body').waitFor()
    for (const [name, value] of Object.entries(parameters)) {
      await block.locator(`tr[data-param-name="${name}"] input`).fill(value)
    }
  }

  /**
   * Sends the request as it is filled in, and reads the answer from the page. The operation must be
   * open.
   */
  async execute(operationId: string): Promise<Shown> {
    const block = this.#block(operationId)
    const tryOut = block.locator('.try-out__btn', { hasText: 'Try it out' })
    if ((await tryOut.count()) > 0) await tryOut.click()
    await block.locator('button.execute').click()
    const answer = block.locator('.live-responses-table .response').first()
    await answer.waitFor()
    const status = await answer.locator('.response-col_status').first().textContent()
    const body = answer.locator('.highlight-code, .large-body').first()
    const isShown = (await body.count()) > 0
    return {
      status: (status ?? '').trim(),
      body: isShown ? ((await body.textContent()) ?? '') : '',
    }
  }

  /** Bytes that the link of a clipped answer saves. */
  async saved(operationId: string): Promise<Buffer> {
    const started = this.#page.waitForEvent('download')
    await this.#block(operationId).locator('.large-body a').click()
    return readFile(await (await started).path())
  }

  /**
   * Starts to measure the longest time for which the page's thread is blocked; see `longestPause`.
   */
  async watchPauses(): Promise<void> {
    await this.#page.evaluate(WATCH_PAUSES)
  }

  /** Longest time for which the page's thread was blocked since `watchPauses`, in milliseconds. */
  async longestPause(): Promise<number> {
    return this.#page.evaluate('window.longestPauseMs')
  }

  async collapse(operationId: string): Promise<void> {
    await this.#block(operationId).locator('.opblock-summary-control').click()
  }

  async screenshot(path: string): Promise<void> {
    await this.#page.screenshot({ path })
  }

  /** Takes a screenshot from the request body down to the answer. */
  async screenshotOf(operationId: string, path: string): Promise<void> {
    const sent = this.#block(operationId).locator('.opblock-section-request-body')
    await sent.evaluate((section) => section.scrollIntoView())
    await this.screenshot(path)
  }

  async close(): Promise<void> {
    await this.#page.close()
  }

  #block(operationId: string): Locator {
    return this.#page.locator(`.opblock[id$="-${operationId}"]`)
  }
}
