import type { AccountEvent, BudgetUse, DebitFacts, RunErrorCode } from '../../../schemas/account-events.ts'
import type { Receipt } from '../../../schemas/catalog.ts'
import { MAX_REFERENCES, type RunId } from '../../../schemas/primitives.ts'
import { accept, repeat } from '../decider.ts'
import { digest128 } from '../digest.ts'
import { type Decided, refuse } from '../refusal.ts'
import type { Grant, RefundRun } from './commands.ts'
import { debitNotices } from './notices.ts'
import { type AccountState, type Caused, keyOf } from './state.ts'

export const creditsGranted = (
  { balanceMicros }: AccountState,
  { amountMicros, kind, reference, reason, payment }: Grant,
): AccountEvent => {
  const balanceAfterMicros = balanceMicros + amountMicros
  const data = { amountMicros, balanceAfterMicros, kind, reference, reason, ...(payment && { payment }) }
  return { type: 'CreditsGranted', data }
}

export const creditsDebited = (
  state: AccountState,
  runId: RunId,
  receipt: Receipt,
  { label, budget }: { label?: string | undefined; budget?: BudgetUse | undefined },
): AccountEvent => {
  const amountMicros = receipt.totalMicros
  if (amountMicros > state.balanceMicros) throw new RangeError('a debit must not exceed the balance')
  const balanceAfterMicros = state.balanceMicros - amountMicros
  const purpose = { ...(label !== undefined && { label }), ...(budget && { budget }) }
  return { type: 'CreditsDebited', data: { runId, amountMicros, balanceAfterMicros, receipt, ...purpose } }
}

/** A refund that repeats the facts of its debit, and the code of the failure if it is that of one. */
export const creditsRefunded = (
  { balanceMicros }: AccountState,
  { runId, amountMicros, reason, debit, error }: Refund,
): AccountEvent => {
  const balanceAfterMicros = balanceMicros + amountMicros
  const data = { runId, amountMicros, balanceAfterMicros, reason, debit, ...(error && { error }) }
  return { type: 'CreditsRefunded', data }
}

/** Releases the part of a debit that its run did not need. There is no event if the run needed all of it. */
export const creditsReleased = (
  { balanceMicros }: AccountState,
  runId: RunId,
  reserved: Receipt,
  receipt: Receipt,
  debit: DebitFacts,
): AccountEvent[] => {
  const amountMicros = reserved.totalMicros - receipt.totalMicros
  const balanceAfterMicros = balanceMicros + amountMicros
  if (amountMicros === 0) return []
  return [{ type: 'CreditsReleased', data: { runId, amountMicros, balanceAfterMicros, receipt, debit } }]
}

/** The facts of a debit that its refunds repeat. */
export const debitFacts = (
  debit: Pick<Extract<AccountEvent, { type: 'CreditsDebited' }>, 'data'> & Caused,
): DebitFacts => {
  const { receipt, label, budget } = debit.data
  const keyId = keyOf(debit)
  return {
    model: receipt.model,
    endpoint: receipt.endpoint,
    ...(keyId && { keyId }),
    ...(label !== undefined && { label }),
    ...(budget && { budget }),
  }
}

interface Refund {
  runId: RunId
  amountMicros: number
  reason: string
  debit: DebitFacts
  error?: RunErrorCode
}

export const grantCredits = (command: Grant, state: AccountState): Decided<AccountEvent> => {
  const { amountMicros, reference } = command
  const earlier = checkReference(reference, amountMicros, state)
  if (earlier) return earlier
  if (!hasRoomFor(amountMicros, state)) return refuse('balance_too_high', { balanceMicros: state.balanceMicros })
  return accept([creditsGranted(state, command)])
}

export const withdrawCredits = (command: Grant, state: AccountState): Decided<AccountEvent> => {
  const { amountMicros, kind, reference, reason } = command
  const { balanceMicros } = state
  const earlier = checkReference(reference, -amountMicros, state)
  if (earlier) return earlier
  if (amountMicros > balanceMicros)
    return refuse('insufficient_credits', { requiredMicros: amountMicros, balanceMicros })
  const balanceAfterMicros = balanceMicros - amountMicros
  return accept([
    { type: 'CreditsWithdrawn', data: { amountMicros, balanceAfterMicros, kind, reference, reason } },
    ...debitNotices({ amountMicros }, state),
  ])
}

/**
 * Refunds a completed run, which the state no longer holds. The command carries what the stream said about the run and
 * how many refunds it contained. If another refund has followed, it may have been for this run, so the stream must be
 * read again.
 */
export const refundRun = (
  { runId, amountMicros, chargedMicros, refundedMicros, debit, refunds, reason }: RefundRun,
  state: AccountState,
): Decided<AccountEvent> => {
  if (state.openRuns.has(runId)) return refuse('run_not_ended')
  if (refunds !== state.refunds) return refuse('refunds_changed')
  const refundableMicros = chargedMicros - refundedMicros
  if (amountMicros > refundableMicros) return refuse('refund_too_high', { refundableMicros })
  if (!hasRoomFor(amountMicros, state)) return refuse('balance_too_high', { balanceMicros: state.balanceMicros })
  return accept([creditsRefunded(state, { runId, amountMicros, reason, debit })])
}

/** The same reference with the same amount is the same grant or withdrawal; with another amount it is a mistake. */
const checkReference = (reference: string, signedMicros: number, state: AccountState): Decided<never> | undefined => {
  const earlier = state.references.get(digest128(reference))
  if (earlier !== undefined)
    return earlier === signedMicros ? repeat(reference) : refuse('reference_mismatch', { amountMicros: earlier })
  if (state.references.size >= MAX_REFERENCES) return refuse('too_many_references', { limit: MAX_REFERENCES })
  return undefined
}

/** Every open run may still be refunded, so there must be room for those refunds too. */
const hasRoomFor = (amountMicros: number, { balanceMicros, openRuns }: AccountState): boolean =>
  Number.isSafeInteger(openRuns.reduce((sum, run) => sum + run.chargedMicros, balanceMicros + amountMicros))
