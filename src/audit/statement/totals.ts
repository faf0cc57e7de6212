import type { GrantKind } from '../../../schemas/account-events.ts'
import type { LedgerLine } from '../books.ts'
import type { Split } from '../lots.ts'

/** The sums of all lines of a statement. No sum is negative. */
export interface Totals {
  /** By kind, in order of first occurrence. */
  granted: Map<GrantKind, Split>
  withdrawn: Split
  charged: Split
  refunded: Split
  released: Split
  expired: Split
}

export const totalsOf = (lines: readonly LedgerLine[]): Totals => {
  const granted = new Map<GrantKind, Split>()
  const none = { withdrawn: NOTHING, charged: NOTHING, refunded: NOTHING, released: NOTHING, expired: NOTHING }
  const totals: Totals = { granted, ...none }
  for (const { kind, grantKind = 'courtesy', change } of lines)
    switch (kind) {
      case 'grant':
        granted.set(grantKind, plus(granted.get(grantKind) ?? NOTHING, change))
        break
      case 'withdrawal':
        totals.withdrawn = minus(totals.withdrawn, change)
        break
      case 'debit':
        totals.charged = minus(totals.charged, change)
        break
      case 'refund':
        totals.refunded = plus(totals.refunded, change)
        break
      case 'release':
        totals.released = plus(totals.released, change)
        break
      case 'expiry':
        totals.expired = minus(totals.expired, change)
    }
  return totals
}

/** The balance after the lines, given the balance before them. */
export const closingOf = (
  opening: Split,
  { granted, withdrawn, charged, refunded, released, expired }: Totals,
): Split => {
  const before = [...granted.values(), refunded, released].reduce(plus, opening)
  return [withdrawn, charged, expired].reduce(minus, before)
}

export const NOTHING: Split = { freeMicros: 0, paidMicros: 0 }

export const plus = (one: Split, other: Split): Split => ({
  freeMicros: one.freeMicros + other.freeMicros,
  paidMicros: one.paidMicros + other.paidMicros,
})

const minus = (one: Split, other: Split): Split => ({
  freeMicros: one.freeMicros - other.freeMicros,
  paidMicros: one.paidMicros - other.paidMicros,
})
