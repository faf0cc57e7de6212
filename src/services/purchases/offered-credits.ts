import type { CustomAmount, Pack, PriceList } from '../../../schemas/packs.ts'
import { priceOfCredits } from '../../domain/catalog/packs.ts'
import { fromMicros, toMicros } from '../../domain/money.ts'
import type { CreditsOffer } from '../../domain/refusal.ts'
import { CREDITS_PATH } from './pages.ts'

/** A choice that fits into an error message. */
const MAX_OFFERS = 3

/**
 * What to offer to a caller who lacks an amount of credits: the smallest packs that cover it, then the largest of the
 * others. If no pack covers it, a custom amount that does comes first. `url` is the address of the service.
 */
export const offersFor = ({ packs, customAmount }: PriceList, missingMicros: number, url: string): CreditsOffer[] => {
  const sorted = packs.toSorted((one, other) => creditsIn(one) - creditsIn(other))
  const enough = sorted.filter(pack => creditsIn(pack) >= missingMicros)
  const less = sorted.filter(pack => creditsIn(pack) < missingMicros).reverse()
  const custom = enough.length === 0 && customAmount ? offerOfCredits(customAmount, missingMicros, url) : []
  return [...custom, ...[...enough, ...less].map(pack => offerOfPack(pack, url))].slice(0, MAX_OFFERS)
}

const creditsIn = ({ creditsMicros, bonusMicros = 0 }: Pack): number => creditsMicros + bonusMicros

const offerOfPack = ({ id, name, creditsMicros, bonusMicros = 0, ...price }: Pack, url: string): CreditsOffer => ({
  ...{ pack: id, name, creditsMicros, bonusMicros },
  ...{ amount: price.amount, currency: price.currency },
  ...(price.validDays !== undefined && { validDays: price.validDays }),
  buyUrl: `${url}${CREDITS_PATH}?pack=${id}`,
})

/** The missing amount in whole credits, within the bounds; nothing if it is beyond them. */
const offerOfCredits = (customAmount: CustomAmount, missingMicros: number, url: string): CreditsOffer[] => {
  const { minCreditsMicros, maxCreditsMicros, currency, validDays } = customAmount
  if (missingMicros > maxCreditsMicros) return []
  const wholeMicros = toMicros(Math.ceil(fromMicros(missingMicros)))
  const creditsMicros = Math.min(Math.max(wholeMicros, minCreditsMicros), maxCreditsMicros)
  const credits = fromMicros(creditsMicros)
  const offer = {
    ...{ name: `${credits} credits`, creditsMicros, bonusMicros: 0 },
    ...{ amount: priceOfCredits(customAmount, creditsMicros), currency },
    ...(validDays !== undefined && { validDays }),
    buyUrl: `${url}${CREDITS_PATH}?credits=${credits}`,
  }
  return [offer]
}
