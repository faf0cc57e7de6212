import { fold } from '../../../projections/define.ts'
import { keys as keyView } from '../../../projections/keys.ts'
import type { KeyLimits } from '../../../schemas/account-events.ts'
import type { KeyScope } from '../../../schemas/actor.ts'
import type { KeyId, Moded } from '../../../schemas/primitives.ts'
import type { KeyRow } from '../../../schemas/views.ts'
import { type BudgetState, budgetAt } from '../../domain/account/budgets.ts'
import { type DefaultLimits, limitOf } from '../../domain/account/limits.ts'
import type { AccountState } from '../../domain/account/state.ts'
import { sha256 } from '../../domain/digest.ts'
import { refuse } from '../../domain/refusal.ts'
import type { Clock } from '../../ports/clock.ts'
import type { Random } from '../../ports/random.ts'
import { type Answer, answer } from '../answer.ts'
import { type AccountCaller, type Caller, keyIdOf, modeOf } from '../caller.ts'
import type { Offers } from '../catalog/offers.ts'
import { newKeyId } from '../ids.ts'
import { NewestFirst, type Page, type WaitingClient } from '../views/newest-first.ts'
import type { Reads } from '../views/reads.ts'
import type { AccountMailboxes } from './account-mailboxes.ts'
import { checkAccountId, findAccount } from './find-account.ts'
import { checkLimits } from './key-limits.ts'

/** The most keys listed for one account. Revoked keys stay in the list, so it has no other bound. */
const MAX_LISTED = 10_000

interface Dependencies {
  accounts: AccountMailboxes
  reads: Reads
  offers: Offers
  clock: Clock
  random: Random
  /** The prefix of a key's text. */
  keyPrefix: string
  /** The limits of accounts without exceptions. */
  limits: DefaultLimits
}

export interface NewKey extends KeyLimits, Moded {
  name: string
  scope?: KeyScope
}

/** A key with the state of its budget, if it has one and is active. */
export interface KeyInfo extends KeyRow {
  spending?: BudgetState | undefined
}

/** A key with the limits that it and its account have. */
export interface OwnKeyInfo extends KeyInfo {
  limits: DefaultLimits
}

/** `apiKey` is the text of the key, which is shown only once. */
export interface CreatedKey extends KeyInfo {
  apiKey: string
}

/** Creates, lists and revokes an account's API keys. */
export class ApiKeys {
  readonly #dependencies: Dependencies
  readonly #newestFirst: NewestFirst

  readonly permissions = {
    create: 'keys',
    list: 'keys',
    page: 'keys',
    revoke: 'keys',
    own: 'own',
    limits: 'read',
  } as const

  constructor(dependencies: Dependencies) {
    this.#dependencies = dependencies
    this.#newestFirst = new NewestFirst(dependencies)
  }

