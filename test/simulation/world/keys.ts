import type { AccountId, KeyId, Moded } from '../../../schemas/primitives.ts'
import type { AccountCaller } from '../../../src/services/caller.ts'
import { operator } from './callers.ts'
import { NOTHING, outcomeOf } from './outcome.ts'
import type { Running } from './process.ts'
import type { World } from './world.ts'

export interface Key extends Moded {
  keyId: KeyId
  apiKey: string
}

/** One run of most models, so that the next one is refused because of it. */
const BUDGET_MICROS = 10_000_000

const WEEK_MS = 7 * 24 * 3_600_000

/** The keys of one client, which the operator creates and revokes, and the suspensions of its account. */
export class ClientKeys {
  readonly #world: World
  readonly #accountId: AccountId
  readonly #keys: Key[]
  #hasRevoked = false
  /** Whether the operator has ever asked to suspend the account. */
  wasSuspended = false

  constructor(world: World, accountId: AccountId, firstKey: Key) {
    this.#world = world
    this.#accountId = accountId
    this.#keys = [firstKey]
  }

  /** Whether every process must accept every key of the client. New keys are unknown to views that are behind. */
  get areKnown(): boolean {
    return !this.#hasRevoked && this.#keys.length === 1 && !this.#world.nemesis.hasForged('keys')
  }

  /** The same with one of the live keys. */
  liveCaller(running: Running): Promise<AccountCaller | undefined> {
    return this.caller(
      running,
      this.#keys.filter(({ livemode }) => livemode !== false),
    )
  }

  /** The caller that a process recognises by one of the keys. */
  async caller(running: Running, keys: Key[] = this.#keys): Promise<AccountCaller | undefined> {
    const { apiKey, keyId, livemode } = this.#world.chance.pick(keys)
    const mode = livemode === false && { livemode }
    const found = await running.keyHolders.holderOf(apiKey)
    if (!found) return undefined
    if ('value' in found) {
      const { holder } = found.value
      if (holder.livemode !== livemode) this.#world.violation(`${keyId} is in the other mode`)
      running.keyUses.note(holder)
      return holder
    }
    if (!this.wasSuspended) this.#world.violation(`${this.#accountId} is refused with ${found.refuse.code}`)
    // As if the request had been authenticated before the suspension: the account itself must refuse it.
    return { kind: 'key', accountId: this.#accountId, keyId, scope: 'full', ...mode }
  }

  async createKey(running: Running): Promise<string> {
    const { chance } = this.#world
    const limits = {
      ...chance.pick([
        {},
        { budget: { amountMicros: BUDGET_MICROS, period: 'day' as const } },
        { livemode: false as const },
      ]),
      // Its owner is told while the world goes on.
      ...(chance.happens(0.3) && { expiresAt: new Date(running.core.clock.nowMs() + WEEK_MS + 5_000).toISOString() }),
    }
    const created = await running.services.keys.create(operator, this.#accountId, { name: 'another', ...limits })
    if ('value' in created) {
      this.#world.truth.expectKey(this.#accountId, created.value.keyId, 'active')
      this.#keys.push(created.value)
    }
    return outcomeOf(created)
  }

  /** Seldom, since a suspended client does little else. */
  async suspend({ services }: Running): Promise<string> {
    if (this.#world.chance.happens(0.6)) return NOTHING
    this.wasSuspended = true
    return outcomeOf(await services.accounts.suspend(operator, this.#accountId, 'unpaid'))
  }

  async resume({ services }: Running): Promise<string> {
    return outcomeOf(await services.accounts.resume(operator, this.#accountId, 'paid'))
  }

  async revokeKey(running: Running): Promise<string> {
    if (this.#keys.length < 2) return NOTHING
    const { keyId } = this.#world.chance.pick(this.#keys)
    this.#hasRevoked = true
    const told = await running.services.keys.revoke(operator, this.#accountId, keyId)
    if ('value' in told) this.#world.truth.expectKey(this.#accountId, keyId, 'revoked')
    return outcomeOf(told)
  }
}
