import type { AccountId, KeyId } from '../../../schemas/primitives.ts'
import type { Refusal } from '../../../src/domain/refusal.ts'
import { operator } from './callers.ts'
import type { ClientKeys } from './keys.ts'
import { readableSince } from './known.ts'
import { NO_KEY, outcomeOf } from './outcome.ts'
import type { Running, SimulatedProcess } from './process.ts'
import type { World } from './world.ts'

/** So soon that credits expire while runs use them. */
const EXPIRES_WITHIN_MS = 15_000

/** The credits of one client, which the operator grants and withdraws. */
export class ClientCredits {
  readonly #world: World
  readonly #accountId: AccountId
  readonly #keys: ClientKeys

  constructor(world: World, accountId: AccountId, keys: ClientKeys) {
    this.#world = world
    this.#accountId = accountId
    this.#keys = keys
  }

  async balance(running: Running, process: SimulatedProcess): Promise<string> {
    const caller = await this.#keys.caller(running)
    if (!caller) return NO_KEY
    const since = await readableSince(this.#world, running, process, caller, 'acknowledged')
    const told = await running.services.accounts.balance(caller)
    if ('value' in told) this.#world.truth.expectBalance(this.#accountId, since, told.value.balanceMicros)
    return outcomeOf(told)
  }

  async grant(running: Running, process: SimulatedProcess): Promise<string> {
    const reference = `invoice-${this.#world.chance.below(20)}`
    const { chance } = this.#world
    const expiresAt = new Date(running.core.clock.nowMs() + chance.between(0, EXPIRES_WITHIN_MS)).toISOString()
    const grant = {
      ...({ amountMicros: 5_000_000, kind: 'purchase', reference, reason: 'top-up' } as const),
      ...(chance.happens(0.3) && { expiresAt }),
    }
    const told = await running.services.accounts.grant(operator, this.#accountId, grant)
    if ('value' in told) this.#world.truth.expectReference(this.#accountId, process, reference)
    return outcomeOf(told)
  }

  async withdraw(running: Running, process: SimulatedProcess): Promise<string> {
    const reference = `mistake-${this.#world.chance.below(20)}`
    const withdrawal = { amountMicros: 3_000_000, kind: 'correction', reference, reason: 'mistake' } as const
    const before = this.#world.truth.lastBalance(this.#accountId)
    const told = await running.services.accounts.withdraw(operator, this.#accountId, withdrawal)
    if ('value' in told) this.#world.truth.expectReference(this.#accountId, process, reference)
    else this.expectRefusal(told.refuse, before)
    return outcomeOf(told)
  }

  /**
   * Too few credits are those that the account had at some time since the command was sent, and so is what the key has
   * spent of its budget.
   */
  expectRefusal(refusal: Refusal, sentAt: number, keyId?: KeyId) {
    if (refusal.code === 'budget_exceeded' && refusal.of === 'key') {
      this.#world.truth.expectSpent(this.#accountId, keyId ?? '', sentAt, refusal)
      if (refusal.requiredMicros + refusal.spentMicros <= refusal.budgetMicros)
        this.#world.violation(`${keyId} had spent ${refusal.spentMicros}, and may spend ${refusal.requiredMicros} more`)
    }
    if (refusal.code !== 'insufficient_credits') return
    const { requiredMicros, balanceMicros } = refusal
    this.#world.truth.expectBalance(this.#accountId, sentAt, balanceMicros)
    if (requiredMicros <= balanceMicros) this.#world.violation(`${balanceMicros} were too few for ${requiredMicros}`)
  }
}
