import type { PageState } from '../../console/page-state.ts'
import type { Brand } from '../../domain/brand.ts'
import { identityName } from '../../domain/login/identity.ts'
import type { Clock } from '../../ports/clock.ts'
import { modeOf, type SessionOwner } from '../../services/caller.ts'
import type { Operators } from '../../services/operator/operators.ts'
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
  operators: Operators
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
    const { services, operators } = this.#dependencies
    const [balance, listed] = await Promise.all([services.accounts.balance(owner), services.identities.list(owner)])
    const identities = unwrap(listed)
    const [first] = identities
    const account = {
      name: first ? identityName(first) : '',
      ...unwrap(balance),
      isTest: modeOf(owner).livemode === false,
      isOperator: operators.addressOf(identities) !== undefined,
    }
    return Object.defineProperty(this.of(ctx, true), 'account', { value: account, enumerable: true })
  }
}
