import type { FamilyFault } from '../domain/catalog/validity.ts'

/** The words of a fault in a family. */
export const describeFamilyFault = (fault: FamilyFault): string => {
  const { id } = fault
  switch (fault.code) {
    case 'name_taken':
      return `${id}: the name ${fault.name} belongs to another family`
    case 'kind_repeated':
      return `${id} has two endpoints of one kind`
    case 'id_mismatch':
      return `${id}: the id must be ${fault.expectedId}`
    case 'parameter_unknown':
      return `${id}: the price depends on ${fault.parameter}, which is not a parameter`
    case 'quantity_uncountable':
      return `${id}: ${fault.parameter} is a quantity and so needs a minimum above 0, a maximum, and whole millionths`
    case 'values_not_listed':
      return `${id}: ${fault.parameter} has multipliers and so needs an enum`
    case 'multiplier_missing':
      return `${id}: ${fault.parameter} ${fault.value} has no multiplier`
  }
}
