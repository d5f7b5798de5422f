/**
 * Settings: one schema, read from the environment once at the start. Each name contains its unit.
 * The docs are generated from the schema.
 */
import { envSchema } from 'env-schema'
import { type Static, Type } from 'typebox'
import {
  CHUNK_CACHE_BYTES,
  JSON_DEPTH_LEVELS,
  MAX_JSON_DEPTH_LEVELS,
  REFERENCES,
  VERBATIM_CHARS,
  VERBATIM_MAX_CHARS,
  VERBATIM_MIN_CHARS,
} from './core/limits.ts'
import {
  COMPILE_MS,
  ERRORS_KEPT,
  ERRORS_SHOWN,
  SCHEMA_BYTES,
  VALIDATE_MS,
  VALIDATION_HEAP_BYTES,
  VALIDATION_WAIT_SECONDS,
} from './validation/limits.ts'

const KIBIBYTE = 1024
const MEBIBYTE = 1024 * KIBIBYTE
const GIBIBYTE = 1024 * MEBIBYTE
const HOUR_SECONDS = 3600
const DAY_SECONDS = 24 * HOUR_SECONDS
const FLAG = ['0', '1']

const bytes = (description: string, value: number, maximum: number = 2 * GIBIBYTE) =>
  Type.Integer({ minimum: 1024, maximum, default: value, description })
const count = (description: string, value: number, maximum: number = Number.MAX_SAFE_INTEGER) =>
  Type.Integer({ minimum: 1, maximum, default: value, description })

