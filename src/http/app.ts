import Router from '@koa/router'
import Koa from 'koa'
import type { Turns } from '../flow/turns.ts'
import type { Clock } from '../ports/clock.ts'
import type { Logger } from '../ports/logger.ts'
import type { KeyHolders } from '../services/accounts/key-holders.ts'
import type { KeyUses } from '../services/accounts/key-uses.ts'
import type { AuditorKeys } from '../services/auditors/auditor-keys.ts'
import type { RequestLimits } from '../services/policies/request-limits.ts'
import type { Presenter } from '../services/presenter.ts'
import type { KnownSeals } from '../services/seals/known-seals.ts'
import type { Services } from '../services/services.ts'
import type { SessionHolders } from '../services/sign-in/sessions.ts'
import { Streams } from './answers/streams.ts'
import type { ClientAddress } from './connections/client-address.ts'
import type { RequestState } from './context.ts'
import { allowedOrigins } from './middleware/allowed-origins.ts'
import { arrivingBodies } from './middleware/arriving-bodies.ts'
import { authenticate } from './middleware/authenticate.ts'
import { authenticateAuditor, refuseAuditors } from './middleware/authenticate-auditor.ts'
import { countRequests } from './middleware/count-requests.ts'
import { errors } from './middleware/errors.ts'
import { log } from './middleware/log.ts'
import { position } from './middleware/position.ts'
import { requestId } from './middleware/request-id.ts'
import { takeTurns } from './middleware/take-turns.ts'
import { untakenAnswers } from './middleware/untaken-answers.ts'
import { serveAt } from './operation.ts'
import { operations } from './operations.ts'
import { auditRoutes } from './routes/audit.ts'
import { balanceRoutes } from './routes/balance.ts'
import { callbackRoutes } from './routes/callbacks.ts'
import { cdnRoutes } from './routes/cdn.ts'
import { type ConsoleDependencies, consoleRouter } from './routes/console/console.ts'
import { deliveryRoutes } from './routes/deliveries.ts'
import { type DescriptorOptions, descriptorRoutes } from './routes/descriptors.ts'
import { docsRoutes } from './routes/docs.ts'
import { type HealthChecks, healthRoutes } from './routes/health.ts'
import { keyRoutes } from './routes/keys.ts'
import { ledgerRoutes } from './routes/ledger.ts'
import { type McpEndpoint, mcpRoutes } from './routes/mcp.ts'
import { modelRoutes } from './routes/models.ts'
import { noticeRoutes } from './routes/notices.ts'
import { proofRoutes } from './routes/proofs.ts'
import { runEventRoutes } from './routes/run-events.ts'
import { runRoutes } from './routes/runs.ts'
import { sealRoutes } from './routes/seals.ts'
import { uploadRoutes } from './routes/uploads.ts'
import { usageRoutes } from './routes/usage.ts'
import { webhookRoutes } from './routes/webhooks.ts'
import { BrowserSessions } from './sessions/browser-sessions.ts'

export interface AppDependencies {
  logger: Logger
  clock: Clock
  clientAddress: ClientAddress
  checks: HealthChecks
  /** Takes the callbacks of providers; undefined for processes that neither answer requests nor poll. */
  callbacks: Services['callbacks'] | undefined
  /** The API; undefined for processes without that role, which only report their health. */
  api: ApiDependencies | undefined
  turns: Turns
}

export interface ApiDependencies {
  services: Services
  keyHolders: KeyHolders
  keyUses: KeyUses
  sessionHolders: SessionHolders
  signInPages: Pick<ConsoleDependencies, 'registration' | 'mailFolder' | 'hasTelegram'>
  auditorKeys: AuditorKeys
  requestLimits: RequestLimits
  knownSeals: Pick<KnownSeals, 'newest'>
  /** Whether presigned URLs lead to this service instead of a separate object store. */
  acceptsPut: boolean
  present: Presenter
  mcp: McpEndpoint
  /** The origins of other sites whose pages may call the API. */
  allowedOrigins: string[]
  described: Pick<DescriptorOptions, 'publicUrl' | 'isPublic'>
}

/** The HTTP service. */
export const createApp = ({
  logger,
  clock,
  clientAddress,
  checks,
  callbacks,
  api,
  turns,
}: AppDependencies): Koa<RequestState> => {
  const router = new Router<RequestState>({ sensitive: true, strict: true })
  healthRoutes(serveAt(router), checks, clock)
  if (callbacks) callbackRoutes(serveAt(router), { callbacks, clientAddress, clock })
  const sessions =
    api &&
    new BrowserSessions({
      ...api,
      authenticateKey: authenticate({ ...api, ...api.described, clientAddress, clock }),
      publicUrl: api.described.publicUrl,
    })
  if (api && sessions) apiRoutes(router, api, sessions, clock)

  const app = new Koa<RequestState>()
  app.use(takeTurns(turns))
  app.use(requestId)
  app.use(log(logger, clientAddress))
  app.use(errors(logger))
  if (api) app.use(allowedOrigins(api.allowedOrigins))
  if (api) app.use(refuseAuditors(api.auditorKeys))
  app.use(router.routes())
  app.use(router.allowedMethods())
  if (api && sessions) {
    const pages = consoleRouter({ ...api, ...api.described, ...api.signInPages, sessions, clientAddress, logger })
    app.use(pages.routes())
    app.use(pages.allowedMethods())
  }
  // These are connections that broke during a response.
  app.on('error', error => logger.debug({ err: error }, 'connection lost during a response'))
  return app
}

/** Operations need an API key unless they are open. */
const apiRoutes = (router: Router<RequestState>, api: ApiDependencies, sessions: BrowserSessions, clock: Clock) => {
  const { services, keyHolders, auditorKeys, requestLimits, knownSeals, acceptsPut, present, mcp, described } = api
  const rest = [countRequests(requestLimits), arrivingBodies(), untakenAnswers(), position(services)]
  // Owners who have signed in need no key, so the reference works for them in a browser.
  const serve = serveAt(router, sessions.authenticate, ...rest)
  // These are about the key itself, or only for programs.
  const serveKeys = serveAt(router, sessions.authenticateKey, ...rest)
  const streams = new Streams()
  cdnRoutes(router, serve, services, acceptsPut)
  keyRoutes(serveKeys, serve, services)
  noticeRoutes(serve, services)
  balanceRoutes(serve, services, present, knownSeals)
  ledgerRoutes(serve, services, present, knownSeals)
  usageRoutes(serve, services, present)
  sealRoutes(serve, services)
  proofRoutes(serve, services)
  modelRoutes(serve, services, present)
  runRoutes(serve, services, present)
  runEventRoutes(serve, services, present, streams)
  uploadRoutes(serve, services, present)
  webhookRoutes(serve, services)
  deliveryRoutes(serve, services)
  mcpRoutes(router, serveKeys, mcp, streams)
  descriptorRoutes(serve, { operations, tools: mcp.tools, ...described }, services, present)
  docsRoutes(serve)
  const serveAuditors = serveAt(router, authenticateAuditor(auditorKeys, keyHolders), untakenAnswers())
  auditRoutes(serveAuditors, services, present, clock)
}
