import type { PacksFault } from '../../domain/catalog/packs.ts'
import { fromMicros } from '../../domain/money.ts'
import type { SaleRefusals } from '../../domain/refusal.ts'
import type { RefusalTable } from './refusal-table.ts'

export const sale = {
  packs_unchanged: { api: 'invalid_request', message: () => 'The price list is already published in this form.' },
  packs_invalid: {
    api: 'invalid_request',
    message: ({ fault }) => `The price list is not valid: ${describePacksFault(fault)}.`,
  },
  nothing_for_sale: {
    api: 'invalid_request',
    message: () => 'This service sells no credits. Ask its operator for credits.',
  },
  pack_unknown: {
    api: 'invalid_request',
    message: ({ pack, known }) => `There is no pack ${JSON.stringify(pack)}. The packs for sale are: ${listOf(known)}.`,
    details: ({ known }) => ({ errors: [{ path: '/pack', message: `must be one of ${listOf(known)}` }] }),
  },
  amount_out_of_bounds: {
    api: 'invalid_request',
    message: ({ bounds, known }) =>
      bounds === undefined
        ? `Credits are for sale only in packs: ${listOf(known)}. Name one as pack.`
        : `Credits are for sale in amounts ${rangeOf(bounds)}, with at most six decimals.`,
    details: ({ bounds }) => ({
      errors: [
        {
          path: '/credits',
          message: bounds === undefined ? 'is not for sale; name a pack' : `must be a number ${rangeOf(bounds)}`,
        },
      ],
    }),
  },
} satisfies RefusalTable<SaleRefusals>

const listOf = (known: readonly string[]) => known.join(', ') || 'none'

const rangeOf = ({ minMicros, maxMicros }: { minMicros: number; maxMicros: number }) =>
  `from ${fromMicros(minMicros)} to ${fromMicros(maxMicros)}`

/** What is wrong with a price list, and where. */
export const describePacksFault = (fault: PacksFault): string => `${fault.path} ${ruleOf(fault)}`

const ruleOf = (fault: PacksFault): string => {
  switch (fault.code) {
    case 'id_repeated':
      return 'is the id of another pack too'
    case 'currency_unknown':
      return 'must be the code of a currency in use, such as EUR'
    case 'decimals_wrong':
      return fault.decimals === 0 ? 'must have no decimals' : `must have ${fault.decimals} decimals`
    case 'amount_zero':
      return 'must be more than 0'
    case 'amount_inexact':
      return 'must end in 0 (in MGA, in 00), because payment services charge this currency in larger units'
    case 'bounds_reversed':
      return 'must not be less than minCreditsMicros'
    case 'price_too_high':
      return 'makes a price of more than twelve digits'
  }
}
