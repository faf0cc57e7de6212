import { fromJS, Map as ImmutableMap, Set as ImmutableSet, is } from 'immutable'
import type { Family } from '../../../schemas/catalog.ts'
import type { CatalogEvent } from '../../../schemas/catalog-events.ts'
import { accept, type Decider, type Decision, refuse, unreachable } from '../decider.ts'
import { findFault } from './validity.ts'

/** `byHand` says that the operator wants it, and not the start of a version that ships other families. */
export type CatalogCommand =
  | { type: 'PublishFamily'; family: Family; byHand?: true }
  | { type: 'ReviseFamily'; family: Family; byHand?: true }
  | { type: 'WithdrawFamily'; familyId: string; byHand?: true }

export interface CatalogState {
  /** The families on offer, by id. */
  families: ImmutableMap<string, Family>
  /** The ids of families that the operator has published, revised or withdrawn by hand. */
  byHand: ImmutableSet<string>
}

const initial: CatalogState = { families: ImmutableMap(), byHand: ImmutableSet() }

const decide = (command: CatalogCommand, state: CatalogState): Decision<CatalogEvent> => {
  const { families } = state
  const hand = command.byHand ? { byHand: command.byHand } : {}
  switch (command.type) {
    case 'PublishFamily':
      if (families.has(command.family.id)) return refuse('family_exists')
      return ifValid(command.family, families, { type: 'FamilyPublished', data: { family: command.family, ...hand } })
    case 'ReviseFamily':
      if (!families.has(command.family.id)) return refuse('family_not_found')
      if (!differs(state, command.family, command.byHand)) return refuse('family_unchanged')
      return ifValid(command.family, families, { type: 'FamilyRevised', data: { family: command.family, ...hand } })
    case 'WithdrawFamily':
      if (!families.has(command.familyId)) return refuse('family_not_found')
      return accept([{ type: 'FamilyWithdrawn', data: { familyId: command.familyId, ...hand } }])
    default:
      return unreachable(command)
  }
}

const evolve = ({ families, byHand }: CatalogState, event: CatalogEvent): CatalogState => {
  const note = (id: string) => (event.data.byHand ? byHand.add(id) : byHand.delete(id))
  switch (event.type) {
    case 'FamilyPublished':
    case 'FamilyRevised': {
      const { family } = event.data
      return { families: families.set(family.id, family), byHand: note(family.id) }
    }
    case 'FamilyWithdrawn': {
      const { familyId } = event.data
      return { families: families.delete(familyId), byHand: note(familyId) }
    }
    default:
      return unreachable(event)
  }
}

export const catalog: Decider<CatalogCommand, CatalogState, CatalogEvent> = { initial, decide, evolve }

/**
 * The commands that turn what is published into what is shipped; none where nothing differs. What the operator did by hand
 * stays, unless `takeBack` says that it is to be undone.
 */
export const differences = (
  state: CatalogState,
  shipped: Family[],
  { takeBack = false }: { takeBack?: boolean } = {},
): CatalogCommand[] => {
  const isOurs = (id: string) => takeBack || !state.byHand.has(id)
  const ids = new Set(shipped.map(family => family.id))
  const changed = shipped.filter(family => isOurs(family.id) && differs(state, family))
  const gone = [...state.families.keys()].filter(id => isOurs(id) && !ids.has(id))
  return [
    // What goes comes first, since something new may take its name.
    ...gone.map((familyId): CatalogCommand => ({ type: 'WithdrawFamily', familyId })),
    ...changed.map((family): CatalogCommand => putting(state, family)),
  ]
}

/** The commands that put the operator's own families on offer, each in the place of the one of its name. */
export const putByHand = (state: CatalogState, families: Family[]): CatalogCommand[] =>
  families.map(family => ({ ...putting(state, family), byHand: true }))

const putting = (state: CatalogState, family: Family) => ({
  type: state.families.has(family.id) ? ('ReviseFamily' as const) : ('PublishFamily' as const),
  family,
})

/** Whether a family is published in another form than this, or by the other hand. */
const differs = ({ families, byHand }: CatalogState, family: Family, isByHand = false): boolean =>
  byHand.has(family.id) !== isByHand || !is(fromJS(families.get(family.id)), fromJS(family))

const ifValid = (family: Family, families: CatalogState['families'], event: CatalogEvent): Decision<CatalogEvent> => {
  const message = findFault(family, [...families.delete(family.id).values()])
  return message ? refuse('family_invalid', { message }) : accept([event])
}
