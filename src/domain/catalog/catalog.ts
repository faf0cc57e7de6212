import { fromJS, Map as ImmutableMap, is } from 'immutable'
import type { Family } from '../../../schemas/catalog.ts'
import type { CatalogEvent } from '../../../schemas/catalog-events.ts'
import { accept, type Decider, type Decision, refuse, unreachable } from '../decider.ts'
import { findFault } from './validity.ts'

export type CatalogCommand =
  | { type: 'PublishFamily'; family: Family }
  | { type: 'ReviseFamily'; family: Family }
  | { type: 'WithdrawFamily'; familyId: string }

/** The families on offer, by id. */
export type CatalogState = ImmutableMap<string, Family>

const decide = (command: CatalogCommand, families: CatalogState): Decision<CatalogEvent> => {
  switch (command.type) {
    case 'PublishFamily':
      if (families.has(command.family.id)) return refuse('family_exists')
      return ifValid(command.family, families, { type: 'FamilyPublished', data: { family: command.family } })
    case 'ReviseFamily':
      if (!families.has(command.family.id)) return refuse('family_not_found')
      if (sameFamily(families.get(command.family.id), command.family)) return refuse('family_unchanged')
      return ifValid(command.family, families, { type: 'FamilyRevised', data: { family: command.family } })
    case 'WithdrawFamily':
      if (!families.has(command.familyId)) return refuse('family_not_found')
      return accept([{ type: 'FamilyWithdrawn', data: { familyId: command.familyId } }])
    default:
      return unreachable(command)
  }
}

const evolve = (families: CatalogState, event: CatalogEvent): CatalogState => {
  switch (event.type) {
    case 'FamilyPublished':
    case 'FamilyRevised':
      return families.set(event.data.family.id, event.data.family)
    case 'FamilyWithdrawn':
      return families.delete(event.data.familyId)
    default:
      return unreachable(event)
  }
}

export const catalog: Decider<CatalogCommand, CatalogState, CatalogEvent> = { initial: ImmutableMap(), decide, evolve }

/** The commands that turn what is published into what is shipped; none where nothing differs. */
export const differences = (published: CatalogState, shipped: Family[]): CatalogCommand[] =>
  shipped
    .filter(family => !sameFamily(published.get(family.id), family))
    .map(family => ({ type: published.has(family.id) ? 'ReviseFamily' : 'PublishFamily', family }))

const ifValid = (family: Family, families: CatalogState, event: CatalogEvent): Decision<CatalogEvent> => {
  const message = findFault(family, [...families.delete(family.id).values()])
  return message ? refuse('family_invalid', { message }) : accept([event])
}

/** Equal as JSON, whatever the order of the fields. */
const sameFamily = (left: Family | undefined, right: Family): boolean => is(fromJS(left), fromJS(right))
