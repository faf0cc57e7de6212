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

/** The origin of a request. With an owner, a code only links its identity to their account. */
interface CodeTry {
  caller: Caller
  /** The network of the client. */
  network: string
  owner?: SessionOwner
}

/** A code that was requested, and its identity. */
interface CodeCandidate {
  identity: EmailIdentity
  codeId: string
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
    { caller, identity, network, owner }: CodeTry & Pick<CodeCandidate, 'identity'>,
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

  /**
   * Tries the entered text as each of the codes that the browser requested, and records the tries. If it is one of
   * them, only that one is tried. Answers with the identity whose code is right, which is then used up.
   */
  async tryCodes(
    { caller, network, owner }: CodeTry,
    codes: readonly CodeCandidate[],
    entered: string,
  ): Promise<Answer<EmailIdentity>> {
    const { logins, clock } = this.#parts
    if (!this.#tries.allows(network)) return refuse('too_many_sign_ins', { retryAfterMs: RETRY_MS })
    const hashed = codes.map(code => ({ ...code, hash: this.#hash(code.identity, code.codeId, entered) }))
    const known = await Promise.all(hashed.map(async code => (await this.#known(code))?.hash === code.hash))
    const matches = hashed.filter((_, index) => known[index])
    const refused: Refused[] = []
    const triesLeft: number[] = []
    for (const code of matches.length > 0 ? matches : hashed) {
      const { identity, codeId, hash } = code
      this.#tries.count(network)
      const command = { type: 'TryCode', atMs: clock.nowMs(), codeId, hash, linkTo: owner?.accountId } as const
      const tried = await logins.execute(owner ?? serviceFor(caller), identity, command)
      if ('refuse' in tried) refused.push(tried)
      else if (tried.accept.some(({ type, data }) => type === 'LoginCodeTried' && data.correct)) return answer(identity)
      else triesLeft.push(Math.max(0, MAX_TRIES - ((await this.#known(code))?.tries ?? MAX_TRIES)))
    }
    const [first] = refused
    if (first && triesLeft.length === 0) return first
    return refuse('code_wrong', { triesLeft: Math.max(...triesLeft), codes: codes.length })
  }

  /** The code as this process knows it. */
  async #known({ identity, codeId }: CodeCandidate) {
    return (await this.#parts.logins.state(identity)).codes.find(each => each.codeId === codeId)
  }
}
