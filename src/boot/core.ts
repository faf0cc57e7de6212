import { existsSync } from 'node:fs'
import type { Position } from '../../schemas/recorded.ts'
import { systemClock } from '../adapters/clock/system.ts'
import { Signal } from '../adapters/event-log/signal.ts'
import { createLogger } from '../adapters/logger/pino.ts'
import { AllowedAddresses } from '../adapters/outbound/allowed-address.ts'
import { systemRandom } from '../adapters/random/system.ts'
import { bindings } from '../catalog/shipped.ts'
import { createSnapshots, type SnapshotForm, type Snapshots } from '../engine/streams/snapshots.ts'
import { CheckpointPoller } from '../engine/views/checkpoint-poller.ts'
import type { ProjectionSet } from '../engine/views/project.ts'
import { Projector } from '../engine/views/projector.ts'
import { Reads as ViewReads } from '../engine/views/reads.ts'
import type { OpenScratch } from '../engine/views/rebuild.ts'
import { Repairs } from '../engine/views/repairs.ts'
import { ViewProgress } from '../engine/views/view-progress.ts'
import type { Clock } from '../ports/clock.ts'
import { BEFORE_FIRST, type EventLog } from '../ports/event-log.ts'
import type { Logger } from '../ports/logger.ts'
import type { Mailer } from '../ports/mailer.ts'
import type { ObjectStore } from '../ports/object-store.ts'
import type { Outbound } from '../ports/outbound.ts'
import type { Payments } from '../ports/payments.ts'
import type { Provider } from '../ports/provider.ts'
import type { Random } from '../ports/random.ts'
import type { RateCounter } from '../ports/rate-counter.ts'
import type { StoredViews, ViewStore } from '../ports/view-store.ts'
import { AccountMailboxes, accountSnapshots } from '../services/accounts/account-mailboxes.ts'
import { Accounts } from '../services/accounts/accounts.ts'
import { ApiKeys } from '../services/accounts/api-keys.ts'
import { AuditorKeys } from '../services/auditors/auditor-keys.ts'
import { Auditors } from '../services/auditors/auditors.ts'
import { Budgets } from '../services/budgets/budgets.ts'
import { Catalog, Descriptors } from '../services/catalog/catalog.ts'
import { Offers } from '../services/catalog/offers.ts'
import { PublishedCatalog } from '../services/catalog/published-catalog.ts'
import { deriveKey } from '../services/derive-key.ts'
import { eventCodec } from '../services/event-codec.ts'
import { Charges } from '../services/ledger/charges.ts'
import { Ledger } from '../services/ledger/ledger.ts'
import { Periods } from '../services/ledger/periods.ts'
import { Notices } from '../services/notices/notices.ts'
import { Lookups } from '../services/operator/lookups.ts'
import { authorize } from '../services/policies/authorization.ts'
import { ProviderChoices } from '../services/providers/provider-choices.ts'
import type { Bound } from '../services/providers/routes.ts'
import { Routing } from '../services/providers/routing.ts'
import { PriceList } from '../services/purchases/price-list.ts'
import { PurchaseRefunds } from '../services/purchases/purchase-refunds.ts'
import { Refunds } from '../services/runs/refunds.ts'
import { RunSearch } from '../services/runs/run-search.ts'
import type { CoreServices } from '../services/services.ts'
import { Logins, loginSnapshots } from '../services/sign-in/logins.ts'
import { Usage } from '../services/usage/usage.ts'
import { decryptedLog } from '../services/vault/decrypted-log.ts'
import { encryptionWith } from '../services/vault/personal-data.ts'
import type { Vault } from '../services/vault/vault.ts'
import { Positions } from '../services/views/positions.ts'
import type { Reads } from '../services/views/reads.ts'
import { ViewMaintenance } from '../services/views/view-maintenance.ts'
import { Deliveries } from '../services/webhooks/deliveries.ts'
import { webhookSecrets } from '../services/webhooks/send-webhook.ts'
import { Webhooks } from '../services/webhooks/webhooks.ts'
import { applyMarkUp } from './apply-mark-up.ts'
import { type Config, ConfigError } from './config.ts'
import { lostMasterSecret, readMasterSecret } from './master-secret.ts'
import { openProjections } from './projections.ts'
import { ProjectorThread } from './projector-thread.ts'
import { expectLog, openLog, type openScratchViews, openVault, openViews } from './stores.ts'
import { openTelemetry, Telemetry, usesTelemetry } from './telemetry.ts'

/** Logs to standard error, since a command's result goes to standard output. */
export const commandLineLogger = (level: string) => createLogger(level, 2)

export const serviceLogger = (level: string) => createLogger(level)

