// Requests to every operation of the OpenAPI document: what it takes, and what comes near to that.
import fc from 'fast-check'
import {
  type OpenApiDocument,
  type Operation,
  operationsOf,
} from '../../src/http/docs/openapi-document.ts'
import { bodyOf } from './bodies.ts'
import { PARAMETERS } from './domain.ts'
import { type SchemaNode, SchemaTexts } from './from-schema.ts'
import { hostileText } from './hostile.ts'
import { seldom } from './odds.ts'

/** Where the document has the operation of a request; its path is undefined when the URL may be that of another one. */
export interface Route {
  readonly path: string | undefined
  readonly method: string
}

export class FuzzRequest {
  readonly route: Route
  readonly url: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: readonly Buffer[] | undefined

  constructor(
    route: Route,
    url: string,
    headers: Readonly<Record<string, string>>,
    body: readonly Buffer[] | undefined,
  ) {
    this.route = route
    this.url = url
    this.headers = headers
    this.body = body
  }

  /** How fast-check shows it. */
  [fc.toStringMethod](): string {
    const body = this.body === undefined ? 'no body' : Buffer.concat(this.body).toString('latin1')
    return [this.route.method, this.url, JSON.stringify(this.headers), JSON.stringify(body)]
      .map((part) => part.slice(0, SHOWN_CHARS))
      .join(' ')
  }
}

interface Parameter {
  readonly name: string
  readonly in: string
  readonly required?: boolean
  readonly schema: SchemaNode
}

const SHOWN_CHARS = 1_000
const LONGEST_HEAD_CHARS = 4_000
const METHODS = ['GET', 'PUT', 'POST', 'DELETE', 'HEAD', 'OPTIONS', 'PATCH', 'QUERY', 'TRACE']
const USUAL_WEIGHT = 4
/** How often an operation is asked for, where that is not 4. */
const WEIGHTS: ReadonlyMap<string, number> = new Map([
  ['putResult', 32],
  ['resolveArguments', 12],
  ['recall', 12],
  ['readValue', 12],
  ['endRun', 1],
  ['livez', 1],
  ['readyz', 1],
  ['metrics', 1],
])

/** Any request of the document's operations. */
export function requestsOf(document: OpenApiDocument): fc.Arbitrary<FuzzRequest> {
  const texts = new SchemaTexts(document)
  const weighted = operationsOf(document).map(({ path, method, operation }) => ({
    weight: WEIGHTS.get(operation.operationId) ?? USUAL_WEIGHT,
    arbitrary: requestOf({ path, method: method.toUpperCase() }, operation, texts),
  }))
  return fc.oneof(...weighted)
}

function requestOf(
  { path, method: usualMethod }: { readonly path: string; readonly method: string },
  operation: Operation,
  texts: SchemaTexts,
): fc.Arbitrary<FuzzRequest> {
  const parameters = (operation.parameters ?? []) as unknown as readonly Parameter[]
  const inPlace = (place: string): readonly Parameter[] =>
    parameters.filter((parameter) => parameter.in === place)
  return fc
    .record({
      inPath: fc.tuple(...inPlace('path').map(parameterText)),
      query: queryOf(inPlace('query')),
      headers: headersOf(inPlace('header')),
      body: bodyOf(operation, texts),
      method: seldom(40, fc.constantFrom(...METHODS), fc.constant(usualMethod)),
      tail: seldom(
        60,
        fc.constantFrom('%', '%zz', '%ff', '/', '//', '/..', ';a=1', '%2f'),
        fc.constant(''),
      ),
    })
    .map(({ inPath, query, headers, body, method, tail }) => {
      let url = path
      for (const [n, { name }] of inPlace('path').entries()) {
        url = url.replace(`{${name}}`, () => encodeURIComponent((inPath[n] ?? '').toWellFormed()))
      }
      const isPlain = tail === '' && !inPath.includes('')
      const types = {
        ...(body?.type === undefined ? {} : { 'content-type': body.type }),
        ...(body?.encoding === undefined ? {} : { 'content-encoding': body.encoding }),
      }
      // What is too long to be HTTP is answered with a body, whatever the method is.
      const isHead = method === 'HEAD' && url.length < LONGEST_HEAD_CHARS
      return new FuzzRequest(
        {
          path: isPlain ? path : undefined,
          method: isHead || method !== 'HEAD' ? method : usualMethod,
        },
        url + tail + query,
        { ...types, ...headers },
        body?.pieces,
      )
    })
}

function parameterText({ name, schema }: Parameter): fc.Arbitrary<string> {
  const values = schema.enum?.map(String)
  const sane = values === undefined ? PARAMETERS.get(name) : fc.constantFrom(...values)
  return sane === undefined ? hostileText : seldom(16, hostileText, sane)
}

/** With its `?`; empty when there is none. */
function queryOf(parameters: readonly Parameter[]): fc.Arbitrary<string> {
  const known = parameters.map((parameter) =>
    fc.option(
      parameterText(parameter).map((text) => `${parameter.name}=${encoded(text)}`),
      { freq: 1, nil: '' },
    ),
  )
  const odd = seldom(
    40,
    fc.constantFrom('a=1', '=', '&&', '__proto__=1', 'limit=1&limit=2', 'path=%ff', 'as=%', '?'),
    fc.constant(''),
  )
  return fc.tuple(odd, ...known).map((parts) => {
    const query = parts.filter((part) => part !== '').join('&')
    return query === '' ? '' : `?${query}`
  })
}

const encoded = (text: string): string => encodeURIComponent(text.toWellFormed())

const ODD_HEADERS: readonly Readonly<Record<string, string>>[] = [
  { origin: 'https://example.com' },
  { host: 'example.com' },
  { 'sec-fetch-site': 'cross-site' },
  { accept: 'text/html' },
  { 'accept-encoding': 'gzip, br;q=0' },
  { expect: '100-continue' },
  { expect: 'the-unexpected' },
  { 'x-request-id': 'a b\u00ff' },
  { authorization: 'Bearer \u00ff' },
  { cookie: 'a=b; '.repeat(500) },
  { range: 'bytes=0-1' },
  { 'if-none-match': '*' },
  { connection: 'close' },
  { connection: 'upgrade', upgrade: 'websocket' },
  { te: 'trailers' },
  { 'content-encoding': 'br' },
  { 'content-encoding': 'gzip, gzip' },
  { 'content-encoding': 'identity' },
  { 'content-type': 'multipart/form-data; boundary=a' },
  { 'content-type': 'application/json; charset=utf-16' },
  { 'content-type': ';' },
  { 'content-type': '' },
]

function headersOf(parameters: readonly Parameter[]): fc.Arbitrary<FuzzRequest['headers']> {
  const known = fc.record(
    Object.fromEntries(
      parameters.map((parameter) => [
        parameter.name.toLowerCase(),
        parameterText(parameter).map(headerValue),
      ]),
    ),
    { requiredKeys: [] },
  )
  const odd = seldom<Readonly<Record<string, string>>>(
    12,
    fc.constantFrom(...ODD_HEADERS),
    fc.constant({}),
  )
  return fc.tuple(known, odd).map(([own, more]) => ({ ...own, ...more }) as FuzzRequest['headers'])
}

/** Its UTF-8 bytes as Node writes them, without what a header cannot hold. */
const headerValue = (text: string): string =>
  Buffer.from(text)
    .toString('latin1')
    // biome-ignore lint/suspicious/noControlCharactersInRegex: these are what it must not hold
    .replaceAll(/[\0-\x08\x0a-\x1f\x7f]/g, '')
    .trim()
