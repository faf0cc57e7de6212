import type { AccountId } from '../../schemas/primitives.ts'
import { createOutbound } from '../adapters/outbound/undici.ts'
import { createSandboxProvider } from '../adapters/provider/sandbox/provider.ts'
import { Watch } from '../engine/views/watch.ts'
import { type ApiParts, createApp } from '../http/app.ts'
import type { McpParts } from '../mcp/endpoint.ts'
import { ActiveRuns } from '../reactors/active-runs.ts'
import { Artifacts } from '../reactors/artifacts.ts'
import { ObjectsReactor } from '../reactors/objects.ts'
import { RunsReactor } from '../reactors/runs.ts'
import { WebhooksReactor } from '../reactors/webhooks.ts'
import { KeyHolders } from '../services/accounts/key-holders.ts'
import { Addresses } from '../services/addresses.ts'
import { Files } from '../services/files.ts'
import { authorize } from '../services/policies/authorization.ts'
import { Presenter } from '../services/presenter.ts'
import { InputFiles } from '../services/runs/input-files.ts'
import { createInputMediaLoader } from '../services/runs/input-media.ts'
import { Quotes } from '../services/runs/quotes.ts'
import { RunReads } from '../services/runs/run-reads.ts'
import { Runs } from '../services/runs/runs.ts'
import type { Services } from '../services/services.ts'
import { UploadFinder } from '../services/uploads/upload-finder.ts'
import { UploadGrants } from '../services/uploads/upload-grants.ts'
import { UploadSettlement } from '../services/uploads/upload-settlement.ts'
import { Uploads } from '../services/uploads/uploads.ts'
import { webhookSecret } from '../services/webhooks/webhook-signature.ts'
import { withinTime } from '../time/within-time.ts'
import type { Core, Substitutes } from './core.ts'
import { openObjects } from './stores.ts'

/** How long a stop waits for the views to show the last outcomes to waiting clients. */
const LAST_OUTCOMES_MS = 1000

/** The whole service on top of its core, not yet listening. `publicUrl` returns the base URL of the service. */
export const openService = async (core: Core, publicUrl: () => string, substitutes: Substitutes = {}) => {
  const { config, logger, clock, random, masterSecret, log, views, accounts, progress, reads, offers } = core
  const { usdPerCreditMicros, retention } = config
  const { slotsPerProvider, leaseMs } = substitutes.limits ?? {}
  const addresses = new Addresses(publicUrl, config.cdnUrl)
  const objects = substitutes.objects ?? (await openObjects(config, logger, addresses, masterSecret))
  const outbound = substitutes.outbound ?? createOutbound({ allowPrivate: config.allowPrivateWebhooks })
  const loadInputMedia = createInputMediaLoader({ outbound, objects, addresses })
  const providers = substitutes.providers ?? { sandbox: createSandboxProvider({ loadInputMedia, clock }) }
  const artifacts = new Artifacts({ objects, outbound, clock, random, retentionMs: retention.outputsMs })
  const activeRuns = new ActiveRuns({
    providers,
    accounts,
    views,
    artifacts,
    clock,
    random,
    logger,
    slotsPerProvider,
    leaseMs,
  })
  const runsReactor = new RunsReactor({ activeRuns, accounts, views, clock, logger })
  const watch = new Watch(progress.changes, clock)
  const settlement = new UploadSettlement(accounts, objects)
  const grants = new UploadGrants({ accounts, clock, random, retentionMs: retention.uploadsMs })
  const finder = new UploadFinder({ accounts, reads, settlement })
  const uploads = new Uploads({ accounts, reads, objects, finder, settlement, grants, grantMs: config.uploadGrantMs })
  const inputFiles = new InputFiles({ addresses, objects, uploads: finder })
  const quotes = new Quotes({ offers, accounts, inputFiles, usdPerCreditMicros })
  const runReads = new RunReads({ reads, watch, clock, progress: activeRuns.progress })
  const runs = new Runs({ accounts, quotes, reads, runReads, starter: activeRuns, clock, random })
  const present = new Presenter(addresses, usdPerCreditMicros)
  const secretOf = (accountId: AccountId) => webhookSecret(masterSecret, accountId)
  const webhooks = new WebhooksReactor({
    accounts,
    views,
    reads,
    outbound,
    present,
    clock,
    random,
    logger,
    secretOf,
    leaseMs,
  })
  const objectsReactor = new ObjectsReactor({
    accounts,
    objects,
    finder,
    settlement,
    reads,
    views,
    clock,
    random,
    logger,
    leaseMs,
  })
  const checks = { log: () => log.head(), views: () => views.checkpoint(), objects: () => objects.check() }
  const services: Services = { ...core.services, ...authorize({ runs, uploads, files: new Files(objects) }) }
  const openApi = async (): Promise<ApiParts> => ({
    services,
    present,
    keyHolders: new KeyHolders(reads, accounts),
    acceptsPut: objects.acceptPut !== undefined,
    mcp: await openMcp({ services, present, logger, publicUrl, allowedOrigins: config.allowedOrigins }),
    described: { publicUrl, isPublic: config.publicDescriptors },
  })
  const api = config.roles.has('api') ? await openApi() : undefined
  const app = createApp({ logger, clock, isTrusted: config.connections.isTrusted, checks, api })
  return {
    app,
    services,
    /** Starts the work of the process's roles, except for answering requests. */
    start: () => {
      if (!config.roles.has('reactors')) return
      for (const reactor of [runsReactor, webhooks, objectsReactor]) reactor.start(progress.changes)
    },
    /** Ends the work in progress, and then the waits for queued work. */
    stop: async () => {
      await Promise.all([runsReactor.stop(), webhooks.stop(), objectsReactor.stop()])
      const shown = log.head().then(head => progress.passed(head, LAST_OUTCOMES_MS))
      await withinTime(
        clock,
        shown.catch(() => undefined),
        LAST_OUTCOMES_MS,
        () => undefined,
      )
      watch.close()
      await Promise.all([...Object.values(providers).map(provider => provider.close()), outbound.close()])
    },
    /** Call it after the last response. */
    close: async () => {
      await api?.mcp.close()
      await objects.close()
    },
  }
}

/** The MCP server is loaded only where it is needed, because it takes a large part of a process's start-up time. */
const openMcp = async (parts: McpParts) => {
  const { openMcpEndpoint } = await import('../mcp/endpoint.ts')
  return openMcpEndpoint(parts)
}
