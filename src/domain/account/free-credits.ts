import type { AccountEvent } from '../../../schemas/account-events.ts'
import type { RunId } from '../../../schemas/primitives.ts'
import type { PastEvent } from '../decider.ts'
import type { AccountState, CreditUse } from './state.ts'

/**
 * Runs whose free credits are remembered, with about 100 bytes each. If an older run of an account that buys credits is
 * refunded, the split of the balance is unknown until the balance is used up.
 */
const MAX_USES = 10_000

/** The balance by origin; undefined while it is unknown. */
export const creditSplit = ({ balanceMicros, freeMicros }: AccountState): CreditUse | undefined =>
  freeMicros === null ? undefined : { freeMicros, paidMicros: balanceMicros - freeMicros }

/**
 * The state after an event, with the free part of the balance (`docs/ledger-format.md`, "Free and paid credits"). The
 * state keeps only runs that used free credits: all others used paid credits.
 */
export const splitCredits = (state: AccountState, event: PastEvent<AccountEvent>): AccountState => {
  switch (event.type) {
    case 'CreditsGranted': {
      const { kind, amountMicros } = event.data
      return kind === 'purchase' ? { ...state, hasBought: true } : addFree(state, amountMicros)
    }
    case 'CreditsWithdrawn': {
      const { kind, amountMicros } = event.data
      const paidMicros = state.balanceMicros + amountMicros - (state.freeMicros ?? 0)
      const freeMicros = kind === 'purchase' ? Math.max(0, amountMicros - paidMicros) : amountMicros
      return settled(addFree(state, -Math.min(freeMicros, state.freeMicros ?? 0)))
    }
    case 'CreditsDebited': {
      const { runId, amountMicros } = event.data
      if (state.freeMicros === null) return settled(remember(state, runId, null))
      const freeMicros = Math.min(amountMicros, state.freeMicros)
      if (freeMicros === 0) return state
      const use = { freeMicros, paidMicros: amountMicros - freeMicros }
      return addFree(remember(state, runId, use), -freeMicros)
    }
    case 'CreditsRefunded':
    case 'CreditsReleased': {
      const { runId, amountMicros } = event.data
      const use = useOf(state, runId)
      if (!use) return { ...state, freeMicros: null }
      const freeMicros = Math.max(0, amountMicros - use.paidMicros)
      const left = { freeMicros: use.freeMicros - freeMicros, paidMicros: use.paidMicros - amountMicros + freeMicros }
      return addFree(state.creditUses.has(runId) ? keep(state, runId, left) : state, freeMicros)
    }
    case 'RunFailed':
      return { ...state, lastFailed: event.data.runId }
    default:
      return state
  }
}

const addFree = (state: AccountState, amountMicros: number): AccountState =>
  state.freeMicros === null || amountMicros === 0 ? state : { ...state, freeMicros: state.freeMicros + amountMicros }

/** An empty balance has no free part, whatever was unknown before. */
const settled = (state: AccountState): AccountState =>
  state.freeMicros === null && state.balanceMicros === 0 ? { ...state, freeMicros: 0 } : state

/** What a run has used and not got back; undefined if unknown. */
const useOf = (state: AccountState, runId: RunId): CreditUse | undefined => {
  const { creditUses, openRuns, lastFailed, hasBought, hasDroppedUses } = state
  const use = creditUses.get(runId)
  if (use !== undefined) return use ?? undefined
  // Only runs that have ended are dropped. A failed run is refunded right after its end.
  if (openRuns.has(runId) || runId === lastFailed || !hasDroppedUses)
    return { freeMicros: 0, paidMicros: Number.MAX_SAFE_INTEGER }
  return hasBought ? undefined : { freeMicros: Number.MAX_SAFE_INTEGER, paidMicros: 0 }
}

const keep = (state: AccountState, runId: RunId, use: CreditUse): AccountState => {
  const { creditUses } = state
  return { ...state, creditUses: use.freeMicros > 0 ? creditUses.set(runId, use) : creditUses.delete(runId) }
}

const remember = (state: AccountState, runId: RunId, use: CreditUse | null): AccountState => {
  const creditUses = state.creditUses.set(runId, use)
  if (creditUses.size <= MAX_USES) return { ...state, creditUses }
  const oldest = creditUses.keySeq().find(id => !state.openRuns.has(id))
  if (oldest === undefined) return { ...state, creditUses }
  return { ...state, creditUses: creditUses.delete(oldest), hasDroppedUses: true }
}
