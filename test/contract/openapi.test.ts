import { readFileSync } from 'node:fs'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { exampleRequests } from '../../scripts/openapi/example-requests.ts'
import { openApiYaml } from '../../src/http/docs/docs.ts'
import { type Operation, operationsOf } from '../../src/http/docs/openapi-document.ts'
import { PROBLEM_EXAMPLES } from '../../src/http/docs/problem-examples.ts'
import { type Complain, complainer, responsesOf } from './schemas.ts'
import { startTestService, type TestService } from './support.ts'

const COMMITTED = new URL('../../openapi.yaml', import.meta.url)
const METHODS = ['get', 'put', 'post', 'delete']
/** Where a schema holds schemas by name, and where it holds one or a list of them. */
const MAPS = ['properties', 'patternProperties']
const PARTS = ['items', 'anyOf', 'additionalProperties']

type Node = Record<string, unknown>

let service: TestService
let complain: Complain
beforeAll(async () => {
  service = await startTestService()
  complain = complainer(service.document)
})
afterAll(() => service.close())

interface Media {
  readonly schema: Node
  readonly example?: unknown
  readonly examples?: Readonly<Record<string, { readonly value?: unknown; readonly $ref?: string }>>
}

type Exampled = readonly [where: string, schema: Node, example: unknown]

/** Every example in the document, with the schema it is of. */
function exampled(): readonly Exampled[] {
  return operationsOf(service.document).flatMap(({ operation }) => {
    const { operationId, parameters = [], requestBody } = operation
    const responses = responsesOf(operation, service.document)
    return [
      ...parameters.flatMap(({ name, schema, example = schema['default'] }) => {
        const shown = (schema['examples'] ?? []) as readonly unknown[]
        const all = example === undefined ? shown : [example, ...shown]
        return all.map((value): Exampled => [`${operationId} ${String(name)}`, schema, value])
      }),
      ...inContent(`${operationId} body`, requestBody?.content),
      ...Object.entries(responses).flatMap(([status, { content }]) =>
        inContent(`${operationId} ${status}`, content),
      ),
    ]
  })
}

const inContent = (
  where: string,
  content: Readonly<Record<string, Node>> = {},
): readonly Exampled[] =>
  (Object.values(content) as unknown as readonly Media[]).flatMap((media) =>
    examplesOf(media).map((example): Exampled => [where, media.schema, example]),
  )

function examplesOf({ example, examples = {} }: Media): readonly unknown[] {
  const named = Object.entries(examples).map(([code, { value, $ref }]) =>
    $ref === undefined ? value : PROBLEM_EXAMPLES[code as keyof typeof PROBLEM_EXAMPLES],
  )
  return example === undefined ? named : [example, ...named]
}

/** Members of schemas, and parameters and responses, that say nothing of themselves. */
function undescribed(schema: Node, at: string): readonly string[] {
  const own = MAPS.flatMap((map) => Object.entries((schema[map] ?? {}) as Node)).flatMap(
    ([name, member]) => {
      const { description, $ref } = member as Node
      const missing = description === undefined && $ref === undefined ? [`${at}.${name}`] : []
      return [...missing, ...undescribed(member as Node, `${at}.${name}`)]
    },
  )
  const parts = PARTS.flatMap((part) => [schema[part]].flat()).filter(
    (part): part is Node => typeof part === 'object' && part !== null,
  )
  return [...own, ...parts.flatMap((part) => undescribed(part, at))]
}

const describedBody = ({ requestBody }: Operation): boolean =>
  Object.values(requestBody?.content ?? {}).every(
    (media) => examplesOf(media as unknown as Media).length > 0 || isBytes(media),
  )
const isBytes = (media: unknown): boolean => (media as Media).schema['format'] === 'binary'