/** Schema of all settings, with descriptions for the docs. */
export const ConfigSchema = Type.Object({
  COATCHECK_HOST: Type.String({ default: '127.0.0.1', description: 'Address to listen on.' }),
  COATCHECK_PORT: Type.Integer({
    minimum: 0,
    maximum: 65_535,
    default: 8080,
    description: 'Port to listen on. 0 takes any free port.',
  }),
  COATCHECK_LEDGER: Type.String({
    minLength: 1,
    default: './data/coatcheck.db',
    description: 'File of the ledger. It is created, with its folders, when it does not exist.',
  }),
  COATCHECK_DISK_RESERVE_BYTES: Type.Integer({
    minimum: 0,
    maximum: 64 * GIBIBYTE,
    default: 32 * MEBIBYTE,
    description:
      "Space on the ledger's disk that is reserved for purges and starts, in a file beside the ledger; at most an eighth of the disk. 0 reserves none.",
  }),
  COATCHECK_FREE_DISK_WARN_BYTES: Type.Integer({
    minimum: 0,
    maximum: Number.MAX_SAFE_INTEGER,
    default: GIBIBYTE,
    description: "Free space on the ledger's disk below which a warning is logged. 0: never.",
  }),
  COATCHECK_TOKEN: Type.Optional(
    Type.String({
      minLength: 1,
      description:
        'Bearer token that every call needs: letters, digits and `._~+/-`. Required on any address but loopback.',
    }),
  ),
  COATCHECK_TOKENS_FILE: Type.Optional(
    Type.String({
      minLength: 1,
      description:
        'File of more tokens, one `tenant:token` a line. It is read again when it changes. Each tenant has its own runs.',
    }),
  ),
  COATCHECK_ALLOW_UNAUTHENTICATED: Type.Enum(FLAG, {
    default: '0',
    description: '1: listen on any address without a token, and serve any Host and Origin.',
  }),
  COATCHECK_LOG_LEVEL: Type.Enum(['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'], {
    default: 'info',
    description: 'Lowest level that is logged.',
  }),
  COATCHECK_EXIT_ON_WRITE_FAULT: Type.Enum(FLAG, {
    default: '0',
    description:
      '1: when the ledger takes no more writes until it is opened again, the process ends with status 1, so that a supervisor can restart it. 0: it continues to serve reads.',
  }),
  COATCHECK_SHUTDOWN_GRACE_SECONDS: count(
    'Time that open requests have to finish after SIGTERM.',
    10,
    600,
  ),
  COATCHECK_MAX_JSON_BODY_BYTES: bytes(
    'Largest JSON body: an envelope, a call, raw JSON.',
    64 * MEBIBYTE,
    256 * MEBIBYTE,
  ),
  COATCHECK_MAX_RAW_BODY_BYTES: bytes(
    'Largest raw body that is not JSON.',
    2 * GIBIBYTE,
    64 * GIBIBYTE,
  ),
  COATCHECK_MAX_HELD_BODY_BYTES: bytes(
    'Most memory for all request bodies that are arriving or being worked on. There is always room for one JSON body.',
    256 * MEBIBYTE,
    64 * GIBIBYTE,
  ),
  COATCHECK_MAX_HELD_ANSWER_BYTES: bytes(
    'Most memory for all answers that clients have not read yet. There is always room for one answer.',
    128 * MEBIBYTE,
    64 * GIBIBYTE,
  ),
  COATCHECK_MAX_DECOMPRESSION_RATIO: count(
    'Most bytes that one byte of a gzip or zstd body may expand to, after the first MiB.',
    200,
    1_000_000,
  ),
  COATCHECK_HEADERS_TIMEOUT_SECONDS: count(
    'Time in which the headers of a request must arrive.',
    60,
    3600,
  ),
  COATCHECK_BODY_IDLE_SECONDS: count(
    'Time after which a connection is closed when nothing of a body arrives, or a client reads nothing of an answer. The operating system takes answers in large steps, so a low value also cuts off slow readers.',
    120,
    3600,
  ),
  COATCHECK_MAX_JSON_DEPTH_LEVELS: count(
    'Deepest nesting of a JSON body.',
    JSON_DEPTH_LEVELS,
    MAX_JSON_DEPTH_LEVELS,
  ),
  COATCHECK_MAX_RESOLVED_BYTES: bytes(
    'Largest call with its references resolved.',
    64 * MEBIBYTE,
    256 * MEBIBYTE,
  ),
  COATCHECK_MAX_REFERENCES: count(
    'Most references in the arguments of one call.',
    REFERENCES,
    100_000,
  ),
  COATCHECK_CHUNK_CACHE_BYTES: Type.Integer({
    minimum: 0,
    maximum: 2 * GIBIBYTE,
    default: CHUNK_CACHE_BYTES,
    description: 'Memory for recently read parts of values. 0 keeps none.',
  }),
  COATCHECK_MAX_VERBATIM_CHARS: count(
    'Most characters of a content with render=verbatim.',
    VERBATIM_MAX_CHARS,
    10 * VERBATIM_MAX_CHARS,
  ),
  COATCHECK_VERBATIM_LIMIT_CHARS: Type.Integer({
    minimum: VERBATIM_MIN_CHARS,
    maximum: VERBATIM_MAX_CHARS,
    default: VERBATIM_CHARS,
    description: "Default of a run's verbatim_limit_chars.",
  }),
  COATCHECK_RUN_TTL_SECONDS: count('Default idle time of a run.', 7 * DAY_SECONDS),
  COATCHECK_RETENTION_SECONDS: count(
    "How long evidence stays after a run's end. The run's name is forgotten after as long again.",
    30 * DAY_SECONDS,
  ),
  COATCHECK_CLOCK_HOLD_SECONDS: Type.Integer({
    minimum: 0,
    maximum: 7 * DAY_SECONDS,
    default: HOUR_SECONDS,
    description:
      "Time for which the service does not follow a jump of the machine's clock by more than a minute, and sweeps nothing after a start with a clock that may be wrong. 0 follows the clock at once.",
  }),
  COATCHECK_MAX_EVICTIONS_PER_MINUTE: count(
    'Most runs that are evicted in a minute, after their retention.',
    1000,
    1_000_000,
  ),
  COATCHECK_MAX_RUNS: count('Most runs that are kept.', 100_000),
  COATCHECK_MAX_RESULTS_PER_RUN: count('Most results of a run.', 100_000),
  COATCHECK_MAX_BYTES_PER_RUN: count("Most bytes of a run's values.", 4 * GIBIBYTE),
  COATCHECK_INLINE_BYTES: bytes(
    'Calls with larger JSON bodies are answered in threads for large calls, and so are reads of larger values by a path or as text. For bodies of puts the limit is four times as high.',
    256 * KIBIBYTE,
    4 * MEBIBYTE,
  ),
  COATCHECK_LARGE_CALL_THREADS: count(
    'Most threads for large calls. They start when needed.',
    2,
    64,
  ),
  COATCHECK_LARGE_CALL_CPU_SECONDS: count('Processor time that a large call may take.', 60, 3600),
  COATCHECK_LARGE_CALL_HEAP_BYTES: Type.Integer({
    minimum: 256 * MEBIBYTE,
    maximum: 16 * GIBIBYTE,
    default: 2 * GIBIBYTE,
    description: 'Largest heap of each thread for large calls. It grows only when a call needs it.',
  }),
  COATCHECK_MAX_TOOLS_PER_RUN: count('Most tools that a run may have.', 1_000, 100_000),
  COATCHECK_MAX_TOOL_BYTES_PER_RUN: bytes(
    "Most bytes of the names and schemas of a run's tools.",
    16 * MEBIBYTE,
  ),
  COATCHECK_MAX_LIST_BYTES: Type.Integer({
    minimum: 64 * KIBIBYTE,
    maximum: 64 * MEBIBYTE,
    default: 4 * MEBIBYTE,
    description:
      'Most bytes of JSON on a page of a list. The page ends before it would exceed them.',
  }),
  COATCHECK_MAX_SCHEMA_BYTES: bytes('Largest input schema.', SCHEMA_BYTES, 16 * MEBIBYTE),
  COATCHECK_MAX_ERRORS: count(
    'Most errors in an answer. The answer also has their total.',
    ERRORS_SHOWN,
    ERRORS_KEPT,
  ),
  COATCHECK_COMPILE_MS: count(
    'Processor time that a schema may take to compile.',
    COMPILE_MS,
    60_000,
  ),
  COATCHECK_VALIDATE_MS: count(
    'Processor time that arguments may take to validate. Large ones have a little more.',
    VALIDATE_MS,
    60_000,
  ),
  COATCHECK_VALIDATION_WAIT_SECONDS: count(
    'Time by the clock that a validation may take, its wait for a thread included. Large arguments have a little more.',
    VALIDATION_WAIT_SECONDS,
    600,
  ),
  COATCHECK_VALIDATION_HEAP_BYTES: Type.Integer({
    minimum: 128 * MEBIBYTE,
    maximum: 8 * GIBIBYTE,
    default: VALIDATION_HEAP_BYTES,
    description:
      'Largest heap of each of the three validation threads. It grows only when arguments need it.',
  }),
})

