import type { Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { promisify } from 'node:util'
import { shipped } from '../catalog/shipped.ts'
import { createLimitedServer } from '../http/connections/connections.ts'
import type { Clock } from '../ports/clock.ts'
import type { Logger } from '../ports/logger.ts'
import { publishShipped } from '../services/catalog/published-catalog.ts'
import { publishConfigured } from '../services/purchases/price-list.ts'
import { applyMarkUp } from './apply-mark-up.ts'
import { checkBrand } from './check-brand.ts'
import { openService } from './compose.ts'
import { publicUrlOf } from './config.ts'
import type { Core, TestOverrides } from './core.ts'
import { serveMetrics } from './metrics-server.ts'

/** How long connections may take to send their responses after all work has ended. */
const LAST_ANSWERS_MS = 2000

/** Connections that may wait to be accepted. The system drops any others, and their clients retry after a second. */
const MAX_BACKLOG = 4096

/** How long the views may take to show a new catalog before the start fails. */
const CATCH_UP_MS = 30_000

interface RunningServer {
  /** The URL of the service, without a trailing slash. */
  url: string
  port: number
  /** Undefined without metrics. */
  metricsPort: number | undefined
  /** The IDs of the shipped families that a configured provider serves. */
  models: string[]
  stop(): Promise<void>
}

/** Starts the service on a core. Rejects if the port is not available, or the logo is no picture. */
export const startServer = async (core: Core, overrides: TestOverrides = {}): Promise<RunningServer> => {
  const { host, port, publicUrl, connections } = core.config
  await checkBrand(core)
  let url = publicUrl ?? ''
  const service = await openService(core, () => url, overrides)
  const published = await publishShipped(core.log, core.publishedCatalog, applyMarkUp(core.config), refusal =>
    core.logger.warn(
      { refusal },
      'skipping a shipped family because a family of yours has the same name; see "tollgate catalog diff"',
    ),
  )
  await core.progress.passed(published, CATCH_UP_MS)
  await publishConfigured(core.publishedCatalog, core.config.packs)
  const models = shipped
    .filter(({ endpoints }) => endpoints.some(({ id, status }) => status === 'public' && service.serves(id)))
    .map(({ id }) => id)
  const configured = core.config.providers.map(({ provider }) => provider)
  const providers = configured.filter(provider => !core.choices.known.disabledProviders.has(provider))
  const rest = core.config.sandboxFallsBack ? ', and to the sandbox for models that none of them serves' : ''
  if (configured.length > 0) core.logger.info({ providers, models }, `runs go to providers${rest}`)
  else core.logger.info({}, 'no provider has a key, so the sandbox makes samples for every model')
  // The URL is known once the server listens, since the port is.
  const limits = { ...connections, turns: service.turns, onRefused: reportRefused(core) }
  const server = createLimitedServer(service.app.callback(), limits)
  server.on('connection', () => service.turns.defer())
  const metrics = await serveMetrics(core, { ...service.watched, connections: () => countConnections(server) })
  await listen(server, host, port)
  const actualPort = (server.address() as AddressInfo).port
  url = publicUrlOf(core.config, actualPort)
  service.start()
  return {
    url,
    metricsPort: metrics?.port,
    port: actualPort,
    models,
    stop: async () => {
      // Otherwise kept-alive connections would bring new requests during the stop.
      server.prependListener('request', (_, response) => response.setHeader('Connection', 'close'))
      const closed = new Promise<void>(resolve => server.close(() => resolve()))
      await service.stop()
      const late = setTimeout(() => server.closeAllConnections(), LAST_ANSWERS_MS)
      await closed
      clearTimeout(late)
      await service.close()
      await metrics?.close()
    },
  }
}

const countConnections = (server: Server) => promisify(server.getConnections).call(server)

const listen = (server: Server, host: string, port: number) =>
  new Promise<void>((resolve, reject) => {
    server.once('error', reject)
    server.listen({ port, host, backlog: MAX_BACKLOG }, () => {
      server.removeListener('error', reject)
      resolve()
    })
  })

/** A flood of connections must not become a flood of log lines. */
const REPORT_EVERY_MS = 60_000

/** Returns a function to call for each refused connection, which logs their number at most once a minute. */
export const reportRefused = ({ clock, logger }: { clock: Clock; logger: Logger }): (() => void) => {
  let refused = 0
  let nextMs = Number.NEGATIVE_INFINITY
  return () => {
    refused += 1
    const nowMs = clock.monotonicMs()
    if (nowMs < nextMs) return
    logger.warn({ refused }, 'connections were refused')
    refused = 0
    nextMs = nowMs + REPORT_EVERY_MS
  }
}
