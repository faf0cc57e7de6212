import { accountOf } from '../schemas/recorded.ts'
import type { BalanceRow } from '../schemas/views.ts'
import type { Projection } from './projection.ts'

/** What each account has, beside the sums of its grants, debits and refunds. */
export const balance: Projection<'balance'> = {
  view: 'balance',
  keys: event => {
    const accountId = accountOf(event)
    const moves = event.type === 'AccountOpened' || event.type.startsWith('Credits')
    return accountId && moves ? [accountId] : []
  },
  evolve: (row = empty, event) => {
    switch (event.type) {
      case 'CreditsGranted':
        return { ...row, ...after(event), grantedMicros: row.grantedMicros + event.data.amountMicros }
      case 'CreditsDebited':
        return { ...row, ...after(event), debitedMicros: row.debitedMicros + event.data.amountMicros }
      case 'CreditsRefunded':
        return { ...row, ...after(event), refundedMicros: row.refundedMicros + event.data.amountMicros }
      default:
        return row
    }
  },
  indexes: {},
}

const empty: BalanceRow = { balanceMicros: 0, grantedMicros: 0, debitedMicros: 0, refundedMicros: 0 }

const after = (event: { data: { balanceAfterMicros: number } }) => ({ balanceMicros: event.data.balanceAfterMicros })
