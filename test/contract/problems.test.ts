import { readdirSync, readFileSync } from 'node:fs'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { ERROR_CODES } from '../../src/core/errors.ts'
import { PROBLEM_EXAMPLES } from '../../src/http/docs/problem-examples.ts'
import { PROBLEMS } from '../../src/http/problems/problems.ts'
import { PROVOKABLE, provoke } from './provoked.ts'
import { startTestService, type TestService } from './support.ts'

const PAGES = new URL('../../docs/reference/problems/', import.meta.url)
const INDEX = new URL('../../docs/reference/problems.md', import.meta.url)
const EXAMPLE_BLOCK = /```json\n(.*?)```/s
const TOKEN = 'a-token-of-some-length'

let service: TestService
beforeAll(async () => {
  service = await startTestService()
})
afterAll(() => service.close())

describe('problems', () => {
  it.each(PROVOKABLE)('the example of %s is what the service answers', async (code) => {
    const { instance, ...problem } = (await provoke(service, code)).at(-1)?.body ?? {}
    const { instance: _example, ...example } = PROBLEM_EXAMPLES[code]
    expect(problem).toEqual(example)
    expect(instance).toMatch(/^[0-9a-f-]{36}$/)
  })

  it('the example of unauthorized is what a service with a token answers', async () => {
    const secured = await startTestService({ COATCHECK_TOKEN: TOKEN })
    const { instance: _own, ...problem } = (await secured.app.inject({ url: '/v1/runs' })).json()
    await secured.close()
    const { instance: _example, ...example } = PROBLEM_EXAMPLES.unauthorized
    expect(problem).toEqual(example)
  })

  it('every code has a page, and every page is of a code', () => {
    const pages = readdirSync(PAGES).map((name) => name.replace(/\.md$/, ''))
    expect(pages.toSorted()).toEqual([...ERROR_CODES].toSorted())
  })

  it.each(ERROR_CODES)('the page of %s has its title, its status and its example', (code) => {
    const page = readFileSync(new URL(`${code}.md`, PAGES), 'utf8')
    const { status, title } = PROBLEMS[code]
    expect(page).toContain(`# \`${code}\`\n`)
    expect(page).toContain(`${status} · ${title}\n`)
    expect(JSON.parse(EXAMPLE_BLOCK.exec(page)?.[1] ?? 'null')).toEqual(PROBLEM_EXAMPLES[code])
  })

  it('the index lists every code once, with its status and title, in the order of the table', () => {
    const rows = readFileSync(INDEX, 'utf8')
      .split('\n')
      .filter((line) => line.startsWith('| ['))
    const listed = ERROR_CODES.map((code) => {
      const { status, title } = PROBLEMS[code]
      return `| [\`${code}\`](problems/${code}.md) | ${status} | ${title} |`
    })
    expect(rows).toEqual(listed)
  })

  it('the page that a problem names as its type is served', async () => {
    const page = await service.app.inject({ url: PROBLEM_EXAMPLES.not_found.type })
    expect(page.statusCode).toBe(200)
    expect(page.payload).toContain('# `not_found`')
  })
})
