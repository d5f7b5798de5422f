/**
 * Where the references of callers' schemas lead. Ajv looks them up with `[]`: `#/$defs/constructor` would find a function,
 * and hold for anything. Here what is inherited answers to none.
 */
import type { ValidateFunction } from 'ajv'
import uri from 'ajv/dist/runtime/uri.js'
import type { UriResolver } from 'ajv/dist/types/index.js'
import { isObject } from '../tool-schema.ts'

/** A reference that leads to no schema. */
export class StrayRefError extends Error {
  readonly ref: string

  constructor(ref: string, cause?: unknown) {
    super(ref, { cause })
    this.name = 'StrayRefError'
    this.ref = ref
  }
}

/** Ajv's own, but for names of inherited members, and URIs that cannot be read. Errors: {@link StrayRefError}. */
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

/** Looks at where the references of a compiled schema led. Errors: {@link StrayRefError}. */
export function checkReferences({ schemaEnv }: ValidateFunction): void {
  for (const [ref, target] of Object.entries(schemaEnv.root.refs)) {
    if (isObject(target) && !isSchema(target['schema'])) throw new StrayRefError(ref)
  }
}

const isSchema = (value: unknown): boolean =>
  typeof value === 'boolean' || (isObject(value) && Object.getPrototypeOf(value) !== null)
