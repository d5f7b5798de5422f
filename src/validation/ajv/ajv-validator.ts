/**
 * Validation by Ajv in the calling thread. A schema is compiled once and cached by the digest of
 * its bytes. Ajv needs objects, so only here are values parsed into objects. Without a guard in
 * `watch` there are no deadlines: a slow pattern or value blocks the thread.
 */
import { createHash } from 'node:crypto'
import { CoatcheckError } from '../../core/errors.ts'
import type { JsonSlice } from '../../core/json/slice.ts'
import { LruCache } from '../../core/lru.ts'
import {
  CACHE_SCHEMA_BYTES,
  CACHE_SCHEMAS,
  ERRORS_SHOWN,
  SCHEMA_BYTES,
  VALIDATION_HEAP_BYTES,
  type ValidationLimits,
} from '../limits.ts'
import { type Report, reportOf, uncheckedReport } from '../messages/report.ts'
import { weigh } from '../numbers/heap-estimate.ts'
import type { SchemaWarning, ValidateOptions, Validation, Validator } from '../validator.ts'
import { CompiledSchema, type Watch } from './compiled-schema.ts'
import { MetaSchemas } from './meta-schemas.ts'

const DEFAULTS: ValidationLimits = {
  schemaBytes: SCHEMA_BYTES,
  errorsShown: ERRORS_SHOWN,
  heapBytes: VALIDATION_HEAP_BYTES,
  cacheSchemas: CACHE_SCHEMAS,
  cacheSchemaBytes: CACHE_SCHEMA_BYTES,
}

const UNWATCHED: Watch = { onPhase: () => {}, guard: (_phase, _bytes, work) => work() }

/** Divisor of the heap for parsed values. The rest of the heap is for the errors. */
const HEAP_SHARE = 2

/** Validator that runs in the calling thread. */
export class AjvValidator implements Validator {
  readonly #limits: ValidationLimits
  readonly #compiled: LruCache<string, CompiledSchema>
  readonly #metaSchemas = new MetaSchemas()
  readonly #watch: Watch
  #compilations = 0

  constructor(limits: Partial<ValidationLimits> = {}, watch: Watch = UNWATCHED) {
    this.#watch = watch
    this.#limits = { ...DEFAULTS, ...limits }
    this.#compiled = new LruCache({
      maxEntries: this.#limits.cacheSchemas,
      maxWeightBytes: this.#limits.cacheSchemaBytes,
    })
  }

  /** Number of cached schemas, and of compilations so far, for metrics. */
  get stats(): { readonly cached: number; readonly compilations: number } {
    return { cached: this.#compiled.size, compilations: this.#compilations }
  }

  async compile(schema: JsonSlice): Promise<readonly SchemaWarning[]> {
    return this.#compiledOf(schema).warnings
  }

  async validate(
    schema: JsonSlice,
    value: JsonSlice,
    { setAside = [] }: ValidateOptions = {},
  ): Promise<Validation> {
    const compiled = this.#compiledOf(schema)
    const isRounded = this.#checkHeap(value)
    return { ...this.#judge(compiled, value, { isRounded, setAside }), warnings: compiled.warnings }
  }

  async close(): Promise<void> {
    this.#compiled.clear()
  }

  #judge(
    compiled: CompiledSchema,
    value: JsonSlice,
    { isRounded, setAside }: { isRounded: boolean; setAside: readonly string[] },
  ): Report {
    try {
      const judged = compiled.judge(value, { isRounded, ...this.#watch })
      return reportOf(judged, {
        errorsShown: this.#limits.errorsShown,
        setAside: new Set(setAside),
      })
    } catch (error) {
      // A RangeError means that the stack ran out.
      if (error instanceof RangeError) return uncheckedReport(value)
      throw error
    }
  }

  #compiledOf(source: JsonSlice): CompiledSchema {
    const bytes = source.source
    this.#checkSize(bytes.length)
    const key = createHash('sha256').update(bytes).digest('base64')
    const known = this.#compiled.get(key)
    if (known !== undefined) return known
    const { guard, onPhase } = this.#watch
    this.#checkHeap(source)
    this.#compilations++
    const compiled = guard('compile', 0, () => new CompiledSchema(source, this.#metaSchemas))
    this.#compiled.add(key, compiled, bytes.length)
    onPhase('read')
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

  /**
   * Whether doubles would round numbers of `source`. Throws `over_limit` when it may need too much
   * heap.
   */
  #checkHeap(source: JsonSlice): boolean {
    const { heapBytes: limit } = this.#limits
    const { heapBytes, isRounded } = weigh(source, limit / HEAP_SHARE)
    if (heapBytes * HEAP_SHARE <= limit) return isRounded
    throw new CoatcheckError(
      'over_limit',
      `Parsed for validation, the arguments or the schema may take more than half of ${limit} bytes of memory (validation_heap_bytes). Reference a smaller part of the value, or leave the schema out.`,
      { limit: 'validation_heap_bytes', value: limit },
    )
  }
}
