import type { Brand } from '../../console/brand.ts'
import type { PageState } from '../../console/page-state.ts'
import { identityName } from '../../domain/login/identity.ts'
import type { Clock } from '../../ports/clock.ts'
import { modeOf, type SessionOwner } from '../../services/caller.ts'
import type { Services } from '../../services/services.ts'
import { unwrap } from '../../transports/refusals.ts'
import type { Context } from '../context.ts'
import type { BrowserSessions } from './browser-sessions.ts'

interface Dependencies {
  services: Pick<Services, 'accounts' | 'identities'>
  sessions: BrowserSessions
  clock: Clock
  assetUrl(name: string): string
  brand: Brand
}

/** Gathers what all parts of a page know of its request. */
export class PageStates {
  readonly #dependencies: Dependencies

  constructor(dependencies: Dependencies) {
    this.#dependencies = dependencies
  }

  of(ctx: Context, isSignedIn: boolean): PageState {
    const { sessions, clock, assetUrl, brand } = this.#dependencies
    return {
      url: ctx.url,
      // Only pages with a form need its cookie.
      get formToken() {
        return sessions.formToken(ctx)
      },
      nowMs: clock.nowMs(),
      assetUrl,
      brand,
      isSignedIn,
      account: undefined,
    }
  }

  async ofOwner(ctx: Context, owner: SessionOwner): Promise<PageState> {
    const { accounts, identities } = this.#dependencies.services
    const [balance, known] = await Promise.all([accounts.balance(owner), identities.list(owner)])
    const [first] = unwrap(known)
    const account = {
      name: first ? identityName(first) : '',
      ...unwrap(balance),
      isTest: modeOf(owner).livemode === false,
      isOperator: false,
    }
    return Object.defineProperty(this.of(ctx, true), 'account', { value: account, enumerable: true })
  }
}
