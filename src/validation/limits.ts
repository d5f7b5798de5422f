/**
 * What validation may cost and show. Those that {@link ValidationLimits} names can be passed in; these are their defaults.
 */

/** Largest schema. Past it: `over_limit`. */
export const SCHEMA_BYTES = 262_144
/** Most errors in one answer; the total is always told. */
export const ERRORS_SHOWN = 20
/** Errors that are kept whole while a value is judged; of later ones only the first of each place in the schema. */
export const ERRORS_KEPT = 1000
/** Errors that are counted. Past it, also inside alternatives: `over_limit`. */
export const ERRORS_COUNTED = 2_000_000
/** Processor time that a schema may take to compile. Past it: `over_limit`. */
export const COMPILE_MS = 1000
/** Processor time that a value may take to judge; a large one has a little more. Past it: `over_limit`. */
export const VALIDATE_MS = 250
/** Time by the clock that a call may take in all, its wait for a thread included. Past it: `overloaded`. */
export const VALIDATION_WAIT_SECONDS = 10
/** Heap of a thread that validates. A value that may need more than half of it as objects is refused: `over_limit`. */
export const VALIDATION_HEAP_BYTES = 805_306_368
/** Compiled schemas that are kept, and the bytes their sources may have together; the least recently used goes first. */
export const CACHE_SCHEMAS = 256
export const CACHE_SCHEMA_BYTES = 4_194_304

/** What the errors of one answer take as JSON; later ones are counted only. One error takes less than an eighth of it. */
export const ERRORS_BYTES = 16_000
/** Calls that may wait for a thread, and the bytes of their schemas and values together. Past either: `overloaded`. */
export const QUEUE_CALLS = 64
export const QUEUE_BYTES = 268_435_456
/** Threads that validate at the same time; one more may stand by. */
export const THREADS_BUSY = 2
/**
 * Processor time that a call may take at first. One that takes longer, or is expected to, goes on as a long call, and long
 * calls never have all the threads.
 */
export const QUICK_MS = 25
/** Bytes of the schema times bytes of the value, up to which judging without patterns and references is surely quick. */
export const QUICK_WORK = 1_000_000
/** A large value has a millisecond more for as many bytes to be read, which nothing in it can slow down, and to be judged. */
export const READ_BYTES_PER_MS = 4096
export const JUDGE_BYTES_PER_MS = 16_384
/** Processor time past its deadline that a thread has to stop by itself, before it is ended. */
export const STOPPING_MS = 90

/** Parts of an error, each measured as it is encoded in JSON. */
export const ERROR_PATH_BYTES = 480
export const ERROR_MESSAGE_BYTES = 480
export const ERROR_EXPECTED_BYTES = 240
export const ERROR_RECEIVED_BYTES = 240

/** Characters of a string or number, or of a name, that is quoted inside a message. */
export const SAMPLE_CHARS = 60
/** Entries of a list (allowed values, names) inside a message. */
export const SAMPLE_ENTRIES = 12

/** Warnings about one schema, and the bytes of a name in one. */
export const WARNINGS_SHOWN = 20
export const WARNING_NAME_BYTES = 120

/** Errors of a schema among which the one to report is sought. */
export const META_ERRORS_RANKED = 100

export interface ValidationLimits {
  readonly schemaBytes: number
  readonly errorsShown: number
  readonly heapBytes: number
  readonly cacheSchemas: number
  readonly cacheSchemaBytes: number
}

/** Of validation in a thread of its own; what each names is in the answer when it is hit. */
export interface ThreadLimits
  extends Pick<ValidationLimits, 'schemaBytes' | 'errorsShown' | 'heapBytes'> {
  /** In processor time of the thread. */
  readonly compileMs: number
  /** In processor time of the thread. */
  readonly validateMs: number
  /** By the clock. */
  readonly waitMs: number
}
