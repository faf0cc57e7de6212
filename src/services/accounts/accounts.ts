import type { AccountLimits, GrantKind, Payment } from '../../../schemas/account-events.ts'
import { accountStream, type RecordedEvent } from '../../../schemas/events.ts'
import type { Identity } from '../../../schemas/identity.ts'
import type { NoticeSettings } from '../../../schemas/notice-events.ts'
import type { AccountId } from '../../../schemas/primitives.ts'
import type { AccountRow, BalanceRow } from '../../../schemas/views.ts'
import type { AccountCommand, ExtendLot, LimitChanges } from '../../domain/account/commands.ts'
import { creditSplit, nextExpiry } from '../../domain/account/lots.ts'
import type { CreditSplit, Suspension } from '../../domain/account/state.ts'
import { emailIdentity } from '../../domain/login/identity.ts'
import { refuse } from '../../domain/refusal.ts'
import type { EventLog } from '../../ports/event-log.ts'
import { BY_KEY } from '../../ports/view-store.ts'
import { type Answer, answer } from '../answer.ts'
import type { AccountCaller, Caller, SessionOwner } from '../caller.ts'
import { eventCodec } from '../event-codec.ts'
import type { Page } from '../views/newest-first.ts'
import type { Reads } from '../views/reads.ts'
import { generateKey, type NewKey } from './api-keys.ts'
import { checkAccountId, findAccount } from './find-account.ts'
import { type RegistrationDependencies, type RegistrationResult, register } from './registration.ts'

interface Dependencies extends RegistrationDependencies {
  reads: Reads
  log: Pick<EventLog, 'readEvent'>
  /** The prefix of API keys. */
  keyPrefix: string
}

/** An account with its balance and the sums of its credits. An account that never had any credits has no sums. */
export interface AccountSummary {
  account: AccountRow
  /** Whether it may see and run the families that are for testers. */
  tester: boolean
  balanceMicros: number
  suspension: Suspension | undefined
  /** The limits that differ from the defaults. */
  limits: AccountLimits
  /** 0 if nothing of its runs is kept. */
  retentionDays: 0 | undefined
  /** The identities that sign in, the first one first. */
  identities: readonly Identity[]
  sums: BalanceRow | undefined
}

export interface OwnBalance {
  balanceMicros: number
  /** Credits that were debited for runs that have not ended. */
  heldMicros: number
  /** The runs that hold them. Test runs hold none. */
  holdingRuns: number
  /** Missing while it is unknown. */
  split?: CreditSplit
  /** Used credits of disputed payments, which are not part of the balance. */
  owedMicros: number
  /** The credits that expire next. */
  nextExpiry?: { expiresAt: string; amountMicros: number }
}

export interface Grant {
  amountMicros: number
  kind: GrantKind
  /** Makes the grant idempotent within the account; random if missing. */
  reference?: string | undefined
  reason: string
  /** The money that a purchase cost. */
  payment?: Payment | undefined
  /** When the credits expire; never if missing. */
  expiresAt?: string | undefined
}

/** `isNew` is false if the grant or withdrawal was already recorded under this reference. */
export interface GrantResult {
  reference: string
  balanceMicros: number
  isNew: boolean
  /** The revision of the event; undefined if it was recorded before. */
  revision: number | undefined
}

/** A recorded change of an account. `revision` is that of its event; undefined if nothing changed. */
export interface AccountChange {
  revision: number | undefined
}

/** `reason` is that of the suspension, which may have begun before. */
export interface ClosedAccount {
  revokedKeys: number
  balanceMicros: number
  reason: string
}

export interface AccountOpening {
  email: string
  tester: boolean
  welcomeMicros: number
  /** Another grant in the same append. */
  firstGrant?: Grant & { reference: string }
  /** Missing means none. */
  notices?: NoticeSettings
  /** The first key, created in the same append. */
  key?: Pick<NewKey, 'name' | 'scope'>
}

/** `apiKey` is the text of the first key, if this call created one. */
export type OpenResult = RegistrationResult & { apiKey?: string }

/** Opens, shows, limits and suspends accounts, and grants and withdraws credits. */
export class Accounts {
  readonly #dependencies: Dependencies

  readonly permissions = {
    open: 'operate',
    find: 'operate',
    findByEmail: 'operate',
    invite: 'operate',
    list: 'operate',
    page: 'operate',
    event: 'operate',
    balance: 'read',
    grant: 'operate',
    withdraw: 'operate',
    extendLot: 'operate',
    suspend: 'operate',
    resume: 'operate',
    close: 'operate',
    erase: 'operate',
    eraseOwn: 'session',
    setTester: 'operate',
    setLimits: 'operate',
    setRetention: 'operate',
  } as const

