/**
 * Composition root: makes the ledger, the validator and the application from the settings, and
 * closes them in reverse.
 */
import type { FastifyBaseLogger, FastifyInstance } from 'fastify'
import type { Config } from './config.ts'
import { buildApp } from './http/app.ts'
import { OPERATOR, requireToken, TokenSet, type Tokens } from './http/auth/tokens.ts'
import { TokensFile, warnOfShort } from './http/auth/tokens-file.ts'
import type { BodyLimits } from './http/body/json-body.ts'
import { Metrics } from './http/observability/metrics.ts'
import { LargeCallThreads } from './large-calls/threads.ts'
import { SteadyClock } from './ledger/clock.ts'
import { watchDisk } from './ledger/disk-watch.ts'
import type { Ledger, LedgerPolicy } from './ledger/ledger.ts'
import type { Tell } from './ledger/notice.ts'
import { openLedger } from './ledger/open.ts'
import { isStartInDoubt } from './ledger/start-time.ts'
import { startSweeping } from './ledger/sweeping.ts'
import type { RunLimits } from './runs/context.ts'
import { systemErrorWords } from './system-error.ts'
import { ThreadValidator } from './validation/pool/thread-validator.ts'

const MS_PER_SECOND = 1000

/** A started service. */
export interface Service {
  /** The application. It does not listen yet. */
  readonly app: FastifyInstance
  /** Finishes open requests, then closes the ledger. */
  close(): Promise<void>
}

/** Options of {@link startService}. */
export interface ServiceOptions {
  /** Logger. Absent: nothing is logged. */
  readonly logger?: FastifyBaseLogger
  /**
   * Current time in milliseconds since the epoch. Absent: the machine's clock, whose jumps are held
   * back.
   */
  readonly now?: () => number
  /** Called once, when the ledger takes no more writes until the service is started again. */
  readonly onWriteFault?: () => void
  /**
   * Called with the uncaught error of a thread that the service cannot work without. The service
   * must then be ended.
   */
  readonly onFault?: (cause: unknown) => void
}

/**
 * Starts a service. Throws when the ledger or the tokens file cannot be used, and names the
 * setting.
 */
export async function startService(config: Config, options: ServiceOptions = {}): Promise<Service> {
  const { logger } = options
  const tell: Tell = (notice) => logger?.[notice.level](notice.facts ?? {}, notice.message)
  const metrics = new Metrics()
  const tokens = await openTokens(config)
  if (tokens !== undefined) warnOfShort(tokens, logger)
  const ledger = await openLedgerOf(config, { options, metrics, tell })
  const validator = new ThreadValidator(validationLimits(config), (err) =>
    logger?.error({ err }, 'a thread that validates has ended; another takes its place'),
  )
  const { now, offsetSeconds, firstSweepMs } = await openTime(ledger, { config, options, tell })
  metrics.watchClock(offsetSeconds)
  metrics.watchTotals(() => ledger.totals(), now)
  const sweeping = startSweeping(ledger, {
    now,
    ...(firstSweepMs === undefined ? {} : { firstMs: firstSweepMs }),
    onError: (err) => logger?.error({ err }, 'sweep failed'),
  })
  const limits = runLimits(config)
  const bodyLimits = bodyLimitsOf(config)
  const largeCalls = new LargeCallThreads({
    ledger,
    validator,
    limits,
    bodyLimits,
    now,
    threads: config.COATCHECK_LARGE_CALL_THREADS,
    cpuSeconds: config.COATCHECK_LARGE_CALL_CPU_SECONDS,
    heapBytes: config.COATCHECK_LARGE_CALL_HEAP_BYTES,
    count: (event) => metrics.count(event),
    log: ({ level, facts, text }) => logger?.[level](facts, text),
  })
  const diskWatch = watchDisk(ledger, { warnBytes: config.COATCHECK_FREE_DISK_WARN_BYTES, tell })
  const app = await buildApp({
    context: { ledger, validator, limits, now },
    largeCalls,
    metrics,
    bodyLimits,
    maxHeldAnswerBytes: config.COATCHECK_MAX_HELD_ANSWER_BYTES,
    timeouts: {
      headersSeconds: config.COATCHECK_HEADERS_TIMEOUT_SECONDS,
      bodyIdleSeconds: config.COATCHECK_BODY_IDLE_SECONDS,
    },
    access: {
      tokens,
      allowUnauthenticated: config.COATCHECK_ALLOW_UNAUTHENTICATED === '1',
    },
    ...(logger === undefined ? {} : { loggerInstance: logger }),
  })
  const file = tokens instanceof TokensFile ? tokens : undefined
  file?.watch(logger)
  return {
    app,
    async close() {
      file?.close()
      await app.close()
      sweeping.stop()
      await largeCalls.close()
      diskWatch.stop()
      await validator.close()
      await ledger.close()
    },
  }
}

/** Opens the ledger of the settings. Errors name the setting. */
function openLedgerOf(
  config: Config,
  {
    options: { onFault, onWriteFault = () => undefined },
    metrics,
    tell,
  }: { readonly options: ServiceOptions; readonly metrics: Metrics; readonly tell: Tell },
): Promise<Ledger> {
  const opening = openLedger(config.COATCHECK_LEDGER, ledgerPolicy(config), {
    onCommit: (commit) => metrics.countCommit(commit),
    onNotice: (notice) => {
      tell(notice)
      if (notice.level === 'fatal') onWriteFault()
    },
    ...(onFault === undefined ? {} : { onFault }),
    cacheBytes: config.COATCHECK_CHUNK_CACHE_BYTES,
    reserveBytes: config.COATCHECK_DISK_RESERVE_BYTES,
  })
  return naming(`COATCHECK_LEDGER=${config.COATCHECK_LEDGER}`, opening)
}

