import { accountOf } from '../schemas/events.ts'
import type { BalanceRow } from '../schemas/views.ts'
import { projection } from './define.ts'

/** The balance of each account, and the sums of its grants, withdrawals, debits, refunds, releases and expiries. */
export const balance = projection({
  view: 'balance',
  version: 4,
  key: accountOf,
  on: {
    AccountOpened: (row = empty) => row,
    CreditsGranted: (row = empty, { data }) => ({
      ...row,
      balanceMicros: data.balanceAfterMicros,
      grantedMicros: row.grantedMicros + data.amountMicros,
    }),
    CreditsWithdrawn: (row = empty, { data }) => ({
      ...row,
      balanceMicros: data.balanceAfterMicros,
      withdrawnMicros: row.withdrawnMicros + data.amountMicros,
    }),
    CreditsDebited: (row = empty, { data }) => ({
      ...row,
      balanceMicros: data.balanceAfterMicros,
      debitedMicros: row.debitedMicros + data.amountMicros,
    }),
    CreditsRefunded: (row = empty, { data }) => ({
      ...row,
      balanceMicros: data.balanceAfterMicros,
      refundedMicros: row.refundedMicros + data.amountMicros,
    }),
    CreditsReleased: (row = empty, { data }) => ({
      ...row,
      balanceMicros: data.balanceAfterMicros,
      releasedMicros: row.releasedMicros + data.amountMicros,
    }),
    CreditsExpired: (row = empty, { data }) => ({
      ...row,
      balanceMicros: data.balanceAfterMicros,
      expiredMicros: row.expiredMicros + data.amountMicros,
    }),
  },
})

const empty: BalanceRow = {
  balanceMicros: 0,
  grantedMicros: 0,
  withdrawnMicros: 0,
  debitedMicros: 0,
  refundedMicros: 0,
  releasedMicros: 0,
  expiredMicros: 0,
}
