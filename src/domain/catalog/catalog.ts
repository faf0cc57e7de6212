import { fromJS, Map as ImmutableMap, Set as ImmutableSet, is, OrderedMap } from 'immutable'
import type { Family } from '../../../schemas/catalog.ts'
import type { CatalogEvent } from '../../../schemas/catalog-events.ts'
import type { PriceList } from '../../../schemas/packs.ts'
import { accept, type Decider, type PastEvent, unreachable } from '../decider.ts'
import { type Decided, type Refusal, refuse } from '../refusal.ts'
import { findPacksFault, listOf, type PublishedPacks, packsDiffer } from './packs.ts'
import { findFault } from './validity.ts'

/**
 * `byHand` marks a change by the operator. All other changes come from a new shipped catalog, or from another price
 * list in the configuration, at the start of the service.
 */
export type CatalogCommand = FamilyCommand | PublishPacks

export interface PublishPacks extends PriceList {
  type: 'PublishPacks'
  byHand?: true
}

export type FamilyCommand =
  | { type: 'PublishFamily'; family: Family; byHand?: true }
  /** Only if the last change of the family is still the event at the revision `after`, which the operator has seen. */
  | { type: 'ReviseFamily'; family: Family; byHand?: true; after?: number }
  | { type: 'WithdrawFamily'; familyId: string; byHand?: true }

export interface CatalogState {
  /** The families on offer, by id, in the order in which they were first published. */
  families: OrderedMap<string, Family>
  /** The revision of the event that last changed each family. */
  revisions: ImmutableMap<string, number>
  /** The ids of families that the operator has published, revised or withdrawn by hand. */
  byHand: ImmutableSet<string>
  /** The price list of credits; undefined before the first. */
  packs: PublishedPacks | undefined
}

const initial: CatalogState = {
  families: OrderedMap(),
  revisions: ImmutableMap(),
  byHand: ImmutableSet(),
  packs: undefined,
}

const decide = (command: CatalogCommand, state: CatalogState): Decided<CatalogEvent> => {
  const { families } = state
  const hand = command.byHand ? { byHand: command.byHand } : {}
  switch (command.type) {
    case 'PublishFamily':
      if (families.has(command.family.id)) return refuse('family_exists')
      return ifValid(command.family, families, { type: 'FamilyPublished', data: { family: command.family, ...hand } })
    case 'ReviseFamily':
      if (!families.has(command.family.id)) return refuse('family_not_found')
      if (!differs(state, command.family, command.byHand)) return refuse('family_unchanged')
      if (command.after !== undefined && command.after !== state.revisions.get(command.family.id))
        return refuse('family_changed')
      return ifValid(command.family, families, { type: 'FamilyRevised', data: { family: command.family, ...hand } })
    case 'WithdrawFamily':
      if (!families.has(command.familyId)) return refuse('family_not_found')
      return accept([{ type: 'FamilyWithdrawn', data: { familyId: command.familyId, ...hand } }])
    case 'PublishPacks': {
      if (!packsDiffer(state.packs, command, command.byHand)) return refuse('packs_unchanged')
      const fault = findPacksFault(command)
      if (fault) return refuse('packs_invalid', { fault })
      return accept([{ type: 'PacksPublished', data: { ...listOf(command), ...hand } }])
    }
    default:
      return unreachable(command)
  }
}

const evolve = (state: CatalogState, event: PastEvent<CatalogEvent>): CatalogState => {
  const { families, revisions, byHand } = state
  const note = (id: string) => (event.data.byHand ? byHand.add(id) : byHand.delete(id))
  switch (event.type) {
    case 'FamilyPublished':
    case 'FamilyRevised': {
      const { family } = event.data
      return {
        ...state,
        families: families.set(family.id, family),
        revisions: revisions.set(family.id, event.revision),
        byHand: note(family.id),
      }
    }
    case 'FamilyWithdrawn': {
      const { familyId } = event.data
      return {
        ...state,
        families: families.delete(familyId),
        revisions: revisions.delete(familyId),
        byHand: note(familyId),
      }
    }
    case 'PacksPublished': {
      const { byHand: isByHand = false, ...list } = event.data
      return { ...state, packs: { ...list, revision: event.revision, byHand: isByHand } }
    }
    default:
      return unreachable(event)
  }
}

export const catalog: Decider<CatalogCommand, CatalogState, CatalogEvent, Refusal> = { initial, decide, evolve }

/**
 * The commands that turn the published catalog into the shipped one; none if they are equal. The operator's own changes
 * stay, unless `revertByHand` reverts them.
 */
export const commandsToShip = (
  state: CatalogState,
  shipped: Family[],
  { revertByHand = false }: { revertByHand?: boolean } = {},
): FamilyCommand[] => {
  const isOurs = (id: string) => revertByHand || !state.byHand.has(id)
  const ids = new Set(shipped.map(family => family.id))
  const changed = shipped.filter(family => isOurs(family.id) && differs(state, family))
  const gone = [...state.families.keys()].filter(id => isOurs(id) && !ids.has(id))
  return [
    // Withdrawals come first, since a new family may take a freed name.
    ...gone.map((familyId): FamilyCommand => ({ type: 'WithdrawFamily', familyId })),
    ...changed.map((family): FamilyCommand => publishOrRevise(state, family)),
  ]
}

/** The commands that publish the operator's own families, or revise families with the same ID. */
export const putByHand = (state: CatalogState, families: Family[], after?: number): FamilyCommand[] =>
  families.map(family => ({
    ...{ ...publishOrRevise(state, family), byHand: true },
    ...(after !== undefined && { after }),
  }))

const publishOrRevise = (state: CatalogState, family: Family) => ({
  type: state.families.has(family.id) ? ('ReviseFamily' as const) : ('PublishFamily' as const),
  family,
})

/** Whether the published family differs from this one, or only one of the two was published by hand. */
const differs = ({ families, byHand }: CatalogState, family: Family, isByHand = false): boolean => {
  const published = families.get(family.id)
  return !published || byHand.has(family.id) !== isByHand || !is(fromJS(published), fromJS(family))
}

const ifValid = (family: Family, families: CatalogState['families'], event: CatalogEvent): Decided<CatalogEvent> => {
  const fault = findFault(family, [...families.delete(family.id).values()])
  return fault ? refuse('family_invalid', { fault }) : accept([event])
}
