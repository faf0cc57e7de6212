import { systemClock } from '../adapters/clock/system.ts'
import { createLogger } from '../adapters/logger/pino.ts'
import type { Progress } from '../engine/views/progress.ts'
import { Projector } from '../engine/views/projector.ts'
import { Reads } from '../engine/views/reads.ts'
import { ViewFollower } from '../engine/views/view-follower.ts'
import type { Clock } from '../ports/clock.ts'
import type { EventLog } from '../ports/event-log.ts'
import type { Logger } from '../ports/logger.ts'
import type { Provider } from '../ports/provider.ts'
import type { ViewStore } from '../ports/view-store.ts'
import { Accounts } from '../services/accounts/accounts.ts'
import { accountSnapshots } from '../services/accounts/snapshots.ts'
import { Catalog } from '../services/catalog/catalog.ts'
import type { Config } from './config.ts'
import { openLog, openViews } from './stores.ts'

/** For the command line, whose standard output is its answer. */
export const commandLineLogger = () => createLogger('warn', 2)

/** What a test or a benchmark may put in the place of what the configuration says. */
export interface Substitutes {
  logger?: Logger
  clock?: Clock
  providers?: Record<string, Provider>
}

/** The log, the views and what keeps them: all that the command line needs. */
export interface Core {
  config: Config
  logger: Logger
  clock: Clock
  log: EventLog
  views: ViewStore
  accounts: Accounts
  progress: Progress
  reads: Reads
  catalog: Catalog
  close(): Promise<void>
}

/** Opens the stores and brings the views up to date. Throws Unavailable or Damaged. */
export const openCore = async (config: Config, substitutes: Substitutes = {}): Promise<Core> => {
  const { logger = createLogger(config.logLevel), clock = systemClock } = substitutes
  const log = await openLog(config, logger)
  const views = await openViews(config, logger)
  const accounts = new Accounts(log, accountSnapshots(views), clock)
  const progress = config.roles.has('projector')
    ? new Projector(log, views, logger)
    : new ViewFollower(log, views, logger)
  const reads = new Reads(views, progress, accounts)
  const catalog = new Catalog(reads, progress.changes)
  await progress.start()
  const close = async () => {
    await progress.stop()
    await views.close()
    await log.close()
  }
  return { config, logger, clock, log, views, accounts, progress, reads, catalog, close }
}
