import type * as schemas from '../../../schemas/packs.ts'
import type { CatalogState, PublishPacks } from '../../domain/catalog/catalog.ts'
import { listOf, type PublishedPacks, packsDiffer, priceOfCredits } from '../../domain/catalog/packs.ts'
import { isWholeMicros, toMicros } from '../../domain/money.ts'
import { refuse } from '../../domain/refusal.ts'
import { type Answer, answer } from '../answer.ts'
import type { Caller } from '../caller.ts'
import type { PublishedCatalog } from '../catalog/published-catalog.ts'

interface Dependencies {
  publishedCatalog: PublishedCatalog
  /** The price list of the configuration. */
  configured: schemas.PriceList
}

/** What a buyer asks for. */
export type Wanted = { pack: string } | { credits: number }

/** The credits and the price of a purchase, with the revision of the catalog that has them. */
export interface SaleQuote {
  /** The ID of the pack; undefined for a custom amount. */
  pack: string | undefined
  name: string
  creditsMicros: number
  /** Free credits on top. */
  bonusMicros: number
  /** With the decimals of the currency. */
  amount: string
  currency: string
  /** Undefined if the credits do not expire. */
  validDays: number | undefined
  taxCode: string | undefined
  catalogRevision: number
}

/** Shows what credits cost, and lets operators change it. */
export class PriceList {
  readonly #dependencies: Dependencies

  readonly permissions = {
    packs: 'read',
    quote: 'read',
    compare: 'operate',
    publish: 'operate',
  } as const

  constructor(dependencies: Dependencies) {
    this.#dependencies = dependencies
  }

  /** All that is for sale. */
  async packs(_caller: Caller): Promise<Answer<schemas.PriceList>> {
    return answer(listOf(await this.#recent()))
  }

  /** The price of a pack, or of a custom amount of credits. */
  async quote(_caller: Caller, wanted: Wanted): Promise<Answer<SaleQuote>> {
    const list = await this.#recent()
    if (!list || isEmpty(list)) return refuse('nothing_for_sale')
    const known = list.packs.map(({ id }) => id)
    if ('pack' in wanted) {
      const pack = list.packs.find(({ id }) => id === wanted.pack)
      return pack ? answer(quoteOfPack(pack, list.revision)) : refuse('pack_unknown', { pack: wanted.pack, known })
    }
    const quote = quoteOfCredits(list, wanted.credits)
    return quote ? answer(quote) : refuse('amount_out_of_bounds', { bounds: boundsOf(list), known })
  }

  async #recent(): Promise<PublishedPacks | undefined> {
    return (await this.#dependencies.publishedCatalog.recentState()).packs
  }

  /** The published list, and the command that `publish` would execute; undefined if it would change nothing. */
  async compare(
    _caller: Caller,
    list?: schemas.PriceList,
  ): Promise<Answer<{ published: PublishedPacks | undefined; command: PublishPacks | undefined }>> {
    const state = await this.#dependencies.publishedCatalog.state()
    return answer({ published: state.packs, command: this.#commandFor(state, list) })
  }

  /**
   * Publishes the operator's price list or, without one, that of the configuration. Returns what has changed; undefined
   * if nothing has.
   */
  async publish(caller: Caller, list?: schemas.PriceList): Promise<Answer<PublishPacks | undefined>> {
    const { publishedCatalog } = this.#dependencies
    const command = this.#commandFor(await publishedCatalog.state(), list)
    const outcome = await publishedCatalog.apply(caller, command ? [command] : [])
    return 'refuse' in outcome ? outcome : answer(outcome.value.applied[0])
  }

  #commandFor({ packs }: CatalogState, list: schemas.PriceList | undefined): PublishPacks | undefined {
    const command: PublishPacks = {
      type: 'PublishPacks',
      ...listOf(list ?? this.#dependencies.configured),
      ...(list && { byHand: true }),
    }
    return packsDiffer(packs, command, command.byHand) ? command : undefined
  }
}

/** Publishes the price list of the configuration at a start, unless the operator has published one by hand. */
export const publishConfigured = async (published: PublishedCatalog, configured: schemas.PriceList): Promise<void> => {
  const { packs } = await published.state()
  if (packs?.byHand || !packsDiffer(packs, configured)) return
  const outcome = await published.apply({ kind: 'service' }, [{ type: 'PublishPacks', ...configured }])
  // The configuration was checked when it was read.
  if ('refuse' in outcome) throw new Error(`the price list is refused: ${outcome.refuse.code}`)
}

const isEmpty = ({ packs, customAmount }: schemas.PriceList): boolean => packs.length === 0 && !customAmount

const quoteOfPack = (pack: schemas.Pack, catalogRevision: number): SaleQuote => ({
  pack: pack.id,
  name: pack.name,
  creditsMicros: pack.creditsMicros,
  bonusMicros: pack.bonusMicros ?? 0,
  amount: pack.amount,
  currency: pack.currency,
  validDays: pack.validDays,
  taxCode: pack.taxCode,
  catalogRevision,
})

/** Undefined if the credits are not for sale. */
const quoteOfCredits = ({ customAmount, revision }: PublishedPacks, credits: number): SaleQuote | undefined => {
  const creditsMicros = isWholeMicros(credits) ? toMicros(credits) : 0
  if (!customAmount || creditsMicros < customAmount.minCreditsMicros || creditsMicros > customAmount.maxCreditsMicros)
    return undefined
  return {
    pack: undefined,
    name: `${credits} credits`,
    creditsMicros,
    bonusMicros: 0,
    amount: priceOfCredits(customAmount, creditsMicros),
    currency: customAmount.currency,
    validDays: customAmount.validDays,
    taxCode: customAmount.taxCode,
    catalogRevision: revision,
  }
}

const boundsOf = ({ customAmount }: schemas.PriceList) =>
  customAmount && { minMicros: customAmount.minCreditsMicros, maxMicros: customAmount.maxCreditsMicros }
