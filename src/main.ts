/**
 * The process: reads the environment, starts the service, and ends it on SIGTERM. The only reader of settings in `process.env`.
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
 * Signals of a crash keep their default, which ends the process. With a handler, the instruction that failed would be tried
 * again for ever: the process would answer nothing, ignore SIGTERM and hold the lock of the ledger.
 */
const CRASHES = ['SIGSEGV', 'SIGBUS', 'SIGILL', 'SIGFPE', 'SIGTRAP', 'SIGABRT'] as const

try {
  await main(process.env)
} catch (error) {
  // One line for whoever started it: what was set cannot be served with.
  const message = error instanceof Error ? error.message : String(error)
  process.stderr.write(`coatcheck does not start: ${message}\n`)
  process.exit(REFUSED)
}

async function main(env: NodeJS.ProcessEnv): Promise<void> {
  const config = readConfig(env)
  const logger = loggerOf(config)
  logger.info({ version: VERSION, node: process.versions.node }, `coatcheck ${VERSION} starts`)
  for (const name of unknownSettings(env))
    logger.warn({ name }, 'not a setting of coatcheck; docs/reference/settings.md has them all')
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

/** An error that ended a thread ends the process, as an error that nothing catches in this one does. */
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
