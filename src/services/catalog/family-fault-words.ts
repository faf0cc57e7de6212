import type { FamilyFault } from '../../domain/catalog/validity.ts'

/** The words of a fault in a family. */
export const describeFamilyFault = (fault: FamilyFault): string => {
  const { id } = fault
  switch (fault.code) {
    case 'text_ill_formed':
      return `${id}: the text at ${fault.path} is not well-formed Unicode`
    case 'schema_unusable':
      return `${id}: the schema ${fault.reason}`
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
    case 'values_not_scalar':
      return `${id}: ${fault.parameter} has multipliers, so its values must be texts, numbers or booleans`
    case 'multiplier_missing':
      return `${id}: ${fault.parameter} ${fault.value} has no multiplier`
    case 'quantity_inexact':
      return `${id}: the numbers of ${fault.parameter} must be whole millionths up to ${fault.maximum}`
    case 'price_unbounded':
      return `${id}: ${fault.parameter} affects the price and so needs an enum, bounds or the type boolean`
    case 'price_combinations':
      return `${id}: the parameters that affect its price have more than ${fault.limit} combinations of values`
    case 'price_too_high':
      return `${id}: its highest price is too large to represent exactly`
  }
}
