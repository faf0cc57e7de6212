import type { AccountEvent, GrantKind } from '../../../schemas/account-events.ts'
import { Contradiction } from '../decider.ts'
import { debitNotices } from './notices.ts'
import type { AccountState, Claim } from './state.ts'

/** Credits that have just come to a lot. */
export interface Added {
  lot: number
  amountMicros: number
  kind: GrantKind
}

/**
 * What credits that have just come pay of those that the account owes, the oldest debt first: they are withdrawn from
 * their lot in the same append. `balanceMicros` is the balance with them.
 */
export const settledBy = (state: AccountState, added: readonly Added[], balanceMicros: number): AccountEvent[] => {
  const events: AccountEvent[] = []
  const debts = claimsOf(state).map(claim => ({ ...claim }))
  let balanceAfterMicros = balanceMicros
  let owedAfterMicros = state.owedMicros
  for (const { lot, amountMicros: addedMicros, kind } of added) {
    let leftMicros = addedMicros
    for (const debt of debts) {
      const amountMicros = Math.min(debt.owedMicros, leftMicros)
      if (amountMicros === 0) continue
      const { claimId } = debt
      debt.owedMicros -= amountMicros
      debt.settledMicros += amountMicros
      leftMicros -= amountMicros
      owedAfterMicros -= amountMicros
      balanceAfterMicros -= amountMicros
      const reference = `${claimId} settled to ${debt.settledMicros}`
      events.push(...withdrawn(state, { amountMicros, balanceAfterMicros, kind, lot }, reference, SETTLED))
      events.push({ type: 'CreditsSettled', data: { claimId, amountMicros, owedAfterMicros } })
    }
  }
  return events
}

const SETTLED = 'pays credits that were used and not paid for'

interface Withdrawal {
  amountMicros: number
  balanceAfterMicros: number
  kind: GrantKind
  lot: number
}

/** A withdrawal from a lot, with the notice that it calls for. */
export const withdrawn = (
  state: AccountState,
  moved: Withdrawal,
  reference: string,
  reason: string,
): AccountEvent[] => {
  const { amountMicros, balanceAfterMicros } = moved
  const before = { ...state, balanceMicros: balanceAfterMicros + amountMicros }
  return [
    { type: 'CreditsWithdrawn', data: { ...moved, reference, reason } },
    ...debitNotices({ amountMicros }, before),
  ]
}

/** The state after credits of a claim are owed, or no longer owed. Throws a Contradiction if they do not add up. */
export const changeDebt = (
  state: AccountState,
  { claimId, amountMicros, owedAfterMicros }: { claimId: string; amountMicros: number; owedAfterMicros: number },
  sign: 1 | -1,
): AccountState => {
  const owedMicros = state.owedMicros + sign * amountMicros
  if (owedMicros !== owedAfterMicros || owedMicros < 0)
    throw new Contradiction(`${state.owedMicros} ${sign > 0 ? '+' : '-'} ${amountMicros} is not ${owedAfterMicros}`)
  const purchases = state.purchases.map(purchase => {
    if (!purchase.claims.some(claim => claim.claimId === claimId)) return purchase
    const claims = purchase.claims.map(claim => (claim.claimId === claimId ? owing(claim, sign * amountMicros) : claim))
    return { ...purchase, claims }
  })
  return { ...state, owedMicros, purchases }
}

const owing = (claim: Claim, byMicros: number): Claim => ({
  ...claim,
  owedMicros: claim.owedMicros + byMicros,
  settledMicros: claim.settledMicros + (byMicros < 0 ? 0 - byMicros : 0),
})

const claimsOf = ({ purchases, owedMicros }: AccountState): Claim[] =>
  owedMicros === 0 ? [] : [...purchases.values()].flatMap(({ claims }) => claims.filter(claim => claim.owedMicros > 0))
