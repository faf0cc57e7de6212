import type { TelegramIdentity } from '../../../schemas/identity.ts'
import { refuse } from '../../domain/refusal.ts'
import { Pace } from '../../flow/pace.ts'
import type { Clock } from '../../ports/clock.ts'
import { IdentityNotProved, type IdentityProvider, type ProofAttempt } from '../../ports/identity-provider.ts'
import type { Logger } from '../../ports/logger.ts'
import { type Answer, answer } from '../answer.ts'
import type { KnownBrowsers } from './browser-tokens.ts'
import type { Client } from './one-time-codes.ts'

/** Each proof is a request to Telegram. A network may be an office. */
const PROOFS_PER_NETWORK = { burst: 30, perSecond: 1 / 10 }
const RETRY_MS = 60_000

/** Where Telegram sends browsers back. The operator enters this address at BotFather. */
export const TELEGRAM_RETURN_PATH = '/console/sign-in/telegram/return'

interface Dependencies {
  telegram: IdentityProvider
  clock: Clock
  logger: Logger
  browsers: KnownBrowsers
  publicUrl: () => string
}

/** A browser that returns from Telegram. */
export interface TelegramReturn extends Client {
  /** The query of the return address. */
  query: string
  /** The attempt that this browser began. */
  attempt: ProofAttempt
}

/** Proves identities at Telegram. */
export class TelegramProofs {
  readonly #dependencies: Dependencies
  readonly #pace: Pace

  constructor(dependencies: Dependencies) {
    this.#dependencies = dependencies
    this.#pace = new Pace({ clock: dependencies.clock, ...PROOFS_PER_NETWORK })
  }

  begin(): Promise<{ url: string; attempt: ProofAttempt }> {
    return this.#dependencies.telegram.begin(this.#returnUrl().href)
  }

  async identityOf({ query, attempt, network, browser }: TelegramReturn): Promise<Answer<TelegramIdentity>> {
    const client = this.#dependencies.browsers.accountOf(browser) ?? network
    if (!this.#pace.allows(client)) return refuse('too_many_sign_ins', { retryAfterMs: RETRY_MS })
    this.#pace.count(client)
    const returnedTo = this.#returnUrl()
    returnedTo.search = query
    try {
      return answer(await this.#dependencies.telegram.finish(returnedTo, attempt))
    } catch (err) {
      if (!(err instanceof IdentityNotProved)) throw err
      this.#dependencies.logger.warn({ reason: err.message }, 'Telegram confirmed no identity')
      return refuse('telegram_not_confirmed')
    }
  }

  #returnUrl(): URL {
    return new URL(TELEGRAM_RETURN_PATH, this.#dependencies.publicUrl())
  }
}
