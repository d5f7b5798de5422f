/**
 * Limits on the cost and output of validation. Those in {@link ValidationLimits} and
 * {@link ThreadLimits} can be passed in; these are their defaults.
 */

/** Largest schema, in bytes. Beyond it: `over_limit`. */
export const SCHEMA_BYTES = 262_144
/** Most errors in one answer. The answer also has the total. */
export const ERRORS_SHOWN = 20
/**
 * Errors that are kept whole while a value is validated. Of later ones, only the first of each
 * place in the schema is kept.
 */
export const ERRORS_KEPT = 1000
/** Most errors that are counted, errors inside alternatives included. Beyond it: `over_limit`. */
export const ERRORS_COUNTED = 2_000_000
/** Processor time that a schema may take to compile, in milliseconds. Beyond it: `over_limit`. */
export const COMPILE_MS = 1000
/**
 * Processor time that a value may take to validate, in milliseconds. Large values have a little
 * more. Beyond it: `over_limit`.
 */
export const VALIDATE_MS = 250
/**
 * Time by the clock that a call may take, its wait for a thread included. Beyond it: `overloaded`.
 */
export const VALIDATION_WAIT_SECONDS = 10
/**
 * Heap of a validation thread, in bytes. A value whose objects may need more than half of it is
 * refused: `over_limit`.
 */
export const VALIDATION_HEAP_BYTES = 805_306_368
/** Most compiled schemas in the cache. The least recently used is dropped first. */
export const CACHE_SCHEMAS = 256
/** Most bytes of the sources of all schemas in the cache. */
export const CACHE_SCHEMA_BYTES = 4_194_304

/**
 * Most bytes that the errors of one answer take as JSON. Later errors are only counted. One error
 * takes less than an eighth of it.
 */
export const ERRORS_BYTES = 16_000
/** Most numbers of a schema, such as `2.50`, that are kept as written to be quoted in messages. */
export const SPELLED_NUMBERS = 1_000
/** Most calls that may wait for a thread. Beyond it: `overloaded`. */
export const QUEUE_CALLS = 64
/**
 * Most bytes of the schemas and values of all calls that wait for a thread. Beyond it:
 * `overloaded`.
 */
export const QUEUE_BYTES = 268_435_456
/** Threads that validate at the same time. One more is kept ready. */
export const THREADS_BUSY = 2
/**
 * Processor time that a call may take at first, in milliseconds. A call that takes longer, or is
 * expected to, continues as a long call. Long calls never occupy all threads.
 */
export const QUICK_MS = 25
/**
 * Limit on schema bytes times value bytes. At most this, a schema without patterns and references
 * always validates quickly.
 */
export const QUICK_WORK = 1_000_000
/**
 * Bytes of a value for which reading has one more millisecond. No content of a value slows reading
 * down.
 */
export const READ_BYTES_PER_MS = 4096
/** Bytes of a value for which validating has one more millisecond. */
export const JUDGE_BYTES_PER_MS = 16_384
/**
 * Processor time after its deadline that a thread has to stop by itself, in milliseconds. After
 * that it is ended.
 */
export const STOPPING_MS = 90

/**
 * Most bytes of an error's `path`, as encoded in JSON; also of paths and references in other facts.
 */
export const ERROR_PATH_BYTES = 480
/** Most bytes of an error's `message`, as encoded in JSON. */
export const ERROR_MESSAGE_BYTES = 480
/** Most bytes of an error's `expected`, as encoded in JSON. */
export const ERROR_EXPECTED_BYTES = 240
/** Most bytes of an error's `received`, as encoded in JSON. */
export const ERROR_RECEIVED_BYTES = 240

/** Most characters of a string, number or name that is quoted in a message. */
export const SAMPLE_CHARS = 60
/** Most entries of a list in a message, such as allowed values or names. */
export const SAMPLE_ENTRIES = 12

/** Most warnings about one schema. */
export const WARNINGS_SHOWN = 20
/** Most bytes of a name in a warning, as encoded in JSON. */
export const WARNING_NAME_BYTES = 120

/** Errors of an invalid schema that are ranked to find the one to report. */
export const META_ERRORS_RANKED = 100

/** Limits of validation in the calling thread. */
export interface ValidationLimits {
  readonly schemaBytes: number
  readonly errorsShown: number
  readonly heapBytes: number
  readonly cacheSchemas: number
  readonly cacheSchemaBytes: number
}

/** Limits of validation in threads. A problem names the limit that was exceeded. */
export interface ThreadLimits
  extends Pick<ValidationLimits, 'schemaBytes' | 'errorsShown' | 'heapBytes'> {
  /** Processor time of the thread for compiling a schema. */
  readonly compileMs: number
  /** Processor time of the thread for validating a value. */
  readonly validateMs: number
  /** Time by the clock for a whole call. */
  readonly waitMs: number
}
