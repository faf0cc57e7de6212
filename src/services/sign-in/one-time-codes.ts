import type { EmailIdentity } from '../../../schemas/identity.ts'
import { type LoginState, MAX_TRIES } from '../../domain/login/login.ts'
import { refuse } from '../../domain/refusal.ts'
import type { Clock } from '../../ports/clock.ts'
import type { MailMessage } from '../../ports/mailer.ts'
import type { Random } from '../../ports/random.ts'
import { type Answer, answer, type Refused } from '../answer.ts'
import { type Caller, type SessionOwner, serviceFor } from '../caller.ts'
import type { MailQueue } from '../mail/mail-queue.ts'
import { Pace } from '../pace.ts'
import { codeHasher, newCode } from './codes.ts'
import type { Logins } from './logins.ts'

/** Long enough for slow mail. */
export const CODE_MS = 10 * 60 * 1000

/** A network may be an office where everybody signs in at the same time. */
const CODES_PER_NETWORK = { burst: 20, perSecond: 1 / 20 }
const TRIES_PER_NETWORK = { burst: 60, perSecond: 1 / 5 }
const RETRY_MS = 60_000

/** The only name that this pace counts: it is for all clients together. */
const ALL = 'all'

interface Parts {
  logins: Logins
  mail: MailQueue
  clock: Clock
  random: Random
  masterSecret: string
  codesPerMinute: number
}

/** Who a code is for, and where the request comes from. With an owner, it only links the identity to their account. */
export interface CodeUse {
  caller: Caller
  identity: EmailIdentity
  /** The network of the client. */
  network: string
  owner?: SessionOwner
}

/** Makes codes, sends them by mail, and tries those that people enter. */
export class OneTimeCodes {
  readonly #parts: Parts
  readonly #hash: ReturnType<typeof codeHasher>
  readonly #codes: Pace
  readonly #codesInAll: Pace
  readonly #tries: Pace

  constructor(parts: Parts) {
    this.#parts = parts
    const { clock, masterSecret, codesPerMinute } = parts
    this.#hash = codeHasher(masterSecret)
    this.#codes = new Pace({ clock, ...CODES_PER_NETWORK })
    this.#codesInAll = new Pace({ clock, burst: codesPerMinute, perSecond: codesPerMinute / 60 })
    this.#tries = new Pace({ clock, ...TRIES_PER_NETWORK })
  }

  /**
   * Makes a code. The message for it, if there is one, is sent after the answer. So neither the answer nor its time
   * tells whether an address has an account. Whoever enters the code must know the id in the answer too: strangers
   * cannot use up the tries of a code that they did not request.
   */
  async request(
    { caller, identity, network, owner }: CodeUse,
    messageOf: (code: string, state: LoginState) => MailMessage | undefined,
  ): Promise<Answer<{ codeId: string }>> {
    const { logins, mail, clock, random } = this.#parts
    if (!this.#codes.allows(network) || !this.#codesInAll.allows(ALL))
      return refuse('too_many_sign_ins', { retryAfterMs: RETRY_MS })
    this.#codes.count(network)
    this.#codesInAll.count(ALL)
    const [codeId, code, atMs] = [random.uuid(), newCode(random), clock.nowMs()]
    const command = {
      ...({ type: 'RequestCode', atMs, codeId } as const),
      hash: this.#hash(identity, codeId, code),
      expiresAt: new Date(atMs + CODE_MS).toISOString(),
      ...(owner && { linkTo: owner.accountId }),
    }
    const requested = await logins.execute(owner ?? serviceFor(caller), identity, command)
    if ('refuse' in requested) return requested
    const message = messageOf(code, await logins.state(identity))
    if (message) mail.add(message)
    return answer({ codeId })
  }

  /** Tries a code and records the try. Undefined if the code is right; it is used up then. */
  async tryCode(
    { caller, identity, network, owner }: CodeUse,
    codeId: string,
    code: string,
  ): Promise<Refused | undefined> {
    const { logins, clock } = this.#parts
    if (!this.#tries.allows(network)) return refuse('too_many_sign_ins', { retryAfterMs: RETRY_MS })
    this.#tries.count(network)
    const hash = this.#hash(identity, codeId, code)
    const command = { type: 'TryCode', atMs: clock.nowMs(), codeId, hash, linkTo: owner?.accountId } as const
    const tried = await logins.execute(owner ?? serviceFor(caller), identity, command)
    if ('refuse' in tried) return tried
    const [event] = tried.accept
    if (event?.type === 'LoginCodeTried' && event.data.correct) return undefined
    const { tries = MAX_TRIES } = (await logins.state(identity)).codes.find(each => each.codeId === codeId) ?? {}
    return refuse('code_wrong', { triesLeft: Math.max(0, MAX_TRIES - tries) })
  }
}
