import { extname } from 'node:path'
import { fileURLToPath } from 'node:url'
import { SANDBOX } from '../../schemas/primitives.ts'
import { freeSpaceGuard, LOG_RESERVE_BYTES } from '../adapters/free-space.ts'
import { openLogVerifier } from '../adapters/log-verifier/child-process.ts'
import { createOutbound } from '../adapters/outbound/undici.ts'
import { createSandboxScaler } from '../adapters/provider/sandbox/scaler.ts'
import { MAX_OPENED } from '../domain/account/purchases.ts'
import { fromMicros } from '../domain/money.ts'
import { Watch } from '../engine/views/watch.ts'
import { RoundRobin } from '../flow/round-robin.ts'
import { type ApiDependencies, createApp } from '../http/app.ts'
import type { HealthChecks } from '../http/routes/health.ts'
import { openMcpEndpoint } from '../mcp/endpoint.ts'
import type { RateCounter } from '../ports/rate-counter.ts'
import { PaymentsReactor } from '../reactors/purchases/payments.ts'
import { ActiveRuns } from '../reactors/runs/active-runs.ts'
import { Artifacts } from '../reactors/runs/artifacts.ts'
import { InputSources } from '../reactors/runs/input-sources.ts'
import { ProviderPermits } from '../reactors/runs/provider-permits.ts'
import { ProviderReports } from '../reactors/runs/provider-reports.ts'
import { RunsReactor } from '../reactors/runs/runs.ts'
import { ExpiriesReactor } from '../reactors/upkeep/expiries.ts'
import { ObjectsReactor } from '../reactors/upkeep/objects.ts'
import { RetirementNoticesReactor } from '../reactors/upkeep/retirement-notices.ts'
import { RunArchiveReactor } from '../reactors/upkeep/run-archive.ts'
import { WebhooksReactor } from '../reactors/webhooks/webhooks.ts'
import { KeyHolders } from '../services/accounts/key-holders.ts'
import { KeyUses } from '../services/accounts/key-uses.ts'
import { Audit } from '../services/auditors/audit.ts'
import { ReadRecord, readsSnapshots } from '../services/auditors/read-record.ts'
import { Retirements } from '../services/catalog/retirements.ts'
import { Samples } from '../services/catalog/samples.ts'
import { deriveKey } from '../services/derive-key.ts'
import { Addresses } from '../services/files/addresses.ts'
import { Files } from '../services/files/files.ts'
import { OutputKeys } from '../services/files/output-keys.ts'
import { Ledger } from '../services/ledger/ledger.ts'
import { Activity } from '../services/operator/activity.ts'
import { Operators } from '../services/operator/operators.ts'
import { Overview } from '../services/operator/overview.ts'
import { Prices } from '../services/operator/prices.ts'
import { authorize } from '../services/policies/authorization.ts'
import { RequestLimits } from '../services/policies/request-limits.ts'
import { Presenter } from '../services/presenter.ts'
import { Callbacks } from '../services/providers/callbacks.ts'
import { CircuitBreakers } from '../services/providers/circuit-breakers.ts'
import { ReportedBreakers } from '../services/providers/reported-breakers.ts'
import { Routes } from '../services/providers/routes.ts'
import { PaymentReports } from '../services/purchases/payment-reports.ts'
import { Purchases } from '../services/purchases/purchases.ts'
import { TopUps } from '../services/purchases/top-ups.ts'
import { Withdrawals } from '../services/purchases/withdrawals.ts'
import { InputFiles } from '../services/runs/input-files.ts'
import { createInputMediaFinder } from '../services/runs/input-media.ts'
import { Previews } from '../services/runs/previews.ts'
import { Quotes } from '../services/runs/quotes.ts'
import { Remedies } from '../services/runs/remedies.ts'
import { RunCounts } from '../services/runs/run-counts.ts'
import { RunHistories } from '../services/runs/run-history.ts'
import { ShownInputs } from '../services/runs/run-inputs.ts'
import { RunReads } from '../services/runs/run-reads.ts'
import { Runs } from '../services/runs/runs.ts'
import { KnownSeals } from '../services/seals/known-seals.ts'
import { Proofs } from '../services/seals/proofs.ts'
import { SealStream } from '../services/seals/seal-stream.ts'
import { Seals } from '../services/seals/seals.ts'
import { TreeStore } from '../services/seals/tree-store.ts'
import type { Services } from '../services/services.ts'
import { KnownBrowsers, SessionTokens } from '../services/sign-in/browser-tokens.ts'
import { MailQueue } from '../services/sign-in/mail-queue.ts'
import { SessionHolders } from '../services/sign-in/sessions.ts'
import { TelegramProofs } from '../services/sign-in/telegram-proofs.ts'
import { UploadFinder } from '../services/uploads/upload-finder.ts'
import { UploadGrants } from '../services/uploads/upload-grants.ts'
import { UploadSettlement } from '../services/uploads/upload-settlement.ts'
import { Uploads } from '../services/uploads/uploads.ts'
import { webhookSecrets } from '../services/webhooks/send-webhook.ts'
import { WebhookTests } from '../services/webhooks/webhook-tests.ts'
import { withinTime } from '../time/timers.ts'
import { fileFault } from '../transports/refusals/files.ts'
import { openAlerts } from './alerts.ts'
import type { Config } from './config.ts'
import type { Core, TestOverrides } from './core.ts'
import { openProviders, originsOf } from './providers.ts'
import { openSealing } from './sealing.ts'
import { openSignIn } from './sign-in.ts'
import { openIdentityProvider, openMailer, openObjects, openPayments, openRateCounter } from './stores.ts'
import { watchedState } from './watched-state.ts'

