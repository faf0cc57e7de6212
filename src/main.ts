import { openCore } from './boot/core.ts'
import { explainFailure } from './boot/failure.ts'
import { welcome } from './boot/first-start.ts'
import { keepFilesPrivate } from './boot/private-files.ts'
import { readConfig } from './boot/read-config.ts'

/**
 * A stop takes at most about 8 s: 5 for the work, 1 for the views, 2 for the responses. If something hangs, the process
 * ends anyway; the log has every event.
 */
const STOP_DEADLINE_MS = 9000

const main = async () => {
  const config = readConfig(process.env)
  keepFilesPrivate(config.dataDir)
  const core = await openCore(config)
  // A process whose stores cannot be opened ends without loading the rest.
  const { startServer } = await import('./boot/server.ts')
  const server = await startServer(core)
  const { url, port, models } = server
  const greeted = welcome(core, url, models)

  let stopping = false
  const stop = async (signal: string) => {
    if (stopping) return
    stopping = true
    core.logger.info({ signal }, 'stopping')
    setTimeout(() => process.exit(1), STOP_DEADLINE_MS).unref()
    // The first key is printed only once.
    await greeted.catch(() => undefined)
    await server.stop()
    await core.close()
    core.logger.info({}, 'stopped')
    process.exit(0)
  }
  process.on('SIGTERM', stop)
  process.on('SIGINT', stop)
  // A supervisor that reads this line may stop the service at once.
  core.logger.info({ url, port, roles: [...config.roles], pid: process.pid }, 'listening')
  await greeted
  // The first message to the MCP server need not wait until its code is loaded.
  if (config.roles.has('api')) await import('./mcp/protocol.ts')
}

main().catch(error => {
  console.error(explainFailure(error))
  process.exit(1)
})