/**
 * Sets up the clock of the service, and the time of the first sweep when the clock may be wrong at
 * the start.
 */
async function openTime(
  ledger: Ledger,
  how: { readonly config: Config; readonly options: ServiceOptions; readonly tell: Tell },
): Promise<{ now: () => number; offsetSeconds: () => number; firstSweepMs: number | undefined }> {
  const { config, options, tell } = how
  const holdMs = config.COATCHECK_CLOCK_HOLD_SECONDS * MS_PER_SECOND
  const { now: given } = options
  if (given !== undefined) return { now: given, offsetSeconds: () => 0, firstSweepMs: undefined }
  const monotonic = () => performance.now()
  const clock = new SteadyClock({ wall: () => Date.now(), monotonic, holdMs, tell })
  const { latestAt } = await ledger.totals()
  const inDoubt = isStartInDoubt({ now: clock.now(), latestAt, holdMs }, tell)
  if (inDoubt) clock.distrustStart()
  return {
    now: () => clock.now(),
    offsetSeconds: () => clock.offsetSeconds(),
    firstSweepMs: inDoubt ? holdMs : undefined,
  }
}

/** Tokens of the settings; undefined when none are set. Errors name the setting. */
async function openTokens(config: Config): Promise<Tokens | undefined> {
  const { COATCHECK_TOKEN: token, COATCHECK_TOKENS_FILE: path } = config
  if (token !== undefined) requireToken(token, 'COATCHECK_TOKEN')
  const own = token === undefined ? [] : [{ tenant: OPERATOR, token }]
  if (path !== undefined) return TokensFile.open(path, own)
  return token === undefined ? undefined : new TokenSet(own)
}

/** Adds the settings that caused it to the error of `work`. */
export async function naming<Answer>(settings: string, work: Promise<Answer>): Promise<Answer> {
  try {
    return await work
  } catch (error) {
    const message =
      systemErrorWords(error) ?? (error instanceof Error ? error.message : String(error))
    throw new Error(`${message} (with ${settings})`, { cause: error })
  }
}

const ledgerPolicy = (config: Config): LedgerPolicy => ({
  defaultTtlSeconds: config.COATCHECK_RUN_TTL_SECONDS,
  defaultVerbatimLimitChars: config.COATCHECK_VERBATIM_LIMIT_CHARS,
  retentionSeconds: config.COATCHECK_RETENTION_SECONDS,
  maxRuns: config.COATCHECK_MAX_RUNS,
  maxResultsPerRun: config.COATCHECK_MAX_RESULTS_PER_RUN,
  maxBytesPerRun: config.COATCHECK_MAX_BYTES_PER_RUN,
  maxEvictionsPerMinute: config.COATCHECK_MAX_EVICTIONS_PER_MINUTE,
  maxToolsPerRun: config.COATCHECK_MAX_TOOLS_PER_RUN,
  maxToolBytesPerRun: config.COATCHECK_MAX_TOOL_BYTES_PER_RUN,
})

const bodyLimitsOf = (config: Config): BodyLimits => ({
  maxJsonBodyBytes: config.COATCHECK_MAX_JSON_BODY_BYTES,
  maxRawBodyBytes: config.COATCHECK_MAX_RAW_BODY_BYTES,
  maxHeldBytes: config.COATCHECK_MAX_HELD_BODY_BYTES,
  maxJsonDepthLevels: config.COATCHECK_MAX_JSON_DEPTH_LEVELS,
  maxDecompressionRatio: config.COATCHECK_MAX_DECOMPRESSION_RATIO,
  inlineBytes: config.COATCHECK_INLINE_BYTES,
})

const runLimits = (config: Config): RunLimits => ({
  maxJsonDepthLevels: config.COATCHECK_MAX_JSON_DEPTH_LEVELS,
  defaultVerbatimChars: config.COATCHECK_VERBATIM_LIMIT_CHARS,
  maxVerbatimChars: config.COATCHECK_MAX_VERBATIM_CHARS,
  maxResolvedBytes: config.COATCHECK_MAX_RESOLVED_BYTES,
  maxReferences: config.COATCHECK_MAX_REFERENCES,
  maxErrors: config.COATCHECK_MAX_ERRORS,
  maxToolsPerRun: config.COATCHECK_MAX_TOOLS_PER_RUN,
  maxListBytes: config.COATCHECK_MAX_LIST_BYTES,
  inlineBytes: config.COATCHECK_INLINE_BYTES,
})

const validationLimits = (config: Config) => ({
  schemaBytes: config.COATCHECK_MAX_SCHEMA_BYTES,
  errorsShown: config.COATCHECK_MAX_ERRORS,
  compileMs: config.COATCHECK_COMPILE_MS,
  validateMs: config.COATCHECK_VALIDATE_MS,
  waitMs: config.COATCHECK_VALIDATION_WAIT_SECONDS * MS_PER_SECOND,
  heapBytes: config.COATCHECK_VALIDATION_HEAP_BYTES,
})
