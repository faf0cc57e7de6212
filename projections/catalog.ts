import type { Projection } from './projection.ts'

/** The families on offer, in the order in which they were first published. */
export const catalog: Projection<'catalog'> = {
  view: 'catalog',
  keys: event => {
    switch (event.type) {
      case 'FamilyPublished':
      case 'FamilyRevised':
        return [event.data.family.id]
      case 'FamilyWithdrawn':
        return [event.data.familyId]
      default:
        return []
    }
  },
  evolve: (row, event) => {
    switch (event.type) {
      case 'FamilyPublished':
      case 'FamilyRevised':
        return {
          family: event.data.family,
          revision: event.revision,
          firstRevision: row?.firstRevision ?? event.revision,
        }
      case 'FamilyWithdrawn':
        return undefined
      default:
        return row
    }
  },
  indexes: { byAge: row => String(row.firstRevision).padStart(9, '0') },
}
