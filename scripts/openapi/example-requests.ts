/**
 * The example request of each operation in the document: its example parameters and its first
 * example body. Swagger UI fills in the same ones.
 */
import {
  type OpenApiDocument,
  type Operation,
  operationsOf,
} from '../../src/http/docs/openapi-document.ts'

/** Request of one operation. */
export interface ExampleRequest {
  readonly operationId: string
  readonly method: 'GET' | 'PUT' | 'POST' | 'DELETE'
  readonly url: string
  readonly path: string
  /** Body as JSON; absent for a call without a body. */
  readonly payload?: string
}

interface Media {
  readonly example?: unknown
  readonly examples?: Readonly<Record<string, { readonly value: unknown }>>
}

/** The example request of each operation, in the order of the document. */
export function exampleRequests(document: OpenApiDocument): readonly ExampleRequest[] {
  return operationsOf(document).map(({ path, method, operation }) => {
    const payload = payloadOf(operation)
    return {
      operationId: operation.operationId,
      method: method.toUpperCase() as ExampleRequest['method'],
      url: urlOf(path, operation),
      path,
      ...(payload === undefined ? {} : { payload }),
    }
  })
}

function urlOf(path: string, { parameters = [] }: Operation): string {
  const query = new URLSearchParams()
  let url = path
  for (const { in: place, name, example, schema } of parameters) {
    const value = example ?? schema['default']
    if (value === undefined) continue
    if (place === 'path') url = url.replace(`{${String(name)}}`, encodeURIComponent(String(value)))
    if (place === 'query') query.set(String(name), String(value))
  }
  return query.size === 0 ? url : `${url}?${query}`
}

function payloadOf({ requestBody }: Operation): string | undefined {
  const media = requestBody?.content['application/json'] as Media | undefined
  if (media === undefined) return undefined
  return JSON.stringify(media.example ?? Object.values(media.examples ?? {})[0]?.value)
}
