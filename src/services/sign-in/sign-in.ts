import { emailIdentity } from '../../domain/login/identity.ts'
import { MAX_TRIES } from '../../domain/login/login.ts'
import { refuse } from '../../domain/refusal.ts'
import { type RegistrationParts, register } from '../accounts/registration.ts'
import { type Answer, answer, type Refused } from '../answer.ts'
import { type Caller, serviceFor } from '../caller.ts'
import type { MailQueue } from '../mail/mail-queue.ts'
import { Pace } from '../pace.ts'
import type { Admissions } from './admissions.ts'
import { codeMessage } from './code-message.ts'
import { codeHasher, newCode } from './codes.ts'
import { type OpenedSession, openSession, type SessionParts } from './open-session.ts'

/** Long enough for slow mail. */
export const CODE_MS = 10 * 60 * 1000

/** A network may be an office, whose people come to work at the same time. */
const CODES_PER_NETWORK = { burst: 20, perSecond: 1 / 20 }
const TRIES_PER_NETWORK = { burst: 60, perSecond: 1 / 5 }
const RETRY_MS = 60_000

/** The one name in the pace of all clients. */
const ALL = 'all'

export interface SignInParts extends RegistrationParts, SessionParts {
  admissions: Admissions
  mail: MailQueue
  masterSecret: string
  codesPerMinute: number
  welcomeMicros: number
  publicUrl: () => string
}

export interface CodeRequest {
  email: string
  /** The network of the client. */
  network: string
}

/** `codeId` is what `requestCode` answered. */
export interface CodeEntry extends CodeRequest {
  codeId: string
  code: string
  /** The token of the session of the same browser, which ends. */
  earlierToken?: string | undefined
}

/** Signs people in by codes that they get by mail, and opens their accounts. */
export class SignIn {
  readonly #parts: SignInParts
  readonly #hash: ReturnType<typeof codeHasher>
  readonly #codes: Pace
  readonly #codesInAll: Pace
  readonly #tries: Pace

  constructor(parts: SignInParts) {
    this.#parts = parts
    const { clock, masterSecret, codesPerMinute } = parts
    this.#hash = codeHasher(masterSecret)
    this.#codes = new Pace({ clock, ...CODES_PER_NETWORK })
    this.#codesInAll = new Pace({ clock, burst: codesPerMinute, perSecond: codesPerMinute / 60 })
    this.#tries = new Pace({ clock, ...TRIES_PER_NETWORK })
  }

  /**
   * Makes a code. It goes by mail afterwards to those who may sign in, so neither the answer nor its time tells whether
   * an address has an account. Whoever enters the code must know the id in the answer too: strangers cannot use up the
   * tries of a code that they did not request.
   */
  async requestCode(caller: Caller, { email, network }: CodeRequest): Promise<Answer<{ codeId: string }>> {
    const { logins, admissions, mail, clock, random, publicUrl } = this.#parts
    const identity = emailIdentity(email)
    if (!identity) return refuse('email_invalid', { email })
    const refused = this.#countCode(network)
    if (refused) return refused
    const [codeId, code, atMs] = [random.uuid(), newCode(random), clock.nowMs()]
    const hash = this.#hash(identity, codeId, code)
    const expiresAt = new Date(atMs + CODE_MS).toISOString()
    const command = { type: 'RequestCode', atMs, codeId, hash, expiresAt } as const
    const requested = await logins.execute(serviceFor(caller), identity, command)
    if ('refuse' in requested) return requested
    if (admissions.isWelcome(identity, await logins.state(identity)))
      mail.add(codeMessage({ to: identity.address, code, url: publicUrl(), minutes: CODE_MS / 60_000 }))
    return answer({ codeId })
  }

  /** Opens a session for whoever enters the right code, and the account if there is none. */
  async enterCode(caller: Caller, entry: CodeEntry): Promise<Answer<OpenedSession & { isNew: boolean }>> {
    const { admissions, welcomeMicros } = this.#parts
    const identity = emailIdentity(entry.email)
    if (!identity) return refuse('email_invalid', { email: entry.email })
    const proved = await this.#prove(caller, identity, entry)
    if (proved) return proved
    const service = serviceFor(caller)
    const registered = await register(this.#parts, service, {
      identity,
      tester: false,
      welcomeMicros,
      admit: state => admissions.admit(service, identity, state),
    })
    if ('refuse' in registered) return registered
    const { accountId, isNew } = registered.value
    const opened = await openSession(this.#parts, service, accountId, entry.earlierToken)
    return 'refuse' in opened ? opened : answer({ ...opened.value, isNew })
  }

  /** Tries a code, which is recorded. Undefined if it is right. */
  async #prove(
    caller: Caller,
    identity: NonNullable<ReturnType<typeof emailIdentity>>,
    { codeId, code, network }: CodeEntry,
  ): Promise<Refused | undefined> {
    const { logins, clock } = this.#parts
    if (!this.#tries.allows(network)) return refuse('too_many_sign_ins', { retryAfterMs: RETRY_MS })
    this.#tries.count(network)
    const hash = this.#hash(identity, codeId, code)
    const command = { type: 'TryCode', atMs: clock.nowMs(), codeId, hash } as const
    const tried = await logins.execute(serviceFor(caller), identity, command)
    if ('refuse' in tried) return tried
    const [event] = tried.accept
    if (event?.type === 'LoginCodeTried' && event.data.correct) return undefined
    const { tries = MAX_TRIES } = (await logins.state(identity)).codes.find(each => each.codeId === codeId) ?? {}
    return refuse('code_wrong', { triesLeft: Math.max(0, MAX_TRIES - tries) })
  }

  #countCode(network: string): Refused | undefined {
    if (!this.#codes.allows(network) || !this.#codesInAll.allows(ALL))
      return refuse('too_many_sign_ins', { retryAfterMs: RETRY_MS })
    this.#codes.count(network)
    this.#codesInAll.count(ALL)
    return undefined
  }
}