type Environment = Readonly<Record<string, string | undefined>>

/** Settings of a service. They do not change while it runs. */
export type Config = Readonly<Static<typeof ConfigSchema>>

/** Reads and checks the settings. Throws an error that tells what is wrong. */
export function readConfig(env: Environment): Config {
  const data = Object.fromEntries(
    Object.entries(env).filter(([name, value]) => name.startsWith('COATCHECK_') && value !== ''),
  )
  const config = checked(data)
  const open =
    config.COATCHECK_TOKEN === undefined &&
    config.COATCHECK_TOKENS_FILE === undefined &&
    config.COATCHECK_ALLOW_UNAUTHENTICATED === '0'
  if (open && !isLoopback(config.COATCHECK_HOST)) {
    throw new Error(
      `COATCHECK_HOST is ${config.COATCHECK_HOST}, which others can reach: set COATCHECK_TOKEN or COATCHECK_TOKENS_FILE, or COATCHECK_ALLOW_UNAUTHENTICATED=1 to serve anyone`,
    )
  }
  return Object.freeze(config)
}

type Settings = Static<typeof ConfigSchema>

/**
 * The settings with their types and defaults. Throws an error that names each wrong setting and its
 * allowed values.
 */
function checked(data: Readonly<Record<string, string | undefined>>): Settings {
  try {
    return envSchema<Settings>({ schema: ConfigSchema, data, env: false })
  } catch (error) {
    const { errors = [] } = error as { errors?: readonly EnvError[] }
    if (errors.length === 0) throw error
    const wrong = errors.map(({ instancePath, message = 'is wrong' }) => {
      const name = instancePath.slice(1)
      const must = rangeOf(name) ?? message
      // A token is never shown.
      return name === 'COATCHECK_TOKEN'
        ? `${name} ${must}`
        : `${name} ${must}, and is ${JSON.stringify(data[name])}`
    })
    throw new Error(wrong.join('; '), { cause: error })
  }
}

interface EnvError {
  readonly instancePath: string
  readonly message?: string
}

/** Allowed values of a setting; undefined when it takes any text. */
function rangeOf(name: string): string | undefined {
  const properties: Readonly<Record<string, Range>> = ConfigSchema.properties
  const { enum: values, minimum, maximum } = properties[name] ?? {}
  if (values !== undefined) return `must be one of ${values.join(', ')}`
  return minimum === undefined ? undefined : `must be an integer from ${minimum} to ${maximum}`
}

interface Range {
  readonly type?: string
  readonly enum?: readonly string[]
  readonly minimum?: number
  readonly maximum?: number
}

const isLoopback = (host: string): boolean =>
  host === 'localhost' || host === '::1' || /^127(?:\.[0-9]{1,3}){3}$/.test(host)

/**
 * Names that are not settings: one that the examples read, and those that Kubernetes sets for a
 * service named coatcheck.
 */
const NOT_SETTINGS = /^COATCHECK_(?:URL$|SERVICE_|PORT_)/

/** Names in the environment that look like settings but are not; most likely typing errors. */
export function unknownSettings(env: Environment): readonly string[] {
  return Object.keys(env).filter(
    (name) =>
      name.startsWith('COATCHECK_') &&
      !Object.hasOwn(ConfigSchema.properties, name) &&
      !NOT_SETTINGS.test(name),
  )
}
