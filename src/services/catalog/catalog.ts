import type { Actor } from '../../../schemas/actor.ts'
import type { Family, Kind, Mode } from '../../../schemas/catalog.ts'
import type { CatalogEvent, FamilyEvent } from '../../../schemas/catalog-events.ts'
import { CATALOG_STREAM } from '../../../schemas/events.ts'
import type { Recorded } from '../../../schemas/recorded.ts'
import { type CatalogState, commandsToShip, type FamilyCommand, putByHand } from '../../domain/catalog/catalog.ts'
import { namesOf } from '../../domain/catalog/family.ts'
import { refuse } from '../../domain/refusal.ts'
import type { EventLog } from '../../ports/event-log.ts'
import { type Answer, answer } from '../answer.ts'
import type { Caller } from '../caller.ts'
import { eventCodec } from '../event-codec.ts'
import type { Offer, Offers } from './offers.ts'
import type { PublishedCatalog } from './published-catalog.ts'

interface Dependencies {
  offers: Offers
  publishedCatalog: PublishedCatalog
  log: Pick<EventLog, 'readStream'>
  /** The families that ship with this version. */
  shipped: Family[]
}

/** The families to list; all if there is no filter. */
interface CatalogFilters {
  /** One family by any of its names. The request is refused if the caller cannot see the family. */
  model?: string
  output_type?: Family['outputType']
  kind?: Kind
  mode?: Mode
  /** Text in the family's id, name, aliases or descriptions. */
  query?: string
}

/** An event of a family. A withdrawal has no family. */
export interface FamilyRevision {
  type: FamilyEvent['type']
  family: Family | undefined
  revision: number
  at: string
  actor: Actor
}

/** The published catalog, and commands that would change it. */
interface CatalogChanges {
  state: CatalogState
  commands: FamilyCommand[]
}

/** Shows the families on offer, and lets operators change them. */
export class Catalog {
  readonly #dependencies: Dependencies

  readonly permissions = {
    list: 'read',
    export: 'operate',
    history: 'operate',
    compare: 'operate',
    publish: 'operate',
    withdraw: 'operate',
  } as const

  constructor(dependencies: Dependencies) {
    this.#dependencies = dependencies
  }

  /**
   * The families that the caller may see, in order of publication. A restricted key sees only its models. Callers
   * without an account also see test families.
   */
  async list(caller: Caller, { model, ...filters }: CatalogFilters = {}): Promise<Answer<Offer[]>> {
    const { offers } = this.#dependencies
    const tester = !('accountId' in caller) || (await offers.isTester(caller))
    const visible = await offers.list(tester)
    const named = visible.filter(({ family }) => model === undefined || namesOf(family).includes(model))
    if (model !== undefined && named.length === 0)
      return refuse('model_not_listed', { model, replacedBy: await offers.replacementOf(model, tester) })
    const models = await offers.modelsOf(caller)
    const allowed = models ? named.flatMap(offer => narrowed(offer, models)) : named
    if (models && model !== undefined && allowed.length === 0)
      return refuse('model_not_allowed', { endpoint: model, models })
    return answer(allowed.filter(offer => matches(offer, filters)))
  }

  /** The published families in the form that operators edit: all, or the family with the given ID. */
  async export(_caller: Caller, familyId?: string): Promise<Answer<Family[]>> {
    const { families } = await this.#dependencies.publishedCatalog.state()
    if (familyId === undefined) return answer([...families.values()])
    const family = families.get(familyId)
    return family ? answer([family]) : refuse('family_not_found')
  }

  /** The revisions of a family in the log, the newest first. The stream of the catalog is short. */
  async history(_caller: Caller, familyId: string): Promise<Answer<FamilyRevision[]>> {
    const found: FamilyRevision[] = []
    for await (const page of this.#dependencies.log.readStream(CATALOG_STREAM, 0))
      for (const raw of page) {
        const event = eventCodec.decode(raw) as Recorded<CatalogEvent>
        if (event.type === 'PacksPublished') continue
        const { type, data, revision, metadata } = event
        const id = 'family' in data ? data.family.id : data.familyId
        if (id !== familyId) continue
        const family = 'family' in data ? data.family : undefined
        found.push({ type, family, revision, at: metadata.at, actor: metadata.actor as Actor })
      }
    return found.length > 0 ? answer(found.reverse()) : refuse('family_not_found')
  }

  /** The changes that `publish` would make. */
  async compare(_caller: Caller, families?: Family[]): Promise<Answer<CatalogChanges>> {
    const state = await this.#dependencies.publishedCatalog.state()
    return answer({ state, commands: this.#commands(state, families) })
  }

  /**
   * Publishes the operator's families or, without any, restores the shipped catalog. Returns the changes. Refuses a
   * family that has changed after the revision that the operator has seen, if that is given.
   */
  async publish(caller: Caller, families?: Family[], after?: number): Promise<Answer<FamilyCommand[]>> {
    return this.#apply(caller, this.#commands(await this.#dependencies.publishedCatalog.state(), families, after))
  }

  /** Withdraws a family until the shipped catalog is published again. Returns the changes. */
  withdraw(caller: Caller, familyId: string): Promise<Answer<FamilyCommand[]>> {
    return this.#apply(caller, [{ type: 'WithdrawFamily', familyId, byHand: true }])
  }

  #commands(state: CatalogState, families: Family[] | undefined, after?: number): FamilyCommand[] {
    return families
      ? putByHand(state, families, after)
      : commandsToShip(state, this.#dependencies.shipped, { revertByHand: true })
  }

  async #apply(caller: Caller, commands: FamilyCommand[]): Promise<Answer<FamilyCommand[]>> {
    const outcome = await this.#dependencies.publishedCatalog.apply(caller, commands)
    return 'refuse' in outcome ? outcome : answer(outcome.value.applied)
  }
}

/** An offer, reduced to the endpoints that a key may run; nothing if the key may run none. */
const narrowed = (offer: Offer, models: string[]): Offer[] => {
  const { family } = offer
  if (models.includes(family.id)) return [offer]
  const endpoints = family.endpoints.filter(({ id }) => models.includes(id))
  return endpoints.length > 0 ? [{ ...offer, family: { ...family, endpoints } }] : []
}

const matches = (
  { family: { id, name, aliases, outputType, endpoints } }: Offer,
  { output_type, kind, mode, query = '' }: Omit<CatalogFilters, 'model'>,
): boolean =>
  (output_type === undefined || outputType === output_type) &&
  endpoints.some(each => (kind === undefined || each.kind === kind) && (mode === undefined || each.mode === mode)) &&
  [id, name, ...aliases, ...endpoints.map(each => each.description)].some(text =>
    text.toLowerCase().includes(query.toLowerCase()),
  )

/** Information from which programs learn how to use the service. All callers get the same. */
export class Descriptors {
  readonly #offers: Offers

  /** A setting decides whether reading the families needs a key. The routes know the setting. */
  readonly permissions = { families: 'describe', protocol: 'read' } as const

  constructor(offers: Offers) {
    this.#offers = offers
  }

  /** The families that are open to every account, for descriptions of the service. */
  async families(_caller: Caller): Promise<Answer<Offer[]>> {
    return answer(await this.#offers.list(false))
  }

  /** Allows a caller to read the description of a protocol, such as the list of MCP tools. */
  async protocol(_caller: Caller): Promise<Answer<undefined>> {
    return answer(undefined)
  }
}
