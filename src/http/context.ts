import type { Next, ParameterizedContext } from 'koa'
import type { AccountId, KeyId } from '../../schemas/primitives.ts'
import type { Asker } from '../services/asker.ts'

/** What the middleware finds out about a request before a route sees it. */
export interface RequestState {
  requestId: string
  /** Set by `authenticate`, and so on every route behind it. */
  account: { accountId: AccountId; keyId: KeyId }
  /** The tool that a message calls; undefined where it is none of ours. */
  tool?: string | undefined
  /** It is a read, though its method does not say so. */
  isRead?: boolean
}

export type Context = ParameterizedContext<RequestState>
export type Middleware = (ctx: Context, next: Next) => Promise<unknown>

export const askerOf = (ctx: Context): Asker => ({ ...ctx.state.account, requestId: ctx.state.requestId })
