/**
 * Entry of the process: reads the environment, starts the service, and ends it on SIGTERM. No other
 * module reads settings from `process.env`.
 */
import closeWithGrace from 'close-with-grace'
import { type Logger, pino } from 'pino'
import { type Config, readConfig, unknownSettings } from './config.ts'
import { VERSION } from './core/version.ts'
import { LOGGED } from './http/logged.ts'
import { LogLines } from './log-lines.ts'
import { naming, startService } from './service.ts'

const MS_PER_SECOND = 1000
const REFUSED = 1
const WRITE_FAULT = 1
const STDOUT_FD = 1
/**
 * Signals of a crash keep their default action, which ends the process. With a handler, the failed
 * instruction would be tried again for ever. The process would then answer nothing, ignore SIGTERM
 * and hold the lock of the ledger.
 */
const CRASHES = ['SIGSEGV', 'SIGBUS', 'SIGILL', 'SIGFPE', 'SIGTRAP', 'SIGABRT'] as const

try {
  await main(process.env)
} catch (error) {
  // One line is enough: it names the setting that prevents the start.
  const message = error instanceof Error ? error.message : String(error)
  process.stderr.write(`coatcheck does not start: ${message}\n`)
  process.exit(REFUSED)
}

async function main(env: NodeJS.ProcessEnv): Promise<void> {
  const config = readConfig(env)
  const logger = loggerOf(config)
  logger.info({ version: VERSION, node: process.versions.node }, `coatcheck ${VERSION} starts`)
  for (const name of unknownSettings(env))
    logger.warn({ name }, 'unknown setting; docs/reference/settings.md lists all settings')
  const { COATCHECK_HOST: host, COATCHECK_PORT: port } = config
  const fault = Promise.withResolvers<void>()
  const onWriteFault = fault.resolve
  const service = await startService(config, { logger, onFault: throwUncaught, onWriteFault })
  const delay = config.COATCHECK_SHUTDOWN_GRACE_SECONDS * MS_PER_SECOND
  let status: number | undefined
  const ending = closeWithGrace({ delay, logger, skip: [...CRASHES] }, async ({ err }) => {
    if (err !== undefined) logger.fatal({ err }, 'stopped by an error')
    else logger.info('stopping')
    await service.close()
    if (status !== undefined) process.exit(status)
  })
  if (config.COATCHECK_EXIT_ON_WRITE_FAULT === '1') {
    void fault.promise.then(() => {
      status = WRITE_FAULT
      void ending.close()
    })
  }
  const settings = `COATCHECK_HOST=${host} COATCHECK_PORT=${port}`
  const address = await naming(settings, service.app.listen({ host, port }))
  logger.info(`Swagger UI: ${address}/docs`)
}

/**
 * Ends the process for an error that ended a thread, as for an uncaught error in the main thread.
 */
function throwUncaught(cause: unknown): void {
  setImmediate(() => {
    throw cause
  })
}

function loggerOf({ COATCHECK_LOG_LEVEL: level }: Config): Logger {
  const lines = new LogLines(STDOUT_FD)
  process.on('exit', () => lines.flushSync())
  return pino({ level, serializers: LOGGED }, lines)
}
