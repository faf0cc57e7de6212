import type { LotUse } from '../../../schemas/account-events.ts'
import type { RunId } from '../../../schemas/primitives.ts'
import { Contradiction } from '../decider.ts'
import type { AccountState, CreditSplit, Lot } from './state.ts'

// The rules are those of `docs/ledger-format.md`, "Lots". A lot has the number of its grant, from 1.

/**
 * Ended runs of a log from before lots had numbers, whose uses are remembered with about 100 bytes each. Refunds of
 * such logs do not say which credits they give back.
 */
const MAX_ENDED = 10_000

type LotState = Pick<AccountState, 'lots' | 'lotOrder'>

/** The balance by origin; undefined while it is unknown, after a refund of an old run. */
export const creditSplit = ({ balanceMicros, isSplitUnknown, ...state }: AccountState): CreditSplit | undefined => {
  if (isSplitUnknown) return undefined
  const paidMicros = state.lotOrder.reduce((sum, number) => {
    const { isPaid, leftMicros } = lotOf(state, number)
    return isPaid ? sum + leftMicros : sum
  }, 0)
  return { freeMicros: balanceMicros - paidMicros, paidMicros }
}

/** The lot that expires next, of those with credits. */
export const nextExpiry = (state: LotState): { expiresAt: string; amountMicros: number } | undefined => {
  const [first] = state.lotOrder
  if (first === undefined) return undefined
  const { expiresAt } = lotOf(state, first)
  if (expiresAt === undefined) return undefined
  const same = state.lotOrder.map(number => lotOf(state, number)).filter(lot => lot.expiresAt === expiresAt)
  return { expiresAt, amountMicros: same.reduce((sum, { leftMicros }) => sum + leftMicros, 0) }
}

/** A lot by its number. Throws a Contradiction for a number that no grant has. */
export const lotOf = ({ lots }: Pick<AccountState, 'lots'>, number: number): Lot => {
  const lot = lots.get(number - 1)
  if (!lot || number < 1) throw new Contradiction(`there is no lot ${number}`)
  return lot
}

/** The state after a grant, whose credits are a new lot, or return to the lot that they were withdrawn from. */
export const addToLot = (
  state: AccountState,
  { kind, amountMicros, lot: recorded, expiresAt }: GrantedCredits,
): AccountState => {
  const number = recorded ?? state.lots.size + 1
  const added =
    number > state.lots.size ? { isPaid: kind === 'purchase', leftMicros: 0, ...ending(expiresAt) } : undefined
  if (added && number !== state.lots.size + 1) throw new Contradiction(`lot ${number} follows lot ${state.lots.size}`)
  const lots = added ? state.lots.push(added) : state.lots
  // From here on, refunds of ended runs say which credits they give back.
  const numbered = recorded === undefined ? {} : { hasNumberedLots: true, endedUses: state.endedUses.clear() }
  return { ...state, ...numbered, ...changeLot({ ...state, lots }, number, amountMicros) }
}

interface GrantedCredits {
  kind: string
  amountMicros: number
  lot?: number
  expiresAt?: string
}

/** Takes credits as runs use them: those that expire first, free before paid, and the oldest first. */
export const useCredits = (state: AccountState, amountMicros: number): Taken & Pick<AccountState, 'isSplitUnknown'> => {
  const taken = take(state, state.lotOrder, amountMicros)
  // What was unknown is over once everything is used.
  return { ...taken, isSplitUnknown: state.isSplitUnknown && taken.lotOrder.length > 0 }
}

/** The state after a withdrawal: from its lot, or else from the newest paid lots first if these were bought. */
export const withdrawFromLots = (state: AccountState, { kind, amountMicros, lot }: GrantedCredits): AccountState => {
  const paid =
    kind === 'purchase'
      ? state.lotOrder.filter(number => lotOf(state, number).isPaid).toSorted((one, other) => other - one)
      : []
  const order = lot === undefined ? [...paid, ...state.lotOrder.filter(number => !paid.includes(number))] : [lot]
  const { uses: _, ...left } = take(state, order, amountMicros)
  return { ...state, ...left, isSplitUnknown: state.isSplitUnknown && left.lotOrder.length > 0 }
}

/** The part of the uses of a run that a refund or a release gives back: the last used first. */
export const partGivenBack = (uses: readonly LotUse[], amountMicros: number): LotUse[] => {
  const given: LotUse[] = []
  let dueMicros = amountMicros
  for (const { lot, amountMicros: usedMicros } of uses.toReversed()) {
    const partMicros = Math.min(dueMicros, usedMicros)
    if (partMicros > 0) given.push({ lot, amountMicros: partMicros })
    dueMicros -= partMicros
  }
  if (dueMicros > 0) throw new Contradiction(`${dueMicros} microcredits more are given back than were used`)
  return given
}

/** What is left of the uses of a run after a part of them was given back. */
export const usesWithout = (uses: readonly LotUse[], given: readonly LotUse[]): LotUse[] =>
  uses
    .map(({ lot, amountMicros }) => ({ lot, amountMicros: amountMicros - sumIn(given, lot) }))
    .filter(({ amountMicros }) => amountMicros > 0)

/** What a run has used and not got back; undefined if the state does not know. */
export const usesOf = (state: AccountState, runId: RunId): readonly LotUse[] | undefined =>
  state.openRuns.get(runId)?.uses ??
  (state.lastFailed?.runId === runId ? state.lastFailed.uses : state.endedUses.get(runId))