describe('the OpenAPI document', () => {
  it('is committed as the routes say it', () => {
    expect(openApiYaml(service.app)).toBe(readFileSync(COMMITTED, 'utf8'))
  })

  it('lists every operation once, with what a reader needs', () => {
    const operations = operationsOf(service.document)
    const ids = operations.map(({ operation }) => operation.operationId)
    expect(new Set(ids).size).toBe(ids.length)
    for (const { method, operation } of operations) {
      expect(METHODS).toContain(method)
      expect(operation).toMatchObject({
        summary: expect.any(String),
        description: expect.any(String),
        tags: [expect.any(String)],
      })
    }
  })

  it('names its components, and shows no keyword of ours', () => {
    expect(
      Object.keys(service.document.components.schemas).filter((name) => name.startsWith('def-')),
    ).toEqual([])
    expect(JSON.stringify(service.document)).not.toMatch(/"(?:x-[a-z-]+|\$id)":/)
  })

  it('describes every parameter, response and member', () => {
    const { components } = service.document
    const members = Object.entries(components.schemas).flatMap(([name, schema]) => [
      ...((schema as Node)['description'] === undefined ? [name] : []),
      ...undescribed(schema as Node, name),
    ])
    const others = operationsOf(service.document).flatMap(({ operation }) => {
      const { operationId, parameters = [] } = operation
      const responses = responsesOf(operation, service.document)
      const silent = [...parameters, ...Object.values(responses)] as readonly Node[]
      return silent.filter(({ description }) => !description).map(() => operationId)
    })
    expect([...members, ...others]).toEqual([])
  })

  it('has an example for every parameter and every body but one of bytes', () => {
    const without = operationsOf(service.document).flatMap(({ operation }) => {
      const { operationId, parameters = [] } = operation
      const silent = parameters.filter(
        ({ example, schema }) =>
          example === undefined &&
          schema['examples'] === undefined &&
          schema['default'] === undefined,
      )
      const bodies = describedBody(operation) ? [] : [`${operationId} body`]
      return [...silent.map(({ name }) => `${operationId} ${String(name)}`), ...bodies]
    })
    expect(without).toEqual([])
  })

  it('has no example that its schema does not allow', () => {
    const all = exampled()
    expect(all.length).toBeGreaterThan(200)
    const wrong = all.flatMap(([where, schema, example]) =>
      complain(schema, example).map((complaint) => `${where}: ${complaint}`),
    )
    expect(wrong).toEqual([])
  })

  // Fault: each operation had its own copies, which was most of the document and of the page.
  it('lists each error response once, and each problem under one status', () => {
    const { components } = service.document
    const own = operationsOf(service.document).flatMap(({ operation }) =>
      Object.entries(operation.responses)
        .filter(([status, { $ref }]) => Number(status) >= 400 && $ref === undefined)
        .map(([status]) => `${operation.operationId} ${status}`),
    )
    expect(own).toEqual([])
    const shared = Object.values(components.responses ?? {})
    expect(new Set(shared.map(({ description }) => description)).size).toBe(shared.length)
    for (const { content } of shared) {
      const examples = content?.['application/problem+json']?.['examples'] as object
      const codes = Object.keys(examples) as (keyof typeof PROBLEM_EXAMPLES)[]
      const statuses = codes.map((code) => PROBLEM_EXAMPLES[code].status)
      expect(new Set(statuses).size).toBe(1)
    }
  })

  it('asks for a token only where there is one', async () => {
    const secured = await startTestService({ COATCHECK_TOKEN: 'secret' })
    const { security } = secured.document as unknown as Node
    await secured.close()
    expect(security).toEqual([{ token: [] }])
    expect((service.document as unknown as Node)['security']).toBeUndefined()
  })
})

describe('the examples, sent from top to bottom', () => {
  it('are each answered with a success that the document declares', async () => {
    const { app, document } = service
    const operations = new Map(
      operationsOf(document).map(({ operation }) => [operation.operationId, operation]),
    )
    for (const { operationId, method, url, payload } of exampleRequests(document)) {
      const headers = payload === undefined ? {} : { 'content-type': 'application/json' }
      const reply = await app.inject({
        method,
        url,
        headers,
        ...(payload === undefined ? {} : { payload }),
      })
      const operation = operations.get(operationId) as Operation
      const declared = responsesOf(operation, document)[String(reply.statusCode)]
      const where = `${operationId} ${reply.statusCode}`
      expect(reply.statusCode, `${where} ${reply.payload}`).toBeLessThan(300)
      const type = String(reply.headers['content-type']).split(';', 1)[0] as string
      const schema = declared?.content?.[type]?.['schema']
      expect(schema, where).toBeDefined()
      const value: unknown = type === 'application/json' ? reply.json() : reply.payload
      expect(complain(schema, value), where).toEqual([])
      const shown = Object.entries((declared as Node)['headers'] ?? {}) as readonly [
        string,
        { schema: Node },
      ][]
      for (const [name, header] of shown) {
        expect(header.schema['examples'], name).toEqual([reply.headers[name.toLowerCase()]])
      }
    }
  })

  it('include each kind of put', async () => {
    const { app, document } = service
    const put = operationsOf(document).find(
      ({ operation }) => operation.operationId === 'putResult',
    )
    const content = put?.operation.requestBody?.content as unknown as Record<string, Media>
    const schema = put?.operation.responses['201']?.content?.['application/json']?.['schema']
    const outcomes: unknown[] = []
    for (const [type, media] of Object.entries(content)) {
      for (const example of isBytes(media) ? ['\u0000'] : examplesOf(media)) {
        const reply = await app.inject({
          method: 'POST',
          url: '/v1/runs/each-kind/results',
          headers: { 'content-type': type },
          payload: typeof example === 'string' ? example : JSON.stringify(example),
        })
        expect(complain(schema, reply.json())).toEqual([])
        const { kind, outcome } = reply.json() as Node
        outcomes.push([reply.statusCode, kind, outcome])
      }
    }
    expect(outcomes).toEqual([
      [201, 'json', 'output'],
      [201, 'json', 'failure'],
      [201, 'json', 'suspension'],
      [201, 'text', 'output'],
      [201, 'binary', 'output'],
    ])
  })
})
