// Whether an answer is one that the OpenAPI document declares for its operation.
import type { OpenApiDocument } from '../../src/http/docs/openapi-document.ts'
import { type Complain, complainer, responsesOf } from '../contract/schemas.ts'
import type { FuzzRequest } from './requests.ts'

const JSON_TYPE = 'application/json'
const PROBLEM_TYPE = 'application/problem+json'
const ANY_TYPE = '*/*'
const BAD = 400
const SERVER_ERROR = 500
const BUSY = 503
const METHOD_NOT_ALLOWED = 405
const LOST = [BAD, 404, METHOD_NOT_ALLOWED]
/** The code that answers by itself: the service was asked too much at once. */
const UNAVAILABLE = ['overloaded']

/** Members of answers that are texts of ours, whatever they quote. */
const COMPOSED = ['content', 'preview', 'hint', 'text', 'summary_request', 'summary_preview']

export interface FuzzReply {
  readonly status: number
  readonly headers: Readonly<Record<string, string | readonly string[] | undefined>>
  readonly body: Buffer
}

interface Declared {
  readonly headers?: Readonly<Record<string, unknown>>
  readonly content?: Readonly<Record<string, { schema?: unknown; examples?: object }>>
}

export class Judge {
  readonly #document: OpenApiDocument
  readonly #complain: Complain

  constructor(document: OpenApiDocument) {
    this.#document = document
    this.#complain = complainer(document)
  }

  /** What is wrong with the answer; empty when nothing is. */
  complaints({ route: { path, method } }: FuzzRequest, reply: FuzzReply): readonly string[] {
    const { status, headers } = reply
    const wrong = headers['x-request-id'] === undefined ? ['there is no x-request-id'] : []
    if (status >= SERVER_ERROR && status !== BUSY) wrong.push(`the status is ${status}`)
    const asked = method === 'HEAD' ? 'get' : method.toLowerCase()
    const operation = path === undefined ? undefined : this.#document.paths[path]?.[asked]
    // A path or method that the document does not have: a problem that says so, or what another route answers.
    if (operation === undefined) return [...wrong, ...this.#lost(method, reply, path)]
    const declared = responsesOf(operation, this.#document)[status] as Declared | undefined
    if (declared === undefined) return [...wrong, `the status ${status} is not declared`]
    return [...wrong, ...missingHeaders(declared, reply), ...this.#body(method, declared, reply)]
  }

  #lost(method: string, reply: FuzzReply, path: string | undefined): readonly string[] {
    if (path !== undefined && !LOST.includes(reply.status) && reply.status !== 403) {
      return [`${method} is answered with ${reply.status}`]
    }
    if (reply.status < BAD || method === 'HEAD') return []
    const needed = reply.status === METHOD_NOT_ALLOWED ? { headers: { Allow: {} } } : {}
    return [
      ...missingHeaders(needed, reply),
      ...this.#problem({ $ref: '#/components/schemas/Problem' }, reply),
    ]
  }

  #body(method: string, { content }: Declared, reply: FuzzReply): readonly string[] {
    const { body, headers } = reply
    if (content === undefined || method === 'HEAD') {
      return body.length === 0 ? [] : ['there is a body where none is declared']
    }
    const type = typeOf(reply)
    const media = content[type] ?? content[ANY_TYPE]
    if (media === undefined) return [`the type ${headers['content-type']} is not declared`]
    if (type === PROBLEM_TYPE) return this.#problem(media.schema, reply, media.examples)
    if (type !== JSON_TYPE || ANY_TYPE in content) return []
    const value = parsed(body)
    if (value === undefined) return ['the body is no JSON']
    return [...this.#complain(media.schema, value), ...illFormed(value, COMPOSED)]
  }

  /** `codes`: of the problems that are declared, where any are. */
  #problem(schema: unknown, reply: FuzzReply, codes?: object): readonly string[] {
    if (typeOf(reply) !== PROBLEM_TYPE) return [`the type is ${reply.headers['content-type']}`]
    const problem = parsed(reply.body) as { code?: string; status?: number } | undefined
    if (problem === undefined) return ['the problem is no JSON']
    const { code = '', status } = problem
    const wrong = [...this.#complain(schema, problem), ...illFormed(problem)]
    if (status !== reply.status) wrong.push(`the problem says ${status} in a ${reply.status}`)
    if (codes !== undefined && !Object.hasOwn(codes, code)) wrong.push(`${code} is not declared`)
    if (reply.status === BUSY && !UNAVAILABLE.includes(code)) wrong.push(`it is ${code}`)
    return wrong
  }
}

const typeOf = ({ headers }: FuzzReply): string =>
  String(headers['content-type'] ?? '').split(';', 1)[0] as string

const missingHeaders = (declared: Declared, { headers }: FuzzReply): readonly string[] =>
  Object.keys(declared.headers ?? {})
    .filter((name) => headers[name.toLowerCase()] === undefined)
    .map((name) => `the header ${name} is missing`)

/** Members that hold a lone surrogate; all are looked at, or those of `names`. */
function illFormed(value: unknown, names?: readonly string[]): readonly string[] {
  return Object.entries(value as object)
    .filter(([name]) => names === undefined || names.includes(name))
    .filter(([, text]) => typeof text === 'string' && !text.isWellFormed())
    .map(([name]) => `${name} is not well-formed`)
}

/** Undefined for what is no JSON in UTF-8. */
function parsed(body: Buffer): unknown {
  try {
    return JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(body))
  } catch {
    return undefined
  }
}
