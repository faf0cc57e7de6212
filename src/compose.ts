import type { AccountId } from '../schemas/primitives.ts'
import { systemClock } from './adapters/clock/system.ts'
import { createLogger } from './adapters/logger/pino.ts'
import { createOutbound } from './adapters/outbound/undici.ts'
import { createSandboxProvider } from './adapters/provider/sandbox/provider.ts'
import type { Config } from './config.ts'
import { Accounts } from './engine/accounts.ts'
import { Addresses } from './engine/addresses.ts'
import { Catalog } from './engine/catalog.ts'
import { InputFiles } from './engine/input-files.ts'
import { createInputMediaLoader } from './engine/input-media.ts'
import { Keys } from './engine/keys.ts'
import { Presenter } from './engine/present.ts'
import type { Progress } from './engine/progress.ts'
import { Projector } from './engine/projector.ts'
import { Quotes } from './engine/quotes.ts'
import { Reads } from './engine/reads.ts'
import { Runs } from './engine/runs.ts'
import { accountSnapshots } from './engine/snapshots.ts'
import { UploadGrants } from './engine/upload-grants.ts'
import { UploadSettlement } from './engine/upload-settlement.ts'
import { Uploads } from './engine/uploads.ts'
import { ViewFollower } from './engine/view-follower.ts'
import { Watch } from './engine/watch.ts'
import { webhookSecret } from './engine/webhook-signature.ts'
import { createApp } from './http/app.ts'
import { readMasterSecret } from './master-secret.ts'
import type { Clock } from './ports/clock.ts'
import type { EventLog } from './ports/event-log.ts'
import type { Logger } from './ports/logger.ts'
import type { Provider } from './ports/provider.ts'
import type { ViewStore } from './ports/view-store.ts'
import { Artifacts } from './reactors/artifacts.ts'
import { ObjectsReactor } from './reactors/objects.ts'
import { RunsReactor } from './reactors/runs.ts'
import { WebhooksReactor } from './reactors/webhooks.ts'
import { openLog, openObjects, openViews } from './stores.ts'

/** How long a stop waits for the views to show the outcomes that were recorded last, to those who wait for them. */
const LAST_OUTCOMES_MS = 1000

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

/** The whole service on top of its core, not yet listening. `publicUrl` tells what addresses begin with. */
export const openService = async (core: Core, publicUrl: () => string, substitutes: Substitutes = {}) => {
  const { config, logger, clock, log, views, accounts, progress, reads, catalog } = core
  const { usdPerCreditMicros, retention } = config
  const masterSecret = readMasterSecret(config.masterSecret)
  const addresses = new Addresses(publicUrl, config.cdnUrl)
  const objects = await openObjects(config, logger, addresses, masterSecret)
  const outbound = createOutbound({ allowPrivate: config.allowPrivateWebhooks })
  const loadInputMedia = createInputMediaLoader({ outbound, objects, addresses })
  const providers = substitutes.providers ?? { sandbox: createSandboxProvider({ loadInputMedia, clock }) }
  const artifacts = new Artifacts({ objects, outbound, clock, retentionMs: retention.outputsMs })
  const runsReactor = new RunsReactor({ providers, accounts, views, artifacts, clock, logger })
  const watch = new Watch(progress.changes)
  const settlement = new UploadSettlement(accounts, objects)
  const grants = new UploadGrants({ accounts, clock, retentionMs: retention.uploadsMs })
  const uploads = new Uploads({ accounts, reads, objects, settlement, grants, grantMs: config.uploadGrantMs })
  const inputFiles = new InputFiles({ addresses, objects, uploads })
  const quotes = new Quotes({ catalog, accounts, inputFiles, usdPerCreditMicros })
  const runs = new Runs({ accounts, quotes, reads, watch, starter: runsReactor, clock })
  const present = new Presenter(addresses, usdPerCreditMicros)
  const secretOf = (accountId: AccountId) => webhookSecret(masterSecret, accountId)
  const webhooks = new WebhooksReactor({ accounts, views, reads, outbound, present, clock, logger, secretOf })
  const objectsReactor = new ObjectsReactor({ accounts, objects, settlement, reads, views, clock, logger })
  const checks = { log: () => log.head(), views: () => views.checkpoint(), objects: () => objects.check() }
  const app = createApp({
    isApi: config.roles.has('api'),
    runs,
    quotes,
    reads,
    keys: new Keys(reads, accounts),
    accounts,
    catalog,
    objects,
    uploads,
    webhookSecretOf: secretOf,
    present,
    logger,
    checks,
  })
  return {
    app,
    /** Begins what the process's roles are, but for answering requests. */
    start: () => {
      if (!config.roles.has('reactors')) return
      for (const reactor of [runsReactor, webhooks, objectsReactor]) reactor.start(progress.changes)
    },
    /** Ends the work in progress, and then the waiting for what is still queued. */
    stop: async () => {
      await Promise.all([runsReactor.stop(), webhooks.stop(), objectsReactor.stop()])
      await progress.passed(await log.head(), LAST_OUTCOMES_MS).catch(() => undefined)
      watch.close()
      await Promise.all([...Object.values(providers).map(provider => provider.close()), outbound.close()])
    },
    /** To be called when nobody is answered any more. */
    close: () => objects.close(),
  }
}
