import Router from '@koa/router'
import Koa from 'koa'
import type { AccountId } from '../../schemas/primitives.ts'
import { OpenCounts } from '../flow/open-counts.ts'
import type { RoundRobin } from '../flow/round-robin.ts'
import type { Clock } from '../ports/clock.ts'
import type { Logger } from '../ports/logger.ts'
import type { Metrics } from '../ports/metrics.ts'
import type { Random } from '../ports/random.ts'
import type { Tracer } from '../ports/tracer.ts'
import type { KeyHolders } from '../services/accounts/key-holders.ts'
import type { KeyUses } from '../services/accounts/key-uses.ts'
import type { AuditorKeys } from '../services/auditors/auditor-keys.ts'
import type { RequestLimits } from '../services/policies/request-limits.ts'
import type { Services } from '../services/services.ts'
import type { SessionHolders } from '../services/sign-in/sessions.ts'
import { StaticBodies } from './answers/static-body.ts'
import { Streams } from './answers/streams.ts'
import type { ClientAddress } from './connections/client-address.ts'
import type { Middleware, RequestState } from './context.ts'
import type { RouteDependencies } from './dependencies.ts'
import { Descriptions } from './descriptions/descriptions.ts'
import { allowedOrigins } from './middleware/allowed-origins.ts'
import { arrivingBodies, arrivingCallbacks } from './middleware/arriving-bodies.ts'
import { authenticate, authenticateAuditor, refuseAuditors } from './middleware/authenticate.ts'
import { countRequests } from './middleware/count-requests.ts'
import { errors } from './middleware/errors.ts'
import { log, requestId } from './middleware/log.ts'
import { observed } from './middleware/observed.ts'
import { passiveAnswers } from './middleware/passive-answers.ts'
import { position } from './middleware/position.ts'
import { roundRobin } from './middleware/round-robin.ts'
import { unreadResponses } from './middleware/unread-responses.ts'
import type { Auth } from './operation.ts'
import { serveRoutes } from './route.ts'
import { callbackRoutes } from './routes/callbacks.ts'
import { answerPreflights, putFile } from './routes/cdn.ts'
import { consolePages } from './routes/console/console.ts'
import type { ConsoleDependencies } from './routes/console/dependencies.ts'
import { type HealthChecks, healthRoutes } from './routes/health.ts'
import { MAX_EXPORTS } from './routes/ledger.ts'
import { refuseOtherMethods } from './routes/mcp.ts'
import { UntakenRequests } from './routes/openai/untaken-requests.ts'
import { apiRoutes, routes } from './routes.ts'
import { BrowserSessions } from './sessions/browser-sessions.ts'

export interface AppDependencies {
  logger: Logger
  clock: Clock
  clientAddress: ClientAddress
  checks: HealthChecks
  /** Takes callbacks; undefined for processes that neither answer requests nor poll. */
  callbacks: Pick<Services, 'callbacks' | 'paymentReports'> | undefined
  /** The API; undefined for processes without that role, which only report their health. */
  api: ApiDependencies | undefined
  turns: RoundRobin
  metrics?: Metrics | undefined
  tracer?: Tracer | undefined
}

export interface ApiDependencies extends Pick<RouteDependencies, 'present' | 'knownSeals' | 'mcp'> {
  /** Whether presigned URLs lead to this service instead of a separate object store. */
  acceptsPut: boolean
  services: Services
  keyHolders: KeyHolders
  keyUses: KeyUses
  sessionHolders: SessionHolders
  signInPages: Pick<
    ConsoleDependencies,
    'registration' | 'mailFolder' | 'hasTelegram' | 'brand' | 'sealMinutes' | 'operators' | 'fileOrigins'
  >
  random: Random
  auditorKeys: AuditorKeys
  requestLimits: RequestLimits
  /** The origins of other sites whose pages may call the API. */
  allowedOrigins: string[]
  publicUrl(): string
  /** Whether anyone may read the descriptions of the service without an API key. */
  isPublic: boolean
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
  metrics,
  tracer,
}: AppDependencies): Koa<RequestState> => {
  const router = new Router<RequestState>({ sensitive: true, strict: true })
  serveRoutes(router, healthRoutes, { checks, clock })
  if (callbacks) serveRoutes(router, callbackRoutes, { ...callbacks, bounded: arrivingCallbacks(clientAddress, clock) })
  const sessions =
    api && new BrowserSessions({ ...api, authenticateKey: authenticate({ ...api, clientAddress, clock }) })
  if (api && sessions) serveApi(router, api, sessions, clock)

  const app = new Koa<RequestState>()
  app.use(requestId)
  if (metrics || tracer) app.use(observed(metrics, tracer))
  app.use(roundRobin(turns))
  app.use(log(logger, clientAddress))
  app.use(errors(logger))
  app.use(passiveAnswers)
  if (api && api.allowedOrigins.length > 0) app.use(allowedOrigins(api.allowedOrigins))
  if (api) app.use(refuseAuditors(api.auditorKeys))
  app.use(router.routes())
  app.use(router.allowedMethods())
  if (api && sessions) {
    const pages = consolePages({ ...api, ...api.signInPages, sessions, clientAddress, clock, logger })
    app.use(pages.router.routes())
    app.use(pages.router.allowedMethods())
    app.use(pages.wrongAddress)
  }
  // These are connections that broke during a response.
  app.on('error', error => logger.debug({ err: error }, 'connection lost during a response'))
  return app
}

const serveApi = (router: Router<RequestState>, api: ApiDependencies, sessions: BrowserSessions, clock: Clock) => {
  const { services, keyHolders, auditorKeys, requestLimits, acceptsPut, mcp, isPublic } = api
  const rest = [countRequests(requestLimits), arrivingBodies(), unreadResponses(), position(services, clock)]
  const ofOwner = [sessions.authenticate, ...rest]
  const authenticated: Record<Auth, Middleware[]> = {
    none: [],
    key: [sessions.authenticateKey, ...rest],
    'key or session': ofOwner,
    'key unless public': isPublic ? [] : ofOwner,
    'auditor key': [authenticateAuditor(auditorKeys, keyHolders), unreadResponses()],
  }
  const descriptions = new Descriptions({ ...api, brand: api.signInPages.brand, operations: routes, tools: mcp.tools })
  const openExports = new OpenCounts<AccountId>(MAX_EXPORTS)
  const untaken = new UntakenRequests(clock, services.runs)
  const kept = { streams: new Streams(), bodies: new StaticBodies(), openExports, untaken }
  const dependencies = { ...api, ...services, clock, ...kept, descriptions }
  const offered = apiRoutes.filter(of => acceptsPut || of !== putFile)
  serveRoutes(router, offered, dependencies, authenticated)
  answerPreflights(router)
  refuseOtherMethods(router, mcp)
}
