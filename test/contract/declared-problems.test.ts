import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { exampleRequests } from '../../scripts/openapi/example-requests.ts'
import type { ErrorCode } from '../../src/core/errors.ts'
import { type Operation, operationsOf } from '../../src/http/docs/openapi-document.ts'
import { PROVOKABLE, provoke } from './provoked.ts'
import { type Complain, complainer, responsesOf } from './schemas.ts'
import { startTestService, type TestService } from './support.ts'

const PROBLEM = 'application/problem+json'
const JSON_TYPE = { 'content-type': 'application/json' }

/** What may be wrong with any call that has a body, by the code that answers it. */
const BAD_BODIES: Readonly<
  Partial<Record<ErrorCode, { payload: string | Buffer; headers: Record<string, string> }>>
> = {
  invalid_json: { payload: '{', headers: JSON_TYPE },
  invalid_utf8: { payload: Buffer.from([0xff]), headers: JSON_TYPE },
  json_too_deep: { payload: '['.repeat(2000), headers: JSON_TYPE },
  body_too_large: { payload: '{}', headers: { ...JSON_TYPE, 'content-length': '67108865' } },
  unsupported_media_type: {
    payload: 'a=b',
    headers: { 'content-type': 'application/x-www-form-urlencoded' },
  },
  invalid_request: { payload: '[]', headers: JSON_TYPE },
}

let service: TestService
let complain: Complain
beforeAll(async () => {
  service = await startTestService()
  complain = complainer(service.document)
})
afterAll(() => service.close())

function operationAt(method: string, url: string): Operation | undefined {
  const path = url.split('?', 1)[0] as string
  return operationsOf(service.document).find(
    (candidate) =>
      candidate.method === method.toLowerCase() &&
      new RegExp(`^${candidate.path.replaceAll(/\{[^}]+\}/g, '[^/]+')}$`).test(path),
  )?.operation
}

/** What keeps a problem from being one that the operation declares. */
function undeclared(
  operation: Operation | undefined,
  status: number,
  problem: unknown,
): readonly string[] {
  const responses = operation === undefined ? {} : responsesOf(operation, service.document)
  const media = responses[String(status)]?.content?.[PROBLEM]
  const { code } = problem as { code: string }
  const where = `${operation?.operationId} ${status} ${code}`
  if (media === undefined) return [`${where} is not declared`]
  const isListed = Object.hasOwn(media['examples'] as object, code)
  return [...(isListed ? [] : [`${where} is not listed`]), ...complain(media['schema'], problem)]
}

describe('every problem is declared by the operation that answers it', () => {
  it.each(Object.keys(BAD_BODIES) as ErrorCode[])('for a body that is %s', async (code) => {
    const { payload, headers } = BAD_BODIES[code] as NonNullable<(typeof BAD_BODIES)[ErrorCode]>
    const withBody = exampleRequests(service.document).filter(
      (request) => request.payload !== undefined,
    )
    expect(withBody.length).toBeGreaterThan(10)
    for (const { method, url } of withBody) {
      const reply = await service.app.inject({ method, url, payload, headers: { ...headers } })
      expect(undeclared(operationAt(method, url), reply.statusCode, reply.json())).toEqual([])
      expect([url, reply.json().code]).toEqual([url, code])
    }
  })

  it('for a call from a web page', async () => {
    for (const { method, url } of exampleRequests(service.document)) {
      const reply = await service.app.inject({
        method,
        url,
        headers: { origin: 'https://example.com' },
      })
      expect(reply.json().code).toBe('forbidden_origin')
      expect(undeclared(operationAt(method, url), reply.statusCode, reply.json())).toEqual([])
    }
  })

  it('for a call without the token', async () => {
    const secured = await startTestService({ COATCHECK_TOKEN: 'secret' })
    for (const { method, url } of exampleRequests(secured.document)) {
      const reply = await secured.app.inject({ method, url })
      if (reply.statusCode === 200) continue
      expect(reply.json().code).toBe('unauthorized')
      expect(undeclared(operationAt(method, url), reply.statusCode, reply.json())).toEqual([])
    }
    await secured.close()
  })

  it('for a run id, a handle and a query that are none', async () => {
    for (const { method, url, payload } of exampleRequests(service.document)) {
      const bad = url.replace('/runs/demo', '/runs/$demo').replace(/\?.*|$/, '?no_such_parameter=1')
      const headers = payload === undefined ? {} : { ...JSON_TYPE }
      const reply = await service.app.inject({
        method,
        url: bad,
        headers,
        ...(payload === undefined ? {} : { payload }),
      })
      if (reply.statusCode < 400) continue
      expect(undeclared(operationAt(method, url), reply.statusCode, reply.json())).toEqual([])
    }
  })

  it('for a query that is not percent-encoded UTF-8', async () => {
    for (const { method, url } of exampleRequests(service.document)) {
      const path = url.replace(/\?.*|$/, '?a=%ff')
      const reply = await service.app.inject({ method, url: path })
      expect([path, reply.json().code]).toEqual([path, 'invalid_request'])
      expect(undeclared(operationAt(method, url), reply.statusCode, reply.json())).toEqual([])
    }
  })

  it.each(PROVOKABLE)('for what provokes %s', async (code) => {
    const refused = (await provoke(service, code)).filter(({ status }) => status >= 400)
    expect(refused.length).toBeGreaterThan(0)
    for (const { method, url, status, body } of refused) {
      expect(undeclared(operationAt(method, url), status, body)).toEqual([])
    }
  })
})
