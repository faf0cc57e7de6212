import type { Fault } from '../../../schemas/api/error.ts'
import type { Endpoint, Family, FamilyStatus } from '../../../schemas/catalog.ts'
import type { CatalogState } from '../../domain/catalog/catalog.ts'
import { isReplacedBy, namesOf, statusOf, visibleTo } from '../../domain/catalog/family.ts'
import type { AccountMailboxes } from '../accounts/account-mailboxes.ts'
import { type AccountCaller, type Caller, modeOf } from '../caller.ts'
import { type Check, compileFillingCheck } from '../schema-check.ts'
import type { PublishedCatalog } from './published-catalog.ts'

/** A family as the caller sees it, with the catalog revision that published it. */
export interface Offer {
  family: Family
  status: FamilyStatus
  revision: number
}

/** The families on offer, read from their stream. */
export class Offers {
  readonly #published: PublishedCatalog
  readonly #accounts: AccountMailboxes
  readonly #checks = new WeakMap<Endpoint, Check>()
  /** Computed once per state, so that presenters and validators can cache results by identity. */
  readonly #lists = new WeakMap<CatalogState, Record<'testers' | 'public', Offer[]>>()
  readonly #byName = new WeakMap<Offer[], Map<string, Offer>>()

  constructor(published: PublishedCatalog, accounts: AccountMailboxes) {
    this.#published = published
    this.#accounts = accounts
  }

  /** The families that a caller may see, in order of publication. */
  async listFor(caller: AccountCaller): Promise<Offer[]> {
    return this.list(await this.isTester(caller))
  }

  /** The IDs of the families and endpoints to which the caller's key is restricted; undefined for all. */
  async modelsOf(caller: Caller): Promise<string[] | undefined> {
    if (caller.kind !== 'key') return undefined
    return (await this.#accounts.recentState(caller.accountId)).activeKeys.get(caller.keyId)?.models
  }

  /** Whether a caller may use test families. Test keys may, since some of these families fail on request. */
  async isTester(caller: AccountCaller): Promise<boolean> {
    return modeOf(caller).livemode === false || (await this.#accounts.recentState(caller.accountId)).tester
  }

  /** The families for testers, or for all others. */
  async list(tester: boolean): Promise<Offer[]> {
    const state = await this.#published.recentState()
    let lists = this.#lists.get(state)
    if (!lists) {
      lists = { testers: offersOf(state, true), public: offersOf(state, false) }
      this.#lists.set(state, lists)
    }
    return tester ? lists.testers : lists.public
  }

  /** The family to which a model name refers; undefined if there is none. */
  async find(model: string, tester: boolean): Promise<Offer | undefined> {
    const offers = await this.list(tester)
    let byName = this.#byName.get(offers)
    if (!byName) {
      byName = new Map(offers.flatMap(offer => namesOf(offer.family).map(name => [name, offer])))
      this.#byName.set(offers, byName)
    }
    return byName.get(model)
  }

  /** The ID of the family that replaces a withdrawn family; undefined if there is none. */
  async replacementOf(model: string, tester: boolean): Promise<string | undefined> {
    return (await this.list(tester)).find(({ family }) => isReplacedBy(model, family))?.family.id
  }

  /** Fills the endpoint's defaults into an input, and returns the faults of the input. */
  fill(endpoint: Endpoint, input: Record<string, unknown>): Fault[] {
    let check = this.#checks.get(endpoint)
    if (!check) {
      check = compileFillingCheck(endpoint.parametersSchema)
      this.#checks.set(endpoint, check)
    }
    return check(input)
  }
}

const offersOf = ({ families, revisions }: CatalogState, tester: boolean): Offer[] =>
  [...families.values()].flatMap(family => {
    const visible = visibleTo(family, tester)
    return visible ? [{ family: visible, status: statusOf(family), revision: revisions.get(family.id) as number }] : []
  })