/** Replacements for tests and benchmarks. */
export interface TestOverrides {
  logger?: Logger
  clock?: Clock
  random?: Random
  providers?: Record<string, Provider>
  /** The bindings of the endpoints of `providers`; the sandbox needs none. */
  bindingsOf?: (endpoint: string) => readonly Bound[]
  log?: EventLog
  views?: StoredViews
  openScratch?: typeof openScratchViews
  objects?: ObjectStore
  outbound?: Outbound
  rateCounter?: RateCounter
  mailer?: Mailer
  limits?: Limits
  payments?: Payments
  /** Whether the log holds personal data in the clear. */
  isPlain?: boolean
  /** Replaces the program of the projector's thread. */
  projectorProgram?: URL
}

/** Limits of a process. Tests lower them. */
export interface Limits {
  accountsInMemory?: number
  permitsPerProvider?: number
  leaseMs?: number
}

interface CoreOptions extends TestOverrides {
  /** A command does not check the embedded views while a service uses them: checking large views takes seconds. */
  isCommand?: boolean
  /** Whether to start an empty log although the views or objects belong to another log. */
  newLog?: boolean
  /** Whether the projector runs in a thread of its own. */
  projectorThread?: boolean
  /** How long a process without a projector waits for the views at its start; no limit if missing. */
  maxStartMs?: number
}

/** The log, the views, and the services that need only these. The command line uses them. */
export interface Core {
  config: Config
  logger: Logger
  clock: Clock
  random: Random
  telemetry: Telemetry
  /** All signing keys are derived from it. */
  masterSecret: string
  log: EventLog
  vault: Vault
  views: ViewStore
  /** Keeps snapshots of streams of one kind. */
  snapshotsOf<State>(form: SnapshotForm<State>): Snapshots<State>
  accounts: AccountMailboxes
  logins: Logins
  auditorKeys: AuditorKeys
  projections: ProjectionSet
  openScratch: OpenScratch
  repairs: Pick<Repairs, 'rebuilt'>
  progress: ViewProgress
  reads: Reads
  publishedCatalog: PublishedCatalog
  offers: Offers
  choices: ProviderChoices
  services: CoreServices
  close(): Promise<void>
}

/** Opens the stores and brings the views up to date. Throws Unavailable or Damaged. */
export const openCore = async (config: Config, options: CoreOptions = {}): Promise<Core> => {
  const { logger = serviceLogger(config.logLevel), clock = systemClock, random = systemRandom } = options
  const { isCommand = false, newLog = false, maxStartMs } = options
  if (!newLog && !options.log) expectLog(config)
  const telemetry = !isCommand && usesTelemetry(config) ? await openTelemetry(config, clock) : new Telemetry(clock)
  const appended = new Signal<Position>()
  telemetry.ofCommits(appended)
  const stored = telemetry.ofLog(options.log ?? (await openLog(config, logger, appended)))
  if (config.masterSecret.kind === 'file') await expectMasterSecret(config, stored, { isCommand, logger })
  const store = options.views ?? (await openViews(config, logger, isCommand ? 'unless in use' : 'always'))
  const masterSecret = readMasterSecret(config.masterSecret)
  const vault = openVault(config, logger, masterSecret, options)
  const log = decryptedLog(stored, vault)
  const { projections, authenticate, openScratch } = openProjections(
    { masterSecret, dataDir: config.dataDir },
    options.openScratch,
  )
  const rebuild = { log, codec: eventCodec, projections, logger, openScratch }
  const repairs = new Repairs({ ...rebuild, clock, store })
  const views = authenticate(store, repairs.onForged)
  const snapshotsOf = <State>(form: SnapshotForm<State>) =>
    createSnapshots({
      store,
      form,
      key: deriveKey(masterSecret, 'snapshots'),
      onForged: stream => logger.warn({ stream }, 'ignoring a snapshot that this service did not write'),
    })
  const logins = new Logins({ log, snapshots: snapshotsOf(loginSnapshots), clock, random, logger, masterSecret })
  const accounts = new AccountMailboxes({
    log,
    snapshots: snapshotsOf(accountSnapshots),
    encryption: options.isPlain ? undefined : encryptionWith(vault),
    clock,
    random,
    logger,
    maxInMemory: options.limits?.accountsInMemory,
    positionInLog: config.workers > 1 ? log.lastPosition : undefined,
  })
  const progress = new ViewProgress({ log, store: views, projections, clock })
  progress.changes.subscribe(changes => accounts.onViewsChanged(changes))
  // Keys are not cached: a revoked key must not be served from memory.
  const reads: Reads = new ViewReads({
    ...{ store: views, progress, ownWrites: accounts, cached: ['accounts', 'balance'] },
    onMissing: repairs.onMissing,
  })
  // Processes on other machines serve the old views until the new ones are complete. Commands need complete views.
  const rebuildsFirst = isCommand || config.viewStore.kind !== 'lmdb'
  const dependencies = { ...rebuild, store: views, progress, clock, rebuildsFirst }
  const openProjector = () => {
    const { eventStore, viewStore, objectStore, retention, logLevel, dataDir } = config
    const order = { eventStore, viewStore, objectStore, retention, logLevel, dataDir, masterSecret, rebuildsFirst }
    const { onForged } = repairs
    return options.projectorThread
      ? new ProjectorThread({ ...dependencies, order, appended, onForged, program: options.projectorProgram })
      : new Projector(dependencies)
  }
  const keeper = config.roles.has('projector') ? openProjector() : new CheckpointPoller({ ...dependencies, maxStartMs })
  const publishedCatalog = new PublishedCatalog({ log, clock, random, logger })
  const offers = new Offers(publishedCatalog, accounts)
  const auditorKeys = new AuditorKeys({ log, clock, random, logger })
  const choices = new ProviderChoices({ log, clock, random, logger })
  await checkLastEvent(log)
  await keeper.start()
  const close = async () => {
    await repairs.stop()
    await keeper.stop()
    await progress.close()
    await views.close()
    await log.close()
    await vault.close()
  }
  const stores = { config, logger, clock, random, telemetry, masterSecret, log, vault, views, projections, openScratch }
  const services = openServices({
    ...stores,
    accounts,
    logins,
    snapshotsOf,
    auditorKeys,
    reads,
    publishedCatalog,
    offers,
    choices,
  })
  return {
    ...stores,
    accounts,
    logins,
    snapshotsOf,
    auditorKeys,
    repairs,
    progress,
    reads,
    publishedCatalog,
    offers,
    choices,
    services,
    close,
  }
}