  /** Creates a key, and resolves when it works. Its text is returned only here; the log holds its hash. */
  async create(
    caller: Caller,
    accountId: string,
    { name, scope = 'full', livemode, ...limits }: NewKey,
  ): Promise<Answer<CreatedKey>> {
    const { accounts, reads, offers, clock } = this.#dependencies
    // Otherwise a leaked key could create successors and outlive its revocation.
    if (caller.kind === 'key' && scope === 'keys') return refuse('key_scope_not_grantable', { scope })
    const id = checkAccountId(caller, accountId)
    if ('refuse' in id) return id
    const { tester } = await accounts.state(id.value)
    const circumstances = { offers, tester: tester || livemode === false, nowMs: clock.nowMs() }
    const checked = await checkLimits(limits, circumstances)
    if ('refuse' in checked) return checked
    const { key, apiKey } = generateKey(this.#dependencies, { name, scope, livemode, ...checked.value })
    const command = { type: 'CreateApiKey', askedWith: keyIdOf(caller), key } as const
    const outcome = await accounts.execute(caller, id.value, command)
    if ('refuse' in outcome) return outcome
    // Every process finds the holder of a key in the views. Without them, the caller still needs the text.
    await reads.ownWrites(id.value)?.catch(() => undefined)
    const row = fold(keyView, outcome.accept) as KeyRow
    return answer({ ...row, spending: budgetAt(key, clock.nowMs()), apiKey })
  }

  /** Lists all keys, including revoked keys, oldest first. */
  async list(caller: Caller, accountId: string): Promise<Answer<KeyInfo[]>> {
    const found = await findAccount(this.#dependencies.reads, caller, accountId)
    if ('refuse' in found) return found
    const entries = await this.#dependencies.reads.list('keys', 'byAccount', {
      prefix: `${accountId}/`,
      limit: MAX_LISTED,
    })
    const state = await this.#dependencies.accounts.shownState(found.value.accountId)
    return answer(entries.map(({ row }) => this.#infoOf(row, state)))
  }

  /** A page of the caller's keys, including revoked keys, newest first. A test key sees only test keys. */
  async page(
    caller: AccountCaller,
    query: { limit: number; cursor?: KeyId | undefined },
    client?: WaitingClient,
  ): Promise<Answer<Page<KeyInfo, KeyId>>> {
    const { accountId } = caller
    const matches = (row: KeyRow) => row.livemode === false || modeOf(caller).livemode !== false
    const listed = { ...query, index: 'byAccount', matches }
    const { found, next } = await this.#newestFirst.page<'keys', KeyId>('keys', accountId, listed, client)
    const state = await this.#dependencies.accounts.shownState(accountId)
    return answer({ found: found.map(row => this.#infoOf(row, state)), next })
  }

  /** The key that the caller uses. */
  async own(caller: Caller): Promise<Answer<OwnKeyInfo>> {
    if (caller.kind !== 'key') return refuse('key_not_found')
    const { accounts, reads, limits } = this.#dependencies
    const state = await accounts.shownState(caller.accountId)
    const key = state.activeKeys.get(caller.keyId)
    if (!key) return refuse('key_revoked')
    const row = await reads.getOwn(caller.accountId, 'keys', key.hash)
    if (!row) throw reads.missing('keys', key.hash)
    return answer({ ...this.#infoOf(row, state), limits: limitsOf(state, limits) })
  }

  /** The limits that the keys of the account share, and those of each. */
  async limits({ accountId }: AccountCaller): Promise<Answer<DefaultLimits>> {
    const { accounts, limits } = this.#dependencies
    return answer(limitsOf(await accounts.shownState(accountId), limits))
  }

  /** Revokes a key, which is refused from then on. */
  async revoke(caller: Caller, accountId: string, keyId: string): Promise<Answer<undefined>> {
    const checked = checkAccountId(caller, accountId)
    if ('refuse' in checked) return checked
    const command = { type: 'RevokeApiKey', askedWith: keyIdOf(caller), keyId: keyId as KeyId } as const
    const outcome = await this.#dependencies.accounts.execute(caller, checked.value, command)
    return 'refuse' in outcome ? outcome : answer(undefined)
  }

  /** What a key has spent comes from the account's state, which decides on it. */
  #infoOf(row: KeyRow, { activeKeys }: AccountState): KeyInfo {
    const key = activeKeys.get(row.keyId)
    return { ...row, spending: key && budgetAt(key, this.#dependencies.clock.nowMs()) }
  }
}

const limitsOf = (state: AccountState, limits: DefaultLimits): DefaultLimits => ({
  requestsPerMinute: limitOf('requestsPerMinute', state, limits.requestsPerMinute),
  runsInFlight: limitOf('runsInFlight', state, limits.runsInFlight),
})

/** Generates a key: its text, which is stored nowhere, and the data that the log records. */
export const generateKey = (
  { random, keyPrefix }: Pick<Dependencies, 'random' | 'keyPrefix'>,
  { name, scope = 'full', livemode, ...limits }: NewKey,
) => {
  const apiKey = `${keyPrefix}_sk_${livemode === false ? 'test' : 'live'}_${random.hex(16)}`
  const key = { keyId: newKeyId(random), name, hash: sha256(apiKey), lastFour: apiKey.slice(-4), scope }
  return { apiKey, key: { ...key, ...(livemode === false && { livemode }), ...limits } }
}
