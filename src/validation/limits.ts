/**
 * What validation may cost and show. Those that {@link ValidationLimits} names can be passed in; these are their defaults.
 */

/** Largest schema. Past it: `over_limit`. */
export const SCHEMA_BYTES = 262_144
/** Most errors in one answer; the total is always told. */
export const ERRORS_SHOWN = 20
/** Compiled schemas that are kept, and the bytes their sources may have together; the least recently used goes first. */
export const CACHE_SCHEMAS = 256
export const CACHE_SCHEMA_BYTES = 4_194_304

/** What the errors of one answer take as JSON; later ones are counted only. One error takes less than an eighth of it. */
export const ERRORS_BYTES = 16_000
/** Parts of an error, each measured as it is encoded in JSON. */
export const ERROR_PATH_BYTES = 480
export const ERROR_MESSAGE_BYTES = 480
export const ERROR_EXPECTED_BYTES = 240
export const ERROR_RECEIVED_BYTES = 240

/** Characters of a string or number, or of a name, that is quoted inside a message. */
export const SAMPLE_CHARS = 60
/** Entries of a list (allowed values, names) inside a message. */
export const SAMPLE_ENTRIES = 12

/** Errors of a schema among which the one to report is sought. */
export const META_ERRORS_RANKED = 100

export interface ValidationLimits {
  readonly schemaBytes: number
  readonly errorsShown: number
  readonly cacheSchemas: number
  readonly cacheSchemaBytes: number
}
