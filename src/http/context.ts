import type { Next, ParameterizedContext } from 'koa'
import type { PageState } from '../console/page-state.ts'
import type { Part } from '../ports/faults.ts'
import type { AccountCaller, AuditorCaller, Caller } from '../services/caller.ts'
import type { RequestRecord } from '../services/request-record.ts'
import type { Attachments } from '../services/runs/attachments.ts'
import type { ApiError } from '../transports/api-error.ts'

/** The data that middleware collects about a request before a route sees it. */
export interface RequestState {
  requestId: string
  /** What the log line of the request tells. */
  record: RequestRecord
  /** Resolves when it is the client's turn for more work. */
  nextTurn(): Promise<void>
  /** Set by `authenticate`, and so available on every keyed route that is not for auditors. */
  caller: AccountCaller
  /** Set by `authenticateAuditor`, and so available on every route for auditors. */
  auditor: AuditorCaller
  /** The large files of a long body. */
  attachments?: Attachments
  /** Stops counting the request body once its text is no longer in memory. */
  bodyIsRead?: () => void
  /** Counts a JSON answer until the client has taken it. Throws rate_limited if the account has too many of them. */
  countAnswer(bytes: number): void
  /** Gives an error the form that the clients of the route know; undefined leaves it as it is. */
  toClientsForm?(error: ApiError): ApiError
  /** The tool that a message calls; undefined if there is no such tool. */
  tool?: string | undefined
  /** Set for pages. */
  page: PageState
  /** The form that a page sent. */
  form?: URLSearchParams
  /** What was unavailable, if the answer is 503. */
  failedPart?: Part
  /** Called by routes that answer until later, once their answer begins. */
  answerBegins?(): unknown
  /** True for reads whose method does not show it. */
  isRead?: boolean
}

export type Context = ParameterizedContext<RequestState>
export type Middleware = (ctx: Context, next: Next) => Promise<unknown>

/** Whether a request changes nothing. */
export const isRead = ({ method, state }: Context): boolean => state.isRead ?? (method === 'GET' || method === 'HEAD')

/** The caller on routes that need no key. */
export const anonymousCaller = ({ state: { requestId } }: Context): Caller => ({ kind: 'anonymous', requestId })
