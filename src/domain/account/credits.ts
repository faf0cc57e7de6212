import type { AccountEvent } from '../../../schemas/account-events.ts'
import type { Receipt } from '../../../schemas/catalog.ts'
import type { RunId } from '../../../schemas/primitives.ts'
import { accept, type Decision, refuse } from '../decider.ts'
import type { AccountState } from './state.ts'

export const granted = (state: AccountState, amountMicros: number, reason: string): AccountEvent => ({
  type: 'CreditsGranted',
  data: { amountMicros, balanceAfterMicros: state.balanceMicros + amountMicros, reason },
})

export const debited = (state: AccountState, runId: RunId, receipt: Receipt): AccountEvent => {
  const amountMicros = receipt.totalMicros
  if (amountMicros > state.balanceMicros) throw new RangeError('a debit may not be more than the balance')
  return {
    type: 'CreditsDebited',
    data: { runId, amountMicros, balanceAfterMicros: state.balanceMicros - amountMicros, receipt },
  }
}

export const refunded = (state: AccountState, runId: RunId, amountMicros: number): AccountEvent => ({
  type: 'CreditsRefunded',
  data: { runId, amountMicros, balanceAfterMicros: state.balanceMicros + amountMicros },
})

export const grant = (
  { amountMicros, reason }: { amountMicros: number; reason: string },
  state: AccountState,
): Decision<AccountEvent> => {
  // A refund can still come back for every open run, and must find room too.
  const mayReturnMicros = state.openRuns.reduce((sum, run) => sum + run.chargedMicros, 0)
  if (!Number.isSafeInteger(state.balanceMicros + mayReturnMicros + amountMicros))
    return refuse('balance_too_high', { balanceMicros: state.balanceMicros })
  return accept([granted(state, amountMicros, reason)])
}