  constructor(dependencies: Dependencies) {
    this.#dependencies = dependencies
  }

  /** Opens the account of an e-mail address, or finds the existing one. */
  async open(caller: Caller, { key: newKey, email, ...registration }: AccountOpening): Promise<Answer<OpenResult>> {
    const identity = emailIdentity(email)
    if (!identity) return refuse('email_invalid', { email })
    const generated = newKey && generateKey(this.#dependencies, newKey)
    const firstKey = generated && { firstKey: generated.key }
    const registered = await register(this.#dependencies, caller, { identity, ...registration, ...firstKey })
    if ('refuse' in registered || !registered.value.isNew || !generated) return registered
    return answer({ ...registered.value, apiKey: generated.apiKey })
  }

  async find(caller: Caller, accountId: string): Promise<Answer<AccountSummary>> {
    const found = await findAccount(this.#dependencies.reads, caller, accountId)
    return 'refuse' in found ? found : answer(await this.#summary(found.value))
  }

  /** Finds the account of an e-mail address, whether it was opened with it or linked to it later. */
  async findByEmail(caller: Caller, email: string): Promise<Answer<AccountSummary>> {
    const identity = emailIdentity(email)
    if (!identity) return refuse('email_invalid', { email })
    const { accountId } = await this.#dependencies.logins.currentState(identity)
    return accountId === undefined ? refuse('account_not_found') : this.find(caller, accountId)
  }

  /**
   * Lets an e-mail address open an account where others may not. `isNew` is false if it was invited before. The
   * invitation goes to `address`.
   */
  async invite(caller: Caller, email: string): Promise<Answer<{ isNew: boolean; address: string }>> {
    const identity = emailIdentity(email)
    if (!identity) return refuse('email_invalid', { email })
    const invited = await this.#dependencies.logins.execute(caller, identity, { type: 'InviteLogin' })
    return 'refuse' in invited ? invited : answer({ isNew: invited.repeatOf === undefined, address: identity.address })
  }

  /** Lists all accounts, oldest first. */
  async list(_caller: Caller): Promise<Answer<AccountSummary[]>> {
    const found: AccountSummary[] = []
    for await (const { row } of this.#dependencies.reads.scan('accounts', BY_KEY, { prefix: '' }))
      found.push(await this.#summary(row))
    return answer(found)
  }

  /** A page of accounts, newest first, so that no list reads them all. */
  async page(
    _caller: Caller,
    { limit, cursor }: { limit: number; cursor?: string | undefined },
  ): Promise<Answer<Page<AccountSummary, AccountId>>> {
    const { reads } = this.#dependencies
    if (cursor !== undefined && !(await reads.get('accounts', cursor))) return refuse('cursor_unknown')
    // One account more than requested shows that there are more.
    const range = { prefix: '', after: cursor, newestFirst: true, limit: limit + 1 }
    const rows = (await reads.list('accounts', BY_KEY, range)).map(({ row }) => row)
    const found: AccountSummary[] = []
    for (const row of rows.slice(0, limit)) found.push(await this.#summary(row))
    return answer({ found, next: rows.length > limit ? (rows[limit - 1]?.accountId ?? null) : null })
  }

  /** An event of an account, from the log. */
  async event(caller: Caller, accountId: string, revision: number): Promise<Answer<RecordedEvent | undefined>> {
    const checked = checkAccountId(caller, accountId)
    if ('refuse' in checked) return checked
    const raw = await this.#dependencies.log.readEvent(accountStream(checked.value), revision)
    return answer(raw && eventCodec.decode(raw))
  }

  /** The caller's own balance after all of its earlier requests, and the debits of the runs that have not ended. */
  async balance({ accountId }: AccountCaller): Promise<Answer<OwnBalance>> {
    const state = await this.#dependencies.accounts.shownState(accountId)
    const { balanceMicros, owedMicros, openRuns } = state
    const split = creditSplit(state)
    const expiry = nextExpiry(state)
    const held = [...openRuns.values()].map(({ chargedMicros }) => chargedMicros).filter(micros => micros > 0)
    const heldMicros = held.reduce((sum, micros) => sum + micros, 0)
    return answer({
      balanceMicros,
      owedMicros,
      heldMicros,
      holdingRuns: held.length,
      ...(split && { split }),
      ...(expiry && { nextExpiry: expiry }),
    })
  }

  /** Adds credits to an account. */
  grant(caller: Caller, accountId: string, grant: Grant): Promise<Answer<GrantResult>> {
    return this.#changeCredits('GrantCredits', caller, accountId, grant)
  }

  /** Withdraws granted credits. */
  withdraw(caller: Caller, accountId: string, grant: Grant): Promise<Answer<GrantResult>> {
    return this.#changeCredits('WithdrawCredits', caller, accountId, grant)
  }

  /** Postpones the expiry of a lot; without `expiresAt`, it never expires. */
  extendLot(caller: Caller, accountId: string, lot: Omit<ExtendLot, 'type'>): Promise<Answer<AccountChange>> {
    return this.#change(caller, accountId, { type: 'ExtendLot', ...lot })
  }

  /** Refuses all further requests of the account's owner. Accepted runs continue to their ends. */
  suspend(caller: Caller, accountId: string, reason: string): Promise<Answer<AccountChange>> {
    return this.#change(caller, accountId, { type: 'SuspendAccount', reason })
  }

  /** Ends the suspension of an account. */
  resume(caller: Caller, accountId: string, reason: string): Promise<Answer<AccountChange>> {
    return this.#change(caller, accountId, { type: 'ResumeAccount', reason })
  }

  /** Revokes all keys and suspends the account, in one append. Refuses while runs are open. */
  async close(caller: Caller, accountId: string, reason: string): Promise<Answer<ClosedAccount>> {
    const checked = checkAccountId(caller, accountId)
    if ('refuse' in checked) return checked
    const { accounts } = this.#dependencies
    const outcome = await accounts.execute(caller, checked.value, { type: 'CloseAccount', reason })
    if ('refuse' in outcome) return outcome
    const { balanceMicros, suspension } = await accounts.state(checked.value)
    const revokedKeys = outcome.accept.filter(({ type }) => type === 'ApiKeyRevoked').length
    return answer({ revokedKeys, balanceMicros, reason: suspension?.reason ?? reason })
  }

  /**
   * Closes an account for good, and erases its personal data, which takes a moment: the service does it, not this call.
   * Refuses while runs are open.
   */
  erase(caller: Caller, accountId: string, reason: string): Promise<Answer<AccountChange>> {
    return this.#change(caller, accountId, { type: 'EraseAccount', reason })
  }

  /** The same for the caller's own account. The session must be fresh. */
  eraseOwn(caller: SessionOwner): Promise<Answer<AccountChange>> {
    return this.#change(caller, caller.accountId, { type: 'EraseAccount', reason: 'the owner asked for it' })
  }

  /** Lets an account see and run the families that are for testers, or no longer. */
  setTester(caller: Caller, accountId: string, tester: boolean): Promise<Answer<AccountChange>> {
    return this.#change(caller, accountId, { type: 'SetTester', tester })
  }

  /** Sets exceptions to the default limits of an account, or ends all of them. */
  setLimits(caller: Caller, accountId: string, limits: LimitChanges): Promise<Answer<AccountChange>> {
    return this.#change(caller, accountId, { type: 'SetLimits', limits })
  }

  /** Keeps nothing of the account's runs, or as much as usual. */
  setRetention(caller: Caller, accountId: string, days: 0 | undefined, reason: string): Promise<Answer<AccountChange>> {
    return this.#change(caller, accountId, { type: 'SetRetention', days, reason })
  }

  async #change(caller: Caller, accountId: string, command: AccountCommand): Promise<Answer<AccountChange>> {
    const checked = checkAccountId(caller, accountId)
    if ('refuse' in checked) return checked
    const outcome = await this.#dependencies.accounts.execute(caller, checked.value, command)
    return 'refuse' in outcome ? outcome : answer({ revision: outcome.accept[0]?.revision })
  }

  async #changeCredits(
    type: 'GrantCredits' | 'WithdrawCredits',
    caller: Caller,
    accountId: string,
    { reference = this.#dependencies.random.uuid(), ...grant }: Grant,
  ): Promise<Answer<GrantResult>> {
    const checked = checkAccountId(caller, accountId)
    if ('refuse' in checked) return checked
    const { accounts } = this.#dependencies
    const outcome = await accounts.execute(caller, checked.value, { type, reference, ...grant })
    if ('refuse' in outcome) return outcome
    const { balanceMicros } = await accounts.state(checked.value)
    const isNew = outcome.repeatOf === undefined
    return answer({ reference, balanceMicros, isNew, revision: outcome.accept[0]?.revision })
  }

  async #summary(account: AccountRow): Promise<AccountSummary> {
    const { accounts, reads } = this.#dependencies
    const { accountId } = account
    const { tester, balanceMicros, suspension, limits, retentionDays, identities } =
      await accounts.recentState(accountId)
    const sums = await reads.get('balance', accountId)
    return { account, tester, balanceMicros, suspension, limits, retentionDays, identities, sums }
  }
}
