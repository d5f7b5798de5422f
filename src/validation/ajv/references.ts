/**
 * Checks the targets of references in callers' schemas. Ajv looks names up with `[]`, so
 * `#/$defs/constructor` would find an inherited function and accept any value. Here inherited
 * members are not found.
 */
import type { ValidateFunction } from 'ajv'
import uri from 'ajv/dist/runtime/uri.js'
import type { UriResolver } from 'ajv/dist/types/index.js'
import { isObject } from '../tool-schema.ts'

/** A reference without a schema as its target. */
export class StrayRefError extends Error {
  readonly ref: string

  constructor(ref: string, cause?: unknown) {
    super(ref, { cause })
    this.name = 'StrayRefError'
    this.ref = ref
  }
}

/**
 * Ajv's resolver, except that names of inherited members and unreadable URIs throw
 * {@link StrayRefError}.
 */
export const uriResolver: UriResolver = {
  parse: uri.default.parse,
  serialize: uri.default.serialize,
  resolve(base, ref) {
    const resolved = resolve(base, ref)
    if (resolved in Object.prototype) throw new StrayRefError(ref)
    return resolved
  },
}

function resolve(base: string, ref: string): string {
  try {
    return uri.default.resolve(base, ref)
  } catch (cause) {
    throw new StrayRefError(ref, cause)
  }
}

/** Checks the targets of all references of a compiled schema. Throws {@link StrayRefError}. */
export function checkReferences({ schemaEnv }: ValidateFunction): void {
  for (const [ref, target] of Object.entries(schemaEnv.root.refs)) {
    if (isObject(target) && !isSchema(target['schema'])) throw new StrayRefError(ref)
  }
}

const isSchema = (value: unknown): boolean =>
  typeof value === 'boolean' || (isObject(value) && Object.getPrototypeOf(value) !== null)
