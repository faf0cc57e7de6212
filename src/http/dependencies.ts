import type { ToolSummary } from '../../schemas/api/descriptors.ts'
import type { AccountId } from '../../schemas/primitives.ts'
import type { OpenCounts } from '../flow/open-counts.ts'
import type { Clock } from '../ports/clock.ts'
import type { Presenter } from '../services/presenter.ts'
import type { KnownSeals } from '../services/seals/known-seals.ts'
import type { Services } from '../services/services.ts'
import type { StaticBodies } from './answers/static-body.ts'
import type { Streams } from './answers/streams.ts'
import type { Context, Middleware } from './context.ts'
import type { Descriptions } from './descriptions/descriptions.ts'
import type { UntakenRequests } from './routes/openai/untaken-requests.ts'

/** The parts of a service that the routes of the API use. */
export interface RouteDependencies extends Services {
  present: Presenter
  clock: Clock
  knownSeals: Pick<KnownSeals, 'newest'>
  streams: Streams
  openExports: OpenCounts<AccountId>
  mcp: McpEndpoint
  descriptions: Descriptions
  untaken: UntakenRequests
  bodies: StaticBodies
}

/** The MCP server, as the route sees it. */
export interface McpEndpoint {
  tools: ToolSummary[]
  /** Refuses pages of sites that are not allowed, and answers CORS preflight requests. */
  fromAllowedOrigin: Middleware
  /** Reads a message and answers it. */
  answer(ctx: Context): Promise<void>
  /** Call it after the last response. */
  close(): Promise<void>
}
