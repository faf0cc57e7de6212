import type { EmailIdentity, Identity } from '../../../schemas/identity.ts'
import { type AccountId, MAX_IDENTITIES } from '../../../schemas/primitives.ts'
import { freshRefusal, sessionRefusal } from '../../domain/account/access.ts'
import type { Brand } from '../../domain/brand.ts'
import { emailIdentity, identityName } from '../../domain/login/identity.ts'
import { refuse } from '../../domain/refusal.ts'
import { OneAtATime } from '../../flow/one-at-a-time.ts'
import type { Clock } from '../../ports/clock.ts'
import type { AccountMailboxes } from '../accounts/account-mailboxes.ts'
import { freeFromErased } from '../accounts/registration.ts'
import { type Answer, answer, type Refused } from '../answer.ts'
import type { SessionOwner } from '../caller.ts'
import { confirmMessage, linkedMessage, linkMessage } from './code-messages.ts'
import type { Logins } from './logins.ts'
import type { MailQueue } from './mail-queue.ts'
import type { Client, OneTimeCodes } from './one-time-codes.ts'
import { tellOthers } from './other-addresses.ts'
import { type CodeEntry, type CodeRequest, codesOf, type RequestedCode } from './sign-in.ts'
import type { TelegramProofs, TelegramReturn } from './telegram-proofs.ts'

interface Dependencies {
  accounts: AccountMailboxes
  logins: Logins
  codes: OneTimeCodes
  telegram: TelegramProofs | undefined
  mail: MailQueue
  clock: Clock
  brand: Pick<Brand, 'name'>
  publicUrl: () => string
}

/** The identities with which people sign in to an account. */
export class Identities {
  readonly #dependencies: Dependencies
  readonly #linking = new OneAtATime<AccountId>()

  /** Only the signed-in owner decides who else signs in to the account. */
  readonly permissions = {
    list: 'session',
    requestCode: 'session',
    enterCode: 'session',
    enterTelegram: 'session',
    requestConfirmation: 'session',
    confirm: 'session',
  } as const

  constructor(dependencies: Dependencies) {
    this.#dependencies = dependencies
  }

  /** The identities of the account, starting with the first. */
  async list({ accountId }: SessionOwner): Promise<Answer<readonly Identity[]>> {
    return answer((await this.#dependencies.accounts.shownState(accountId)).identities)
  }

  /** Sends a code to a new address, with which the caller proves to own it. */
  async requestCode(caller: SessionOwner, { email, network }: CodeRequest): Promise<Answer<{ codeId: string }>> {
    const { codes, brand, publicUrl } = this.#dependencies
    const identity = emailIdentity(email)
    if (!identity) return refuse('email_invalid', { email })
    const refused = await this.#refusalOf(caller)
    if (refused) return refused
    return codes.request({
      ...{ caller, identity, network, owner: caller },
      messageOf: code => linkMessage({ to: identity.address, code, brand, publicUrl: publicUrl() }),
    })
  }

  /** Links the address to the caller's account if the code is right. Grants no credits. */
  async enterCode(caller: SessionOwner, entry: CodeEntry): Promise<Answer<undefined>> {
    const codes = codesOf(entry)
    if ('refuse' in codes) return codes
    const refused = await this.#refusalOf(caller)
    if (refused) return refused
    const { network, code } = entry
    const tried = await this.#dependencies.codes.tryCodes({ caller, network, owner: caller }, codes.value, code)
    return 'refuse' in tried ? tried : this.#linkInTurn(caller, tried.value)
  }

  /** Links a Telegram account that the caller owns. */
  async enterTelegram(caller: SessionOwner, returned: TelegramReturn): Promise<Answer<undefined>> {
    const { telegram } = this.#dependencies
    if (!telegram) return refuse('telegram_not_offered')
    const proved = await telegram.identityOf(returned)
    return 'refuse' in proved ? proved : this.#linkInTurn(caller, proved.value)
  }

  /** Sends a code to the first address of the account, with which its owner may again do what needs a fresh one. */
  async requestConfirmation(caller: SessionOwner, { network }: Client): Promise<Answer<RequestedCode>> {
    const { codes, brand, publicUrl } = this.#dependencies
    const identity = await this.#firstAddress(caller)
    if (!identity) return refuse('no_address')
    const requested = await codes.request({
      ...{ caller, identity, network, owner: caller },
      messageOf: code => confirmMessage({ to: identity.address, code, brand, publicUrl: publicUrl() }),
    })
    return 'refuse' in requested ? requested : answer({ email: identity.address, codeId: requested.value.codeId })
  }

  /** Records that the owner has entered this code. A code for another address does not count. */
  async confirm(caller: SessionOwner, entry: CodeEntry): Promise<Answer<undefined>> {
    const identity = await this.#firstAddress(caller)
    if (!identity) return refuse('no_address')
    const { accounts, codes } = this.#dependencies
    const { network, code, codeId, earlier } = entry
    const candidates = [codeId, ...(earlier ? [earlier.codeId] : [])].map(id => ({ identity, codeId: id }))
    const tried = await codes.tryCodes({ caller, network, owner: caller }, candidates, code)
    if ('refuse' in tried) return tried
    const confirmed = await accounts.execute(caller, caller.accountId, { type: 'ConfirmSession' })
    return 'refuse' in confirmed ? confirmed : answer(undefined)
  }

  async #firstAddress({ accountId }: SessionOwner): Promise<EmailIdentity | undefined> {
    const { identities } = await this.#dependencies.accounts.currentState(accountId)
    return identities.find(identity => identity.kind === 'email')
  }

  /** Links one identity at a time, because concurrent links could exceed the limit. */
  #linkInTurn(caller: SessionOwner, identity: Identity): Promise<Answer<undefined>> {
    return this.#linking.do(
      caller.accountId,
      async () => (await this.#refusalOf(caller)) ?? this.#link(caller, identity),
    )
  }

  /**
   * Links an identity. If the process dies between the two events, the next sign-in with the identity appends the
   * second.
   */
  async #link(caller: SessionOwner, identity: Identity): Promise<Answer<undefined>> {
    const { accounts, logins } = this.#dependencies
    const { accountId } = caller
    await freeFromErased(this.#dependencies, caller, identity)
    const link = { type: 'LinkLogin', accountId, additional: true } as const
    const linked = await logins.execute(caller, identity, link)
    if ('refuse' in linked) {
      if (linked.refuse.code !== 'account_exists') return linked
      if ((await logins.state(identity)).accountId !== accountId) return refuse('identity_taken')
    }
    const listed = await accounts.execute(caller, accountId, { type: 'LinkIdentity', identity })
    if ('refuse' in listed) return listed
    const { mail, brand, publicUrl } = this.#dependencies
    const { identities } = await accounts.state(accountId)
    tellOthers(mail, { identities, not: identity }, to =>
      linkedMessage({ to, added: identityName(identity), brand, publicUrl: publicUrl() }),
    )
    return answer(undefined)
  }

  /** The reason to refuse the caller. The identity's stream does not know the session, so it is checked here. */
  async #refusalOf({ accountId, sessionId }: SessionOwner): Promise<Refused | undefined> {
    const { accounts, clock } = this.#dependencies
    const state = await accounts.currentState(accountId)
    const nowMs = clock.nowMs()
    const refused = sessionRefusal(sessionId, state, nowMs) ?? freshRefusal(sessionId, state, nowMs)
    if (refused) return refused
    return state.identities.length < MAX_IDENTITIES
      ? undefined
      : refuse('too_many_identities', { limit: MAX_IDENTITIES })
  }
}
