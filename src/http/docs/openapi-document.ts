/**
 * Last step in making the OpenAPI document, for readers and for generators of clients:
 *
 * - a schema with a `title` is listed once, under that name, and referred to elsewhere;
 * - an error response is listed once, under its codes, and referred to elsewhere
 *   (`shared-responses.ts`);
 * - `x-` keywords, which only the code of this service reads, are left out;
 * - an enum states its type, `string or null` is one type, a parameter with a default is optional;
 * - every problem has its example, and a success has the answer to its example request.
 *
 * It changes the document and no route.
 */
import { isDeepStrictEqual } from 'node:util'
import { INSTEAD, OPAQUE } from '../body/request-validation.ts'
import { SHOWN_EXAMPLES } from '../routes/shared-schemas.ts'
import { PROBLEM_EXAMPLES } from './problem-examples.ts'
import { type Response, shareProblems } from './shared-responses.ts'

type Node = Record<string, unknown>

interface Parameter extends Node {
  readonly in: string
  readonly schema: Node
}

/** An operation of the document. */
export interface Operation {
  readonly operationId: string
  readonly parameters?: readonly Parameter[]
  readonly requestBody?: { readonly content: Readonly<Record<string, Node>> }
  readonly responses: Readonly<Record<string, Response>>
}

/** The parts of an OpenAPI document that are read or changed. */
export interface OpenApiDocument {
  readonly components: {
    readonly schemas: Node
    readonly responses?: Readonly<Record<string, Response>>
    readonly examples?: Node
  }
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>
}

/** Status and body of the answer to the example of an operation; see `scripts/openapi.ts`. */
export interface AnswerExample {
  readonly operationId: string
  readonly status: number
  readonly body: unknown
}

const JSON_TYPE = 'application/json'
const PLACES = ['path', 'query', 'header']
/** Members of a schema that hold data, not schemas. */
const DATA: ReadonlySet<string> = new Set(['const', 'default', 'enum', 'example', 'examples'])

/**
 * Finishes a document. `answers` are the answers to the example requests. Throws when two different
 * schemas have the same title.
 */
export function finishDocument(
  document: OpenApiDocument,
  answers: readonly AnswerExample[],
): OpenApiDocument {
  const { components, paths } = document
  const named = new Map(Object.entries(components.schemas))
  const responses = new Map<string, Response>()
  for (const [name, schema] of named) named.set(name, finishMembers(schema as Node, named))
  const finished = Object.entries(paths).map(([path, item]) => {
    const operations = Object.entries(item).map(([method, operation]) => {
      const answer = answers.find(({ operationId }) => operationId === operation.operationId)
      const { responses: own, ...rest } = finishOperation(operation, answer, named)
      const shared = Object.entries(own).map(([status, response]) => [
        status,
        shareProblems(response, responses),
      ])
      return [method, { ...rest, responses: Object.fromEntries(shared) }] as const
    })
    return [path, Object.fromEntries(operations)] as const
  })
  return {
    ...document,
    components: {
      ...components,
      schemas: Object.fromEntries(named),
      responses: Object.fromEntries(responses),
      examples: problemExamples([...responses.values()]),
    },
    paths: Object.fromEntries(finished),
  }
}

/** Examples that a response refers to. No operation answers a 405, so its example is left out. */
function problemExamples(responses: readonly Response[]): Node {
  const used = JSON.stringify(responses)
  const examples = Object.entries(PROBLEM_EXAMPLES)
    .filter(([code]) => used.includes(`/examples/${code}"`))
    .map(([code, value]) => [code, { summary: value.title, value }])
  return Object.fromEntries(examples)
}

/** All operations, in the order of the document. */
export function operationsOf(document: OpenApiDocument): readonly {
  readonly path: string
  readonly method: string
  readonly operation: Operation
}[] {
  return Object.entries(document.paths).flatMap(([path, item]) =>
    Object.entries(item).map(([method, operation]) => ({ path, method, operation })),
  )
}

