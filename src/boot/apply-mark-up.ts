import type { Family } from '../../schemas/catalog.ts'
import { bindingsOf, shipped } from '../catalog/shipped.ts'
import { withMarkUp } from '../domain/catalog/mark-up.ts'
import { type Config, ConfigError } from './config.ts'

/** The API specification fixes the prices of these families. */
const FIXED = new Set(['nano-banana-2', 'sandbox'])

/**
 * The shipped families at the operator's prices. A run may go to any provider that has a key, so the price follows from
 * the most expensive provider. Throws ConfigError for a factor on a family that cannot have one.
 */
export const applyMarkUp = ({
  markUp,
  providers,
  usdPerCreditMicros,
}: Pick<Config, 'markUp' | 'providers' | 'usdPerCreditMicros'>): Family[] => {
  if (!markUp) return shipped
  const configured = new Set<string>(providers.map(({ provider }) => provider))
  const openTo = (endpoint: string) => {
    const all = bindingsOf(endpoint)
    const own = all.filter(({ provider }) => configured.has(provider))
    return own.length > 0 ? own : all
  }
  const apply = (family: Family): Family => {
    const named = markUp.byFamily.get(family.id)
    const factorMicros = named ?? markUp.allMicros
    const isFixed = FIXED.has(family.id)
    const revised =
      factorMicros === undefined || isFixed
        ? undefined
        : withMarkUp(family, { factorMicros, usdPerCreditMicros, bindingsOf: openTo })
    if (named !== undefined && !revised)
      throw new ConfigError(`MARK_UP names ${family.id}, ${isFixed ? FIXED_PRICE : NO_LIST}.`)
    return revised ?? family
  }
  const known = new Set(shipped.map(({ id }) => id))
  const unknown = [...markUp.byFamily.keys()].find(id => !known.has(id))
  if (unknown !== undefined) throw new ConfigError(`MARK_UP names ${unknown}, which is not a family of this version.`)
  return shipped.map(apply)
}

const FIXED_PRICE = 'whose price is fixed'
const NO_LIST = 'whose list prices depend on more than the request; publish its price with "tollgate catalog publish"'
