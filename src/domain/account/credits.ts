import type { AccountEvent, BudgetUse, DebitFacts, LotUse, RunErrorCode } from '../../../schemas/account-events.ts'
import type { Receipt } from '../../../schemas/catalog.ts'
import { MAX_REFERENCES, type RunId } from '../../../schemas/primitives.ts'
import { accept, repeat } from '../decider.ts'
import { digest128 } from '../digest.ts'
import { type Decided, refuse } from '../refusal.ts'
import type { ExtendLot, Grant, RefundRun } from './commands.ts'
import { settledBy } from './debts.ts'
import { lotOf, partGivenBack, usesOf } from './lots.ts'
import { debitNotices, noticeRaised, noticeStep } from './notices.ts'
import { type AccountState, type Caused, keyOf } from './state.ts'

/** Grants the credits of a new lot. */
export const creditsGranted = (
  { balanceMicros, lots }: Pick<AccountState, 'balanceMicros' | 'lots'>,
  { amountMicros, kind, reference, reason, payment, expiresAt }: Grant,
  lot = lots.size + 1,
): AccountEvent => {
  const balanceAfterMicros = balanceMicros + amountMicros
  const paid = { ...(payment && { payment }), lot, ...(expiresAt !== undefined && { expiresAt }) }
  return { type: 'CreditsGranted', data: { amountMicros, balanceAfterMicros, kind, reference, reason, ...paid } }
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
  { runId, amountMicros, reason, debit, error, lots }: Refund,
): AccountEvent => {
  const balanceAfterMicros = balanceMicros + amountMicros
  const data = {
    runId,
    amountMicros,
    balanceAfterMicros,
    reason,
    debit,
    ...(error && { error }),
    ...(lots && { lots }),
  }
  return { type: 'CreditsRefunded', data }
}

/** Releases the part of a debit that its run did not need. There is no event if the run needed all of it. */
export const creditsReleased = (
  state: AccountState,
  runId: RunId,
  reserved: Receipt,
  receipt: Receipt,
  debit: DebitFacts,
): AccountEvent[] => {
  const amountMicros = reserved.totalMicros - receipt.totalMicros
  if (amountMicros === 0) return []
  const balanceAfterMicros = state.balanceMicros + amountMicros
  return [{ type: 'CreditsReleased', data: { runId, amountMicros, balanceAfterMicros, receipt, debit } }]
}

/**
 * What follows credits that return to lots, in the same append: they expire with lots that have ended, and the others
 * pay what the account owes. `balanceMicros` is the balance with them.
 */
export const afterReturn = (
  state: AccountState,
  returned: readonly LotUse[],
  balanceMicros: number,
): AccountEvent[] => {
  const isEnded = ({ lot }: LotUse) => lotOf(state, lot).expiredMicros !== undefined
  let balanceAfterMicros = balanceMicros
  const expired = returned.filter(isEnded).map(({ lot, amountMicros }): AccountEvent => {
    balanceAfterMicros -= amountMicros
    return { type: 'CreditsExpired', data: { lot, amountMicros, balanceAfterMicros } }
  })
  const added = returned
    .filter(each => !isEnded(each))
    .map(
      ({ lot, amountMicros }) =>
        ({ lot, amountMicros, kind: lotOf(state, lot).isPaid ? 'purchase' : 'courtesy' }) as const,
    )
  return [...expired, ...settledBy(state, added, balanceAfterMicros)]
}

/** What follows a refund or a release. */
export const afterMoves = (state: AccountState, moves: readonly AccountEvent[]): AccountEvent[] =>
  moves.flatMap(move => {
    if (move.type !== 'CreditsRefunded' && move.type !== 'CreditsReleased') return []
    const { runId, amountMicros, balanceAfterMicros, lots } = { lots: undefined, ...move.data }
    const uses = usesOf(state, runId)
    return afterReturn(state, lots ?? (uses ? partGivenBack(uses, amountMicros) : []), balanceAfterMicros)
  })

/** Ends a lot whose time has come; before, raises the notice that is due. */
export const expireCredits = (
  { lot: number }: { lot: number },
  state: AccountState,
  atMs: number,
): Decided<AccountEvent> => {
  const lot = state.lots.get(number - 1)
  if (lot?.expiresAt === undefined || lot.expiredMicros !== undefined) return refuse('lot_not_due')
  const { leftMicros: amountMicros, expiresAt, toldDays } = lot
  if (Date.parse(expiresAt) <= atMs) {
    const balanceAfterMicros = state.balanceMicros - amountMicros
    return accept([{ type: 'CreditsExpired', data: { lot: number, amountMicros, balanceAfterMicros } }])
  }
  const days = noticeStep(expiresAt, atMs)
  if (days === undefined || (toldDays !== undefined && toldDays <= days)) return refuse('lot_not_due')
  const notice = { kind: 'credits_expiring', lot: number, amountMicros, expiresAt, days } as const
  return accept([noticeRaised(state, notice, 0, amountMicros === 0)])
}

/** Postpones the expiry of a lot. What has expired stays expired: the operator may grant it again. */
export const extendLotExpiry = (
  { lot: number, expiresAt, reason }: Pick<ExtendLot, 'lot' | 'expiresAt' | 'reason'>,
  state: AccountState,
): Decided<AccountEvent> => {
  const lot = state.lots.get(number - 1)
  if (!lot) return refuse('lot_not_found', { lots: state.lots.size })
  if (lot.expiredMicros !== undefined) return refuse('lot_expired')
  if (lot.expiresAt === expiresAt) return accept([])
  if (lot.expiresAt === undefined || (expiresAt !== undefined && expiresAt < lot.expiresAt))
    return refuse('lot_not_extended', { expiresAt: lot.expiresAt })
  return accept([{ type: 'LotExtended', data: { lot: number, ...(expiresAt !== undefined && { expiresAt }), reason } }])
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
  /** The lots that get the credits back, if the run had ended before. */
  lots?: LotUse[]
}

export const grantCredits = (command: Grant, state: AccountState): Decided<AccountEvent> => {
  const { amountMicros, reference } = command
  const earlier = checkReference(reference, amountMicros, state)
  if (earlier) return earlier
  if (!hasRoomFor(amountMicros, state)) return refuse('balance_too_high', { balanceMicros: state.balanceMicros })
  const lot = state.lots.size + 1
  const added = { lot, amountMicros, kind: command.kind }
  return accept([creditsGranted(state, command, lot), ...settledBy(state, [added], state.balanceMicros + amountMicros)])
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
  { runId, amountMicros, chargedMicros, refundedMicros, uses, debit, refunds, reason }: RefundRun,
  state: AccountState,
): Decided<AccountEvent> => {
  if (state.openRuns.has(runId)) return refuse('run_not_ended')
  if (refunds !== state.refunds) return refuse('refunds_changed')
  const refundableMicros = chargedMicros - refundedMicros
  if (amountMicros > refundableMicros) return refuse('refund_too_high', { refundableMicros })
  if (!hasRoomFor(amountMicros, state)) return refuse('balance_too_high', { balanceMicros: state.balanceMicros })
  const lots = uses && partGivenBack(uses, amountMicros)
  const refunded = creditsRefunded(state, { runId, amountMicros, reason, debit, ...(lots && { lots }) })
  return accept([refunded, ...afterMoves(state, [refunded])])
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
export const hasRoomFor = (amountMicros: number, { balanceMicros, openRuns }: AccountState): boolean =>
  Number.isSafeInteger(openRuns.reduce((sum, run) => sum + run.chargedMicros, balanceMicros + amountMicros))
