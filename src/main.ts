import cluster from 'node:cluster'
import { parseArgs } from 'node:util'
import { ConfigError } from './boot/config.ts'
import { openCore, serviceLogger } from './boot/core.ts'
import { welcome } from './boot/first-start.ts'
import { meetOtherServices } from './boot/other-services.ts'
import { explainFailure, FEW_FILES, keepFilesPrivate, openFilesLimit } from './boot/process.ts'
import { readConfig } from './boot/read-config.ts'
import { startServer } from './boot/server.ts'
import { Workers } from './boot/workers.ts'
import { visible } from './domain/visible-text.ts'
import { newerEvents } from './services/event-codec.ts'

/**
 * A stop takes at most about 8 s: 5 for the work, 1 for the views, 2 for the responses. If something hangs, the process
 * ends anyway; the log has every event.
 */
const STOP_DEADLINE_MS = 9000

const OTHER_SERVICE = 'another service uses the same DATA_DIR; set ROLES for each if that is intended'

const main = async () => {
  const { newLog } = readOptions()
  const config = readConfig(process.env)
  keepFilesPrivate(config.dataDir)
  const logger = serviceLogger(config.logLevel)
  // If nobody reads the output any more, the service goes on.
  process.stdout.on('error', () => undefined)
  if (config.workers > 1 && cluster.isPrimary) {
    const workers = new Workers(logger)
    stopOnSignal(logger, signal => workers.stop(signal))
    return workers.start(config.workers, config.metrics?.port)
  }
  const core = await openCore(config, { logger, newLog, projectorThread: config.projectorThread })
  const maxOpenFiles = openFilesLimit()
  if (maxOpenFiles !== undefined && maxOpenFiles < FEW_FILES)
    logger.warn({ maxOpenFiles }, `this process may open few files; raise "ulimit -n" to ${FEW_FILES} or more`)
  // Operators who set roles run several processes on purpose.
  if (config.eventStore.kind === 'lmdb' && !process.env['ROLES'])
    await meetOtherServices(config.dataDir, () => logger.warn({ dataDir: config.dataDir }, OTHER_SERVICE))
  newerEvents.subscribe(error => {
    logger.fatal({ err: error }, 'a newer version has written to the log; stopping the process')
    process.exit(1)
  })
  const server = await startServer(core)
  const { url, port, metricsPort, models } = server
  const greeted = welcome(core, url, models)

  stopOnSignal(logger, async () => {
    // The first key is printed only once.
    await greeted.catch(() => undefined)
    await server.stop()
    await core.close()
  })
  // A supervisor that reads this line may stop the service at once.
  logger.info({ url, port, metricsPort, roles: [...config.roles], pid: process.pid }, 'listening')
  await greeted
  // The first message to the MCP server need not wait until its code is loaded.
  if (config.roles.has('api')) await import('./mcp/protocol.ts')
}

const stopOnSignal = (logger: ReturnType<typeof serviceLogger>, stop: (signal: NodeJS.Signals) => Promise<void>) => {
  let stopping = false
  const onSignal = async (signal: NodeJS.Signals) => {
    if (stopping) return
    stopping = true
    logger.info({ signal }, 'stopping')
    setTimeout(() => process.exit(1), STOP_DEADLINE_MS).unref()
    await stop(signal)
    logger.info({}, 'stopped')
    // At the exit, pino would try for ever to write to a closed pipe, unless it has met the closed pipe before.
    await new Promise<void>(resolve => logger.flush(resolve))
    process.exit(0)
  }
  process.on('SIGTERM', onSignal)
  process.on('SIGINT', onSignal)
}

const readOptions = () => {
  try {
    const { values } = parseArgs({ options: { 'new-log': { type: 'boolean', default: false } } })
    return { newLog: values['new-log'] }
  } catch (error) {
    throw new ConfigError((error as Error).message)
  }
}

main().catch(error => {
  console.error(visible(explainFailure(error)))
  process.exit(1)
})