function finishOperation(
  operation: Operation,
  answer: AnswerExample | undefined,
  named: Map<string, unknown>,
): Operation {
  const { parameters, requestBody, responses } = operation
  const finished = Object.entries(responses).map(([status, response]) => {
    const content = finishContent(response.content ?? {}, named)
    const json = Number(status) === answer?.status ? content[JSON_TYPE] : undefined
    if (json !== undefined) json['example'] = answer?.body
    return [status, response.content === undefined ? response : { ...response, content }] as const
  })
  return {
    ...operation,
    ...(parameters === undefined
      ? {}
      : { parameters: parameters.map(finishParameter).toSorted(byPlace) }),
    ...(requestBody === undefined
      ? {}
      : { requestBody: { ...requestBody, content: finishContent(requestBody.content, named) } }),
    responses: Object.fromEntries(finished),
  }
}

function finishContent(
  content: Readonly<Record<string, Node>>,
  named: Map<string, unknown>,
): Record<string, Node> {
  return Object.fromEntries(
    Object.entries(content).map(([type, { schema, ...rest }]) => [
      type,
      { schema: finishSchema(schema as Node, named), ...rest },
    ]),
  )
}

function finishParameter({ schema, ...parameter }: Parameter): Parameter {
  const { [SHOWN_EXAMPLES]: examples, title: _title, ...rest } = tidied(schema)
  const hasDefault = parameter.in === 'query' && 'default' in rest
  const shown = examples === undefined ? rest : { ...rest, examples }
  return { ...parameter, ...(hasDefault ? { required: false } : {}), schema: shown } as Parameter
}

const byPlace = (a: Parameter, b: Parameter): number => PLACES.indexOf(a.in) - PLACES.indexOf(b.in)

/** The finished schema, or a reference to its entry when it has a title. */
function finishSchema(schema: Node, named: Map<string, unknown>): Node {
  const { title, ...rest } = schema
  const finished = finishMembers(rest, named)
  if (typeof title !== 'string') return finished
  const known = named.get(title)
  if (known !== undefined && !isDeepStrictEqual(known, finished)) {
    throw new Error(`two schemas of the OpenAPI document are called ${title}`)
  }
  named.set(title, finished)
  return { $ref: `#/components/schemas/${title}` }
}

function finishMembers(schema: Node, named: Map<string, unknown>): Node {
  const entries = Object.entries(tidied(schema)).map(([keyword, value]) => {
    if (DATA.has(keyword) || typeof value !== 'object' || value === null) return [keyword, value]
    if (keyword === 'properties') return [keyword, eachOf(value as Node, named)]
    if (Array.isArray(value)) return [keyword, value.map((item) => finishItem(item, named))]
    return [keyword, finishSchema(value as Node, named)]
  })
  return Object.fromEntries(entries) as Node
}

const eachOf = (schemas: Node, named: Map<string, unknown>): Node =>
  Object.fromEntries(
    Object.entries(schemas).map(([name, schema]) => [name, finishSchema(schema as Node, named)]),
  )

const finishItem = (item: unknown, named: Map<string, unknown>): unknown =>
  typeof item === 'object' && item !== null ? finishSchema(item as Node, named) : item

/** One level of a schema, without keywords of ours and with its type. */
function tidied(schema: Node): Node {
  const { [OPAQUE]: _opaque, [INSTEAD]: _instead, ...rest } = schema
  if (Array.isArray(rest['enum']) && rest['type'] === undefined) return { type: 'string', ...rest }
  return nullableType(rest)
}

/** Writes an `anyOf` of a plain type and null as a list of types. */
function nullableType(schema: Node): Node {
  const { anyOf, ...rest } = schema
  if (!Array.isArray(anyOf) || anyOf.length !== 2) return schema
  const [first, second] = anyOf as unknown as readonly [Node, Node]
  const isPlain = typeof first['type'] === 'string' && first['type'] !== 'object'
  if (!isPlain || second['type'] !== 'null' || first['title'] !== undefined) return schema
  return { ...first, type: [first['type'], 'null'], ...rest }
}
