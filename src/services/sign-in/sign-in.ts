import type { Identity } from '../../../schemas/identity.ts'
import { DEFAULT_NOTICES } from '../../domain/account/notices.ts'
import type { Brand } from '../../domain/brand.ts'
import { emailIdentity } from '../../domain/login/identity.ts'
import { refuse } from '../../domain/refusal.ts'
import type { ProofAttempt } from '../../ports/identity-provider.ts'
import { type RegistrationDependencies, type RegistrationResult, register } from '../accounts/registration.ts'
import { type Answer, answer } from '../answer.ts'
import { type Caller, serviceFor } from '../caller.ts'
import type { Admissions } from './admissions.ts'
import { signInMessage } from './code-messages.ts'
import { FIRST_OWNER } from './first-owner.ts'
import type { Client, CodeAnswer, OneTimeCodes } from './one-time-codes.ts'
import { type OpenedSession, openSession, type SessionDependencies, type SigningIn } from './sessions.ts'
import type { TelegramProofs, TelegramReturn } from './telegram-proofs.ts'

export interface SignInDependencies extends RegistrationDependencies, SessionDependencies {
  admissions: Admissions
  codes: OneTimeCodes
  /** Undefined if sign-in with Telegram is off. */
  telegram: TelegramProofs | undefined
  welcomeMicros: number
  brand: Pick<Brand, 'name'>
  publicUrl: () => string
}

export interface CodeRequest extends Client {
  email: string
}

/** A code that a browser requested. `codeId` comes from `requestCode`. */
export interface RequestedCode {
  email: string
  codeId: string
}

/** A code that a person entered, and the code that the browser requested last. */
export interface CodeEntry extends CodeRequest, RequestedCode {
  code: string
  /** The browser's previous code, which is also valid. */
  earlier?: RequestedCode | undefined
}

/** The opened session, and whether its account was opened too, possibly without welcome credits. */
export interface SignedIn extends OpenedSession, Pick<RegistrationResult, 'isNew' | 'withheld'> {}

/** Signs people in with codes from mail or with Telegram, and opens their accounts. */
export class SignIn {
  readonly #dependencies: SignInDependencies

  /** A person who is signing in is still anonymous. */
  readonly permissions = {
    requestCode: 'public',
    enterCode: 'public',
    checkFirstLink: 'public',
    beginTelegram: 'public',
    enterTelegram: 'public',
  } as const

  constructor(dependencies: SignInDependencies) {
    this.#dependencies = dependencies
  }

  /** Makes a code. It is mailed only if the address has an account or may open one. */
  async requestCode(caller: Caller, { email, ...client }: CodeRequest): Promise<Answer<CodeAnswer>> {
    const { codes, admissions, brand, publicUrl } = this.#dependencies
    const identity = emailIdentity(email)
    if (!identity) return refuse('email_invalid', { email })
    return codes.request({
      ...{ caller, identity, ...client },
      messageOf: (code, state) =>
        admissions.maySignIn(identity, state)
          ? signInMessage({ to: identity.address, code, brand, publicUrl: publicUrl() })
          : undefined,
    })
  }

  /** Refuses the link of the first start if it is used, expired or unknown. */
  async checkFirstLink(_caller: Caller, codeId: string): Promise<Answer<void>> {
    return this.#dependencies.codes.check({ identity: FIRST_OWNER, codeId })
  }

  /**
   * Opens a session if the code is right, and opens an account if there is none. Closes the session of `earlierToken`,
   * the browser's earlier session.
   */
  async enterCode(caller: Caller, { earlierToken, ...entry }: CodeEntry & SigningIn): Promise<Answer<SignedIn>> {
    const codes = codesOf(entry)
    if ('refuse' in codes) return codes
    const { network, browser, userAgent, code } = entry
    const tried = await this.#dependencies.codes.tryCodes({ caller, network, browser }, codes.value, code)
    return 'refuse' in tried ? tried : this.#enter(caller, tried.value, { network, userAgent, earlierToken })
  }

  /** The URL of the Telegram sign-in, and the attempt that the browser must bring back. */
  async beginTelegram(_caller: Caller): Promise<Answer<{ url: string; attempt: ProofAttempt }>> {
    const { telegram } = this.#dependencies
    return telegram ? answer(await telegram.begin()) : refuse('telegram_not_offered')
  }

  /** Opens a session for a person who returns from Telegram, and opens an account if there is none. */
  async enterTelegram(
    caller: Caller,
    { earlierToken, ...returned }: TelegramReturn & SigningIn,
  ): Promise<Answer<SignedIn>> {
    const { telegram } = this.#dependencies
    if (!telegram) return refuse('telegram_not_offered')
    const proved = await telegram.identityOf(returned)
    return 'refuse' in proved ? proved : this.#enter(caller, proved.value, { ...returned, earlierToken })
  }

  /** Signs in a proven identity. */
  async #enter(caller: Caller, identity: Identity, from: SigningIn): Promise<Answer<SignedIn>> {
    const { admissions, welcomeMicros } = this.#dependencies
    const service = serviceFor(caller)
    const registered = await register(this.#dependencies, service, {
      ...{ identity, tester: false, welcomeMicros, notices: DEFAULT_NOTICES },
      admit: state => admissions.admit(service, identity, state, from.network),
    })
    if ('refuse' in registered) return registered
    const { accountId, isNew, withheld } = registered.value
    const opened = await openSession(this.#dependencies, service, accountId, from)
    return 'refuse' in opened ? opened : answer({ ...opened.value, isNew, withheld })
  }
}

/** The codes that the entered text may be, newest first. */
export const codesOf = ({ email, codeId, earlier }: CodeEntry) => {
  const identity = emailIdentity(email)
  if (!identity) return refuse('email_invalid', { email })
  const before = earlier && emailIdentity(earlier.email)
  return answer([{ identity, codeId }, ...(before ? [{ identity: before, codeId: earlier.codeId }] : [])])
}
