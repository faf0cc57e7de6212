import type { AccountId } from '../../../schemas/primitives.ts'
import { operator } from './callers.ts'
import { outcomeOf } from './outcome.ts'
import type { Running } from './process.ts'
import type { World } from './world.ts'

/** The settings of one client's notices, which the operator changes for it. */
export class ClientNotices {
  readonly #world: World
  readonly #accountId: AccountId

  constructor(world: World, accountId: AccountId) {
    this.#world = world
    this.#accountId = accountId
  }

  /** A balance around these limits crosses them again and again. */
  async set({ services }: Running): Promise<string> {
    const { chance } = this.#world
    const told = await services.notices.set(operator, this.#accountId, {
      email: chance.happens(0.7),
      ...(chance.happens(0.7) && { url: `https://client.example/notices/${this.#accountId}` }),
      balanceUnderMicros: chance.pick([0, 10_000_000, 25_000_000, 60_000_000]),
    })
    return outcomeOf(told)
  }
}
