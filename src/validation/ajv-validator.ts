/**
 * Validation in this process, by Ajv. A schema is compiled once and kept by its bytes; `JSON.parse` runs here and nowhere
 * else, since Ajv needs objects. A slow pattern or value holds the thread: there is no deadline here.
 */
import { createHash } from 'node:crypto'
import { CoatcheckError } from '../core/errors.ts'
import type { JsonSlice } from '../core/json/slice.ts'
import { LruCache } from '../core/lru.ts'
import { type Check, compileSchema } from './engine.ts'
import {
  CACHE_SCHEMA_BYTES,
  CACHE_SCHEMAS,
  ERRORS_SHOWN,
  SCHEMA_BYTES,
  type ValidationLimits,
} from './limits.ts'
import { MetaSchemas } from './meta-schemas.ts'
import { reportOf, uncheckedReport, VALID } from './report.ts'
import { dialectOf, invalidSchema, isObject, makeDigestible, type SchemaObject } from './schema.ts'
import type { Validation, Validator } from './validator.ts'

interface Compiled {
  readonly schema: SchemaObject | boolean
  readonly check: Check
}

const DEFAULTS: ValidationLimits = {
  schemaBytes: SCHEMA_BYTES,
  errorsShown: ERRORS_SHOWN,
  cacheSchemas: CACHE_SCHEMAS,
  cacheSchemaBytes: CACHE_SCHEMA_BYTES,
}

export class AjvValidator implements Validator {
  readonly #limits: ValidationLimits
  readonly #compiled: LruCache<string, Compiled>
  readonly #metaSchemas = new MetaSchemas()
  #compilations = 0

  constructor(limits: Partial<ValidationLimits> = {}) {
    this.#limits = { ...DEFAULTS, ...limits }
    this.#compiled = new LruCache({
      maxEntries: this.#limits.cacheSchemas,
      maxWeightBytes: this.#limits.cacheSchemaBytes,
    })
  }

  /** How many schemas are held, and how often one was compiled: for metrics. */
  get stats(): { readonly cached: number; readonly compilations: number } {
    return { cached: this.#compiled.size, compilations: this.#compilations }
  }

  async compile(schema: JsonSlice): Promise<void> {
    this.#compiledOf(schema)
  }

  async validate(schema: JsonSlice, value: JsonSlice): Promise<Validation> {
    const compiled = this.#compiledOf(schema)
    try {
      return this.#judge(compiled, value)
    } catch (error) {
      // The stack ran out.
      if (error instanceof RangeError) return uncheckedReport(value)
      throw error
    }
  }

  async close(): Promise<void> {
    this.#compiled.clear()
  }

  #judge({ schema, check }: Compiled, value: JsonSlice): Validation {
    const errors = check(JSON.parse(value.toString()))
    if (errors.length === 0) return VALID
    return reportOf({ errors, schema, value }, this.#limits.errorsShown)
  }

  #compiledOf(source: JsonSlice): Compiled {
    const bytes = source.source
    this.#checkSize(bytes.length)
    const key = createHash('sha256').update(bytes).digest('base64')
    const known = this.#compiled.get(key)
    if (known !== undefined) return known
    const compiled = this.#compileNew(source)
    this.#compiled.add(key, compiled, bytes.length)
    return compiled
  }

  #checkSize(bytes: number): void {
    const { schemaBytes } = this.#limits
    if (bytes <= schemaBytes) return
    throw new CoatcheckError(
      'over_limit',
      `The schema has ${bytes} bytes; at most ${schemaBytes} are taken. Leave out descriptions, or share parts under "$defs".`,
      { limit: 'schema_bytes', value: schemaBytes },
    )
  }

  #compileNew(source: JsonSlice): Compiled {
    this.#compilations++
    const schema: unknown = JSON.parse(source.toString())
    if (typeof schema === 'boolean') return { schema, check: compileSchema(schema, '2020-12') }
    if (!isObject(schema)) {
      throw invalidSchema(`must be an object or a boolean, not ${source.kind}.`, '')
    }
    const dialect = dialectOf(schema)
    this.#metaSchemas.check(schema, dialect)
    makeDigestible(schema)
    return { schema, check: compileSchema(schema, dialect) }
  }
}