/** The state after a refund or a release. `recorded` is the part that its event says it gives back. */
export const giveBack = (
  state: AccountState,
  { runId, amountMicros, lots: recorded }: { runId: RunId; amountMicros: number; lots?: readonly LotUse[] },
): AccountState => {
  const uses = usesOf(state, runId)
  const given = recorded ?? (uses ? partGivenBack(uses, amountMicros) : undefined)
  if (!given) return giveBackUnknown(state, amountMicros)
  const changed = given.reduce<LotState>((lots, part) => changeLot(lots, part.lot, part.amountMicros), state)
  return uses && !recorded
    ? keepUses({ ...state, ...changed }, runId, usesWithout(uses, given))
    : { ...state, ...changed }
}

/** The state after the end of a run, which may still be refunded. */
export const endUses = (state: AccountState, runId: RunId, hasFailed: boolean): AccountState => {
  const uses = state.openRuns.get(runId)?.uses
  if (!uses) return state
  // A failed run is refunded right after its end.
  if (hasFailed) return { ...state, lastFailed: { runId, uses } }
  if (state.hasNumberedLots) return state
  const endedUses = state.endedUses.set(runId, uses)
  return endedUses.size > MAX_ENDED
    ? { ...state, endedUses: endedUses.delete(endedUses.keySeq().first() as RunId), hasDroppedUses: true }
    : { ...state, endedUses }
}

/** The state after a lot has expired, with what was left of it. */
export const expireLot = (
  state: AccountState,
  { lot: number, amountMicros }: { lot: number; amountMicros: number },
): AccountState => {
  const { leftMicros, expiredMicros = 0 } = lotOf(state, number)
  if (leftMicros !== amountMicros) throw new Contradiction(`lot ${number} has ${leftMicros} left, not ${amountMicros}`)
  const { lots, lotOrder } = changeLot(state, number, 0 - amountMicros)
  return {
    ...state,
    lots: lots.set(number - 1, {
      ...lotOf({ lots }, number),
      expiredMicros: expiredMicros + amountMicros,
    }),
    lotOrder,
  }
}

/** The state with another time at which a lot expires. */
export const extendLot = (
  state: AccountState,
  { lot: number, expiresAt }: { lot: number; expiresAt?: string },
): AccountState => {
  const { isPaid, leftMicros } = lotOf(state, number)
  const lots = state.lots.set(number - 1, { isPaid, leftMicros, ...ending(expiresAt) })
  const lotOrder = state.lotOrder.filter(each => each !== number)
  return { ...state, lots, lotOrder: leftMicros > 0 ? inserted({ lots, lotOrder }, number) : lotOrder }
}

const ending = (expiresAt: string | undefined) => (expiresAt === undefined ? {} : { expiresAt })

const sumIn = (uses: readonly LotUse[], lot: number): number =>
  uses.reduce((sum, use) => (use.lot === lot ? sum + use.amountMicros : sum), 0)

interface Taken extends LotState {
  uses: readonly LotUse[]
}

const take = (state: LotState, order: readonly number[], amountMicros: number): Taken => {
  const uses: LotUse[] = []
  let { lots, lotOrder } = state
  let dueMicros = amountMicros
  for (const number of order) {
    if (dueMicros === 0) break
    const partMicros = Math.min(dueMicros, lotOf({ lots }, number).leftMicros)
    if (partMicros === 0) continue
    ;({ lots, lotOrder } = changeLot({ lots, lotOrder }, number, 0 - partMicros))
    uses.push({ lot: number, amountMicros: partMicros })
    dueMicros -= partMicros
  }
  if (dueMicros > 0) throw new Contradiction(`the lots have ${dueMicros} microcredits too few`)
  return { lots, lotOrder, uses }
}

/** Adds credits to a lot, or takes them from it with a negative amount. */
const changeLot = ({ lots, lotOrder }: LotState, number: number, byMicros: number): LotState => {
  const lot = lotOf({ lots }, number)
  const leftMicros = lot.leftMicros + byMicros
  if (leftMicros < 0) throw new Contradiction(`lot ${number} has only ${lot.leftMicros} microcredits`)
  const changed = lots.set(number - 1, { ...lot, leftMicros })
  if (leftMicros === 0) return { lots: changed, lotOrder: lotOrder.filter(each => each !== number) }
  const isIn = lot.leftMicros > 0
  return { lots: changed, lotOrder: isIn ? lotOrder : inserted({ lots: changed, lotOrder }, number) }
}

const inserted = (state: LotState, number: number): readonly number[] => {
  const place = state.lotOrder.findIndex(other => isUsedBefore(state, number, other))
  return place === -1 ? [...state.lotOrder, number] : state.lotOrder.toSpliced(place, 0, number)
}

const isUsedBefore = (state: LotState, number: number, other: number): boolean => {
  const one = lotOf(state, number)
  const two = lotOf(state, other)
  if (one.expiresAt !== two.expiresAt) return (one.expiresAt ?? NEVER) < (two.expiresAt ?? NEVER)
  return one.isPaid === two.isPaid ? number < other : two.isPaid
}

/** Sorts after every time. */
const NEVER = '~'

const keepUses = (state: AccountState, runId: RunId, uses: readonly LotUse[]): AccountState => {
  const run = state.openRuns.get(runId)
  if (run) return { ...state, openRuns: state.openRuns.set(runId, { ...run, uses }) }
  if (state.lastFailed?.runId === runId) return { ...state, lastFailed: { runId, uses } }
  return { ...state, endedUses: state.endedUses.set(runId, uses) }
}

/** A refund of a run that was dropped. If nothing was ever bought, all lots are free; else the split is unknown. */
const giveBackUnknown = (state: AccountState, amountMicros: number): AccountState => {
  const isSplitUnknown = state.isSplitUnknown || state.lots.some(({ isPaid }) => isPaid)
  return { ...state, ...changeLot(state, 1, amountMicros), isSplitUnknown }
}
