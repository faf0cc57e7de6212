import Router from '@koa/router'
import Koa from 'koa'
import type { AccountId } from '../../schemas/primitives.ts'
import type { Reads } from '../engine/views/reads.ts'
import type { Logger } from '../ports/logger.ts'
import type { ObjectStore } from '../ports/object-store.ts'
import type { Accounts } from '../services/accounts/accounts.ts'
import type { Keys } from '../services/accounts/keys.ts'
import type { Catalog } from '../services/catalog/catalog.ts'
import type { Presenter } from '../services/runs/present.ts'
import type { Quotes } from '../services/runs/quotes.ts'
import type { RunReads } from '../services/runs/run-reads.ts'
import type { Runs } from '../services/runs/runs.ts'
import type { Uploads } from '../services/uploads/uploads.ts'
import type { Middleware, RequestState } from './context.ts'
import { authenticate } from './middleware/authenticate.ts'
import { errors } from './middleware/errors.ts'
import { log } from './middleware/log.ts'
import { position } from './middleware/position.ts'
import { requestId } from './middleware/request-id.ts'
import { serveAt } from './operation.ts'
import { operations } from './operations.ts'
import { balanceRoutes } from './routes/balance.ts'
import { cdnRoutes } from './routes/cdn.ts'
import { type DescriptorOptions, descriptorRoutes } from './routes/descriptors.ts'
import { docsRoutes } from './routes/docs.ts'
import { type HealthChecks, healthRoutes } from './routes/health.ts'
import { type McpEndpoint, mcpRoutes } from './routes/mcp.ts'
import { modelRoutes } from './routes/models.ts'
import { runEventRoutes } from './routes/run-events.ts'
import { runRoutes } from './routes/runs.ts'
import { uploadRoutes } from './routes/uploads.ts'
import { webhookRoutes } from './routes/webhooks.ts'

export interface AppParts {
  logger: Logger
  checks: HealthChecks
  /** What requests are answered with; a process without that role says only that it lives. */
  api: ApiParts | undefined
}

export interface ApiParts {
  runs: Runs
  runReads: RunReads
  quotes: Quotes
  reads: Reads
  keys: Keys
  accounts: Accounts
  catalog: Catalog
  objects: ObjectStore
  uploads: Uploads
  webhookSecretOf(accountId: AccountId): string
  present: Presenter
  mcp: McpEndpoint
  described: Pick<DescriptorOptions, 'publicUrl' | 'isPublic'>
}

/** The HTTP service. */
export const createApp = ({ logger, checks, api }: AppParts): Koa<RequestState> => {
  const router = new Router<RequestState>({ sensitive: true, strict: true })
  healthRoutes(serveAt(router), checks)
  if (api) apiRoutes(router, api)

  const app = new Koa<RequestState>()
  app.use(requestId)
  app.use(log(logger))
  app.use(errors(logger))
  app.use(router.routes())
  app.use(router.allowedMethods())
  // What comes here is a connection that broke while it was being answered.
  app.on('error', error => logger.debug({ err: error }, 'a connection broke'))
  return app
}

/** What stands behind `keyed` needs an API key; the rest is open. */
const apiRoutes = (router: Router<RequestState>, api: ApiParts) => {
  const { runReads, reads, keys, accounts, catalog, objects, uploads, webhookSecretOf, present, mcp, described } = api
  const known = authenticate(keys)
  const awaited = position(reads, accounts)
  const keyed: Middleware = (ctx, next) => known(ctx, () => awaited(ctx, next))
  const serve = serveAt(router, keyed)
  cdnRoutes(router, serve, objects)
  balanceRoutes(serve, reads, present)
  modelRoutes(serve, catalog, present)
  runRoutes(serve, api)
  runEventRoutes(serve, runReads, present)
  uploadRoutes(serve, uploads, present)
  webhookRoutes(serve, webhookSecretOf)
  mcpRoutes(router, serve, mcp)
  descriptorRoutes(serve, { operations, tools: mcp.tools, ...described }, catalog, present)
  docsRoutes(serve)
}
