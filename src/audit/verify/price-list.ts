import type { Family, PriceRule } from '../../../schemas/catalog.ts'
import type { Receipt } from './price.ts'
import type { AuditedEvent } from './rule.ts'

interface Listed {
  family: string
  /** By endpoint. */
  rules: Map<string, PriceRule>
}

/** The price rules of each catalog revision. */
export class PriceList {
  readonly #byRevision = new Map<number, Listed>()

  /** Takes the next event of the catalog. */
  take({ revision, data }: AuditedEvent) {
    const { family } = data as { family?: Family }
    if (!family) return
    const rules = new Map(family.endpoints.map(({ id, pricing }) => [id, pricing]))
    this.#byRevision.set(revision, { family: family.id, rules })
  }

  /** The price rule that a receipt names, or what is wrong with the name. */
  ruleOf({ catalogRevision, model, endpoint }: Receipt): PriceRule | string {
    const listed = this.#byRevision.get(catalogRevision)
    if (!listed) return `its receipt names catalog revision ${catalogRevision}, which publishes no prices`
    if (listed.family !== model) return `catalog revision ${catalogRevision} publishes ${listed.family}, not ${model}`
    return listed.rules.get(endpoint) ?? `catalog revision ${catalogRevision} has no endpoint ${endpoint}`
  }
}
