import type { RunWarning } from '../../../schemas/api/run.ts'
import type { Retirement } from '../../domain/account/commands.ts'
import { minuteText } from '../../domain/days.ts'
import type { Supply } from '../providers/routes.ts'
import type { Offers } from './offers.ts'

interface Dependencies {
  offers: Pick<Offers, 'list' | 'replacementOf'>
  supplyOf(endpoint: string): Pick<Supply, 'retiresAt'>
}

/** Models that their providers will turn off. */
export class Retirements {
  readonly #dependencies: Dependencies

  constructor(dependencies: Dependencies) {
    this.#dependencies = dependencies
  }

  /** The retirements of all models for every account. */
  async list(): Promise<Retirement[]> {
    const { offers, supplyOf } = this.#dependencies
    const found: Retirement[] = []
    for (const { family } of await offers.list(false)) {
      const ending = family.endpoints.map(({ id }) => ({ id, retiresAt: supplyOf(id).retiresAt }))
      const times = new Set(ending.flatMap(({ retiresAt }) => retiresAt ?? []))
      for (const retiresAt of times) {
        const endpoints = ending.filter(each => each.retiresAt === retiresAt).map(({ id }) => id)
        found.push({ model: family.id, endpoints, retiresAt, ...(await this.#replacement(family.id, false)) })
      }
    }
    return found
  }

  /** The retirement warnings for runs of an endpoint; undefined if there are none. */
  async warningsOf(
    endpoint: string,
    model: string,
    isTester: () => Promise<boolean>,
  ): Promise<RunWarning[] | undefined> {
    const { retiresAt } = this.#dependencies.supplyOf(endpoint)
    if (retiresAt === undefined) return undefined
    const { replacedBy } = await this.#replacement(model, await isTester())
    const message = `${endpoint} retires at ${minuteText(retiresAt)}${replacedBy ? `; use ${replacedBy} instead` : ''}.`
    const successor = replacedBy !== undefined && { replaced_by: replacedBy }
    return [{ code: 'model_retires', message, retires_at: retiresAt, ...successor }]
  }

  async #replacement(model: string, tester: boolean): Promise<{ replacedBy?: string }> {
    const replacedBy = await this.#dependencies.offers.replacementOf(model, tester)
    return replacedBy === undefined ? {} : { replacedBy }
  }
}
