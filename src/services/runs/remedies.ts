import type { AccountId } from '../../../schemas/primitives.ts'
import type { Refused } from '../answer.ts'
import type { PublishedCatalog } from '../catalog/published-catalog.ts'
import { offersFor } from '../purchases/offered-credits.ts'

interface Dependencies {
  publishedCatalog: Pick<PublishedCatalog, 'recentState'>
  /** Whether customers can pay. */
  sells: boolean
  /** The base URL of the service. */
  publicUrl: () => string
  /** The data folder, if only this machine can reach the service. */
  ownFolder: string | undefined
}

/** Tells callers who lack credits how to get some. */
export class Remedies {
  readonly #dependencies: Dependencies

  constructor(dependencies: Dependencies) {
    this.#dependencies = dependencies
  }

  /** The refusal, with the ways out of it. */
  async of({ refuse: refusal }: Refused, accountId: AccountId): Promise<Refused> {
    if (refusal.code === 'credits_owed') {
      const offers = await this.#offers(refusal.owedMicros)
      return { refuse: { ...refusal, ...(offers.length > 0 && { offers }) } }
    }
    if (refusal.code !== 'insufficient_credits') return { refuse: refusal }
    const { ownFolder: folder } = this.#dependencies
    const offers = await this.#offers(refusal.requiredMicros - refusal.balanceMicros)
    return {
      refuse: {
        ...refusal,
        // People who try the service on their own machine are its operators too.
        ...(folder !== undefined && { grantTo: { accountId, folder } }),
        ...(offers.length > 0 && { offers }),
      },
    }
  }

  async #offers(missingMicros: number) {
    const { sells, publicUrl, publishedCatalog } = this.#dependencies
    if (!sells) return []
    const { packs } = await publishedCatalog.recentState()
    return packs ? offersFor(packs, missingMicros, publicUrl()) : []
  }
}