/** A service makes a missing secret. A command that made one would rebuild the views of the service with it. */
const expectMasterSecret = async (
  { masterSecret }: Config,
  log: EventLog,
  { isCommand, logger }: { isCommand: boolean; logger: Logger },
) => {
  if (masterSecret.kind === 'given' || existsSync(masterSecret.path) || (await log.head()) === BEFORE_FIRST) return
  const lost = lostMasterSecret(masterSecret.path)
  if (isCommand) throw new ConfigError(lost)
  logger.warn({}, `${lost} This process makes another one, which changes the secrets of webhooks.`)
}

/** Throws if this version cannot read the last event, which the views of a newer version may have passed already. */
const checkLastEvent = async (log: EventLog) => {
  const head = await log.head()
  if (head === BEFORE_FIRST) return
  for await (const [event] of log.readAll(head - 1)) {
    if (event) eventCodec.decode(event)
    return
  }
}

type ServicesDependencies = Omit<Core, 'repairs' | 'progress' | 'services' | 'close'>

const openServices = (dependencies: ServicesDependencies): CoreServices => {
  const { config, logger, masterSecret, log, clock, random, accounts, logins, reads, publishedCatalog } = dependencies
  const { offers } = dependencies
  const allowed = new AllowedAddresses(config.outbound)
  const operations = new Accounts({ accounts, logins, reads, log, random, keyPrefix: config.keyPrefix })
  return authorize({
    accounts: operations,
    ledger: new Ledger({ accounts, reads, log, clock }),
    charges: new Charges({ reads, log }),
    usage: new Usage({ reads, clock }),
    refunds: new Refunds({ accounts, reads, log }),
    runSearch: new RunSearch({ reads }),
    keys: new ApiKeys({ accounts, reads, offers, clock, random, keyPrefix: config.keyPrefix, limits: config.limits }),
    auditors: new Auditors({ auditorKeys: dependencies.auditorKeys, random, keyPrefix: config.keyPrefix }),
    catalog: new Catalog({ offers, publishedCatalog, log, shipped: applyMarkUp(config) }),
    purchaseRefunds: new PurchaseRefunds({ accounts, reads, random, log }),
    priceList: new PriceList({ publishedCatalog, configured: config.packs }),
    webhooks: new Webhooks({ accounts, reads, clock, secretsOf: webhookSecrets(masterSecret) }),
    deliveries: new Deliveries({ accounts, reads, log, clock }),
    budgets: new Budgets({ accounts, clock }),
    notices: new Notices({ accounts, refusesUrl: url => allowed.refusesUrl(url) }),
    views: new ViewMaintenance(dependencies),
    routing: new Routing({ choices: dependencies.choices, bindings, views: dependencies.views, clock }),
    periods: new Periods({ log, clock, random, logger }),
    positions: new Positions({ log, accounts, reads }),
    lookups: new Lookups({ reads, log, accounts: operations }),
    descriptors: new Descriptors(offers),
  })
}