/** How long a stop waits for the views to show the last outcomes to waiting clients. */
const LAST_OUTCOMES_MS = 1000

/** Only this machine can reach a service that listens on one of these. */
const LOOPBACK = ['127.0.0.1', '::1', 'localhost']

/** The whole service on top of its core, not yet listening. `publicUrl` returns the base URL of the service. */
export const openService = async (core: Core, publicUrl: () => string, overrides: TestOverrides = {}) => {
  const { config, logger, clock, random, masterSecret, log, views, accounts, progress, reads, offers, choices } = core
  const { telemetry, logins, vault, publishedCatalog } = core
  await choices.load()
  const payments = overrides.payments ?? (await openPayments(config))
  const { usdPerCreditMicros, retention } = config
  const { requestsPerMinute, runsInFlight } = config.limits
  const { permitsPerProvider, leaseMs } = overrides.limits ?? {}
  const addresses = new Addresses(publicUrl, config.cdnUrl)
  const objects = overrides.objects ?? (await openObjects(config, logger, addresses, masterSecret))
  const outbound = overrides.outbound ?? createOutbound(config.outbound)
  const permits = new ProviderPermits(permitsPerProvider ?? config.providerConcurrency)
  const find = createInputMediaFinder({ outbound, objects, addresses, clock, messageOf: fileFault })
  const sources = new InputSources({ find, permits, clock })
  const mailer = overrides.mailer ?? (await openMailer(config))
  const alerts = openAlerts(core, { mailer, publicUrl, leaseMs })
  const breakers = new CircuitBreakers(clock, alerts.ofAccount)
  const providers = openProviders({ config, masterSecret, clock, telemetry, useInputMedia: sources.use }, overrides)
  choices.endedWaits.subscribe(wait => breakers.endWait(wait))
  const reported = new ReportedBreakers({ views, clock })
  const hasReactors = config.roles.has('reactors')
  const routes = new Routes({ ...providers, breakers: hasReactors ? breakers : reported, choices, clock })
  const outputKeys = new OutputKeys(masterSecret)
  const origins = originsOf(config.providers)
  const artifacts = new Artifacts({
    ...{ objects, outbound, clock, keys: outputKeys, retentionMs: retention.outputsMs },
    originOf: provider => origins.get(provider),
  })
  const activeRuns = new ActiveRuns({
    routes,
    breakers,
    accounts,
    log,
    reads,
    views,
    artifacts,
    clock,
    random,
    logger,
    permits,
    sources,
    leaseMs,
  })
  const runsReactor = new RunsReactor({ activeRuns, routes, permits, accounts, log, views, clock, logger })
  const reports = new ProviderReports({
    providers: [...new Set(providers.accounts.map(({ provider }) => provider))],
    maxCalls: permitsPerProvider ?? config.providerConcurrency,
    ...{ breakers, permits, views, clock, random, logger },
  })
  const watch = new Watch(progress.changes, clock)
  const settlement = new UploadSettlement(accounts, objects)
  const grants = new UploadGrants({
    accounts,
    clock,
    random,
    retentionMs: retention.uploadsMs,
    quotaBytes: config.uploadQuotaBytes,
  })
  const finder = new UploadFinder({ accounts, reads, settlement })
  const uploads = new Uploads({
    ...{ accounts, reads, clock, objects, finder, settlement, grants },
    grantMs: config.uploadGrantMs,
  })
  const inputFiles = new InputFiles({ addresses, objects, outbound, uploads: finder, clock })
  const quotes = new Quotes({ offers, accounts, inputFiles, outbound, routes, usdPerCreditMicros })
  const retirements = new Retirements({ offers, supplyOf: endpoint => routes.supplyOf(endpoint) })
  const runReads = new RunReads({ reads, log, watch, clock, progress: activeRuns.progress })
  const runs = new Runs({
    ...{ accounts, offers, quotes, reads, runReads, objects, outputKeys, addresses, clock, random, runsInFlight },
    shownInputs: new ShownInputs({ log, clock }),
    retirements,
    starter: activeRuns,
    testRunsPerDay: config.testRunsPerDay,
    requestKey: deriveKey(masterSecret, 'requests'),
    remedies: new Remedies({
      ...{ publishedCatalog, publicUrl },
      sells: payments !== undefined,
      ownFolder: config.publicUrl === undefined && LOOPBACK.includes(config.host) ? config.dataDir : undefined,
    }),
  })
  const present = new Presenter(addresses, usdPerCreditMicros, endpoint => routes.supplyOf(endpoint))
  const secretsOf = webhookSecrets(masterSecret)
  const webhooks = new WebhooksReactor({
    accounts,
    views,
    reads,
    log,
    outbound,
    present,
    clock,
    random,
    logger,
    secretsOf,
    mailer,
    brand: config.brand,
    publicUrl,
    leaseMs,
  })
  const expiries = new ExpiriesReactor({ accounts, reads, views, clock, logger })
  const retirementNotices = new RetirementNoticesReactor({ accounts, retirements, reads, clock, logger })
  const objectsReactor = new ObjectsReactor({
    accounts,
    logins,
    vault,
    objects,
    outputKeys,
    log,
    finder,
    settlement,
    reads,
    views,
    clock,
    random,
    logger,
    leaseMs,
  })
  const archive =
    retention.runsMs === undefined
      ? undefined
      : new RunArchiveReactor({
          ...{ accounts, reads, views, clock, random, logger, leaseMs },
          retentionMs: retention.runsMs,
        })
  const seals = new SealStream({ log, clock, random, logger })
  const knownSeals = new KnownSeals({ seals, clock, logger })
  const sealing = config.roles.has('sealer') ? await openSealing(core, seals, alerts.ofSink) : []
  const { eventStore, viewStore } = config
  const folders = [eventStore, viewStore].flatMap(store => (store.kind === 'lmdb' ? store.folder : []))
  const disks = [config.dataDir, ...folders].map(folder => freeSpaceGuard(folder, LOG_RESERVE_BYTES))
  const checks: HealthChecks = {
    log: () => log.head(),
    views: () => progress.readable(),
    objects: () => objects.check(),
    disk: async () => Math.min(...disks.map(ensureFreeSpace => ensureFreeSpace())),
  }
  const files = new Files({ objects, accounts, finder, reads, log })
  const proofs = new Proofs({ log, trees: new TreeStore({ views, clock }), clock })
  const verifier = openLogVerifier({ program: verifyProgram, eventStore: config.eventStore })
  const audit = new Audit({
    ...{ log, reads, accounts, seals, verifier, auditorKeys: core.auditorKeys },
    record: openReadRecord(core),
    ledger: new Ledger({ accounts, reads, log, clock }),
  })
  const scaler = createSandboxScaler()
  const previews = new Previews({ objects, outputKeys, reads, scaler, logger })
  const histories = new RunHistories({ reads, log })
  const runCounts = new RunCounts({ reads, runReads, usage: core.services.usage, clock })
  const activity = new Activity({ log, clock, logger })
  const configured = config.providers.map(({ provider }) => provider)
  const overview = new Overview({
    ...{ activity, retirements, reads, log, clock, alerts: alerts.state, routing: core.services.routing },
    configured,
  })
  const prices = new Prices({ routing: core.services.routing, configured, usdPerCreditMicros })
  const stopping = new AbortController()
  const samples = new Samples({
    ...{ offers, objects, scaler, random, sandbox: providers.sandbox?.client },
    stopping: stopping.signal,
  })
  const webhookTests = new WebhookTests({ accounts, outbound, clock, random, secretsOf, stopping: stopping.signal })
  const callbacks = new Callbacks({ accounts: providers.accounts, views, poller: activeRuns, clock })
  const { priceList } = core.services
  const perHour = config.payments?.purchasesPerHour ?? MAX_OPENED
  const withdrawalDays = config.payments?.withdrawalDays ?? 0
  const topUps = new TopUps({ accounts, clock, random, priceList, payments, perHour, withdrawalDays })
  const purchases = new Purchases({
    ...{ accounts, reads, clock, random, payments, publicUrl, logger },
    ...{ priceList, topUps, perHour, withdrawalDays },
  })
  const withdrawals = new Withdrawals({ accounts, reads, clock, random })
  const paymentReports = new PaymentReports({ accounts, purchases, payments, logger })
  const paymentsReactor =
    payments && new PaymentsReactor({ accounts, reads, views, purchases, topUps, payments, clock, logger })
  const tokens = new SessionTokens(masterSecret)
  const browsers = new KnownBrowsers(masterSecret, clock)
  const mail = new MailQueue({ mailer, clock, logger })
  const provider = await openIdentityProvider(config)
  const telegram = provider && new TelegramProofs({ telegram: provider, clock, logger, browsers, publicUrl })
  const signIn = openSignIn(core, { tokens, browsers, mail, telegram, publicUrl })
  const services: Services = {
    ...core.services,
    ...authorize({ runs, previews, samples, uploads, files, seals: new Seals({ log, seals }) }),
    ...authorize({ histories, runCounts, overview, prices }),
    ...authorize({ audit, proofs, callbacks, webhookTests, paymentReports }),
    ...authorize({ purchases, topUps, withdrawals }),
    ...authorize(signIn),
  }
  const keyUses = new KeyUses({ accounts, clock, logger })
  const openApi = (counter: RateCounter): ApiDependencies => ({
    ...{ services, present, keyUses },
    keyHolders: new KeyHolders(reads, accounts),
    sessionHolders: new SessionHolders({ accounts, tokens, clock }),
    signInPages: {
      registration: { ...config.registration, welcomeCredits: fromMicros(config.welcomeMicros) },
      mailFolder: mailer.folder,
      hasTelegram: telegram !== undefined,
      brand: config.brand,
      sealMinutes: config.seals.maxAgeMs / 60_000,
      operators: new Operators({ addresses: config.adminEmails, mail, publicUrl }),
      fileOrigins: fileOrigins(config),
    },
    random,
    auditorKeys: core.auditorKeys,
    requestLimits: new RequestLimits({ accounts, counter, perMinute: requestsPerMinute }),
    knownSeals,
    acceptsPut: objects.acceptPut !== undefined,
    mcp: openMcpEndpoint({
      services,
      present,
      brand: config.brand,
      logger,
      publicUrl,
      allowedOrigins: config.allowedOrigins,
    }),
    allowedOrigins: config.allowedOrigins,
    publicUrl,
    isPublic: config.publicDescriptors,
  })
  const counter = config.roles.has('api')
    ? (overrides.rateCounter ?? (await openRateCounter(config, logger)))
    : undefined
  const api = counter && openApi(counter)
  const turns = new RoundRobin(clock)
  const takesCallbacks = api !== undefined || hasReactors
  const app = createApp({
    ...{ logger, clock, clientAddress: config.connections.clientAddress, checks, api, turns },
    ...{ metrics: telemetry.metrics, tracer: telemetry.tracer },
    callbacks: takesCallbacks ? services : undefined,
  })
  return {
    app,
    serves: (endpoint: string) => routes.servesEndpoint(endpoint),
    turns,
    services,
    watched: watchedState({
      ...{ config, log, views, progress, breakers, permits, clock },
      providers: [...new Set([...providers.accounts.map(({ provider }) => provider), SANDBOX])],
      maxCalls: permitsPerProvider ?? config.providerConcurrency,
    }),
    /** Starts the work of the process's roles, except for answering requests. */
    start: () => {
      alerts.start()
      for (const reactor of sealing) reactor.start()
      if (api) knownSeals.start()
      if (api && config.adminEmails.length > 0) activity.start()
      choices.start()
      if (!hasReactors) return reported.start()
      reports.start()
      retirementNotices.start()
      archive?.start()
      paymentsReactor?.start(progress.changes)
      for (const reactor of [runsReactor, webhooks, expiries, objectsReactor]) reactor.start(progress.changes)
    },
    /** Ends the work in progress, then the waits for queued work. */
    stop: async () => {
      stopping.abort()
      activity.stop()
      knownSeals.stop()
      choices.stop()
      reported.stop()
      await verifier.close()
      await keyUses.settled()
      const optional = [archive, paymentsReactor].filter(reactor => reactor !== undefined)
      const upkeep = [expiries, retirementNotices, objectsReactor, ...optional, ...sealing]
      const reactors = [runsReactor, webhooks, reports, ...upkeep]
      await Promise.all([...reactors, alerts, mail].map(part => part.stop()))
      mailer.close()
      const shown = log.head().then(head => progress.passed(head, LAST_OUTCOMES_MS))
      await withinTime(
        clock,
        shown.catch(() => undefined),
        LAST_OUTCOMES_MS,
        () => undefined,
      )
      watch.close()
      await Promise.all([providers.close(), scaler.close(), outbound.close()])
    },
    /** Call it after the last response. */
    close: async () => {
      await api?.mcp.close()
      counter?.close()
      await objects.close()
    },
  }
}

/** The origins of files besides the service's own: of the CDN, and of the S3 server to which browsers upload. */
const fileOrigins = ({ cdnUrl, objectStore }: Config): string[] => {
  const server = objectStore.kind === 's3' ? (objectStore.publicUrl ?? s3Origin(objectStore)) : undefined
  return [cdnUrl, server].flatMap(url => (url === undefined ? [] : [new URL(url).origin]))
}

const s3Origin = ({ host, port, tls }: { host: string; port: number | undefined; tls: boolean }) =>
  `${tls ? 'https' : 'http'}://${host}${port === undefined ? '' : `:${port}`}`

/** The program that verifies the log, with this file's extension: `.ts` from source, `.js` once compiled. */
const verifyProgram = fileURLToPath(new URL(`./verify-process${extname(import.meta.url)}`, import.meta.url))

const openReadRecord = ({ log, snapshotsOf, clock, random, logger }: Core): ReadRecord =>
  new ReadRecord({ log, snapshots: snapshotsOf(readsSnapshots), clock, random, logger })
