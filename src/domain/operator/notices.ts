import { Map as ImmutableMap } from 'immutable'
import type { OperatorEvent, Trouble } from '../../../schemas/operator-events.ts'
import { clockOf } from '../../../schemas/recorded.ts'
import { accept, type Decider, type PastEvent, unreachable } from '../decider.ts'
import { type Decided, type Refusal, refuse } from '../refusal.ts'

/** Far more accounts and sinks than are configured. Troubles beyond are in the program's log alone. */
const MAX_OPEN = 1_000

/**
 * A provider whose credit nearly ran out may refuse one run and take the next, many times a minute. Mail about the same
 * trouble waits until this long after the last, and there is one for all that comes meanwhile.
 */
const QUIET_MS = 60 * 60 * 1000

/** Mails that may be pending. Further notices are recorded, but not mailed. */
const MAX_PENDING = 200

export type OperatorCommand =
  | { type: 'RaiseTrouble'; trouble: Trouble; mail: boolean }
  | { type: 'EndTrouble'; of: Subject }
  | RecordOperatorNotice

/** The outcome of an attempt to mail a notice. A failure without a next attempt was the last. */
export interface RecordOperatorNotice {
  type: 'RecordOperatorNotice'
  number: number
  attempt: number
  outcome: { delivered: true } | { delivered: false; reason: string; nextAttemptAt?: string }
}

/** A mail that is due. */
export interface PendingMail {
  trouble: Trouble
  raisedAt: string
  attempts: number
  dueAt: string
}

export interface OperatorNoticesState {
  raised: number
  /** The troubles that are not over, by subject. */
  open: ImmutableMap<string, { number: number; trouble: Trouble }>
  /** By the number of the notice. */
  pending: ImmutableMap<number, PendingMail>
  /** When mail was last due about each trouble of the last hour, in ms since 1970. */
  mailedAtMs: ImmutableMap<string, number>
}

/** What has the trouble. It has one at a time. */
export const subjectOf = (trouble: Subject): string =>
  trouble.kind === 'provider_refuses' ? `provider/${trouble.provider}/${trouble.account}` : `sink/${trouble.sink}`

/** What may have a trouble. */
export type Subject =
  | { kind: 'provider_refuses'; provider: string; account: string }
  | { kind: 'seal_sink_fails'; sink: string }

const decide = (command: OperatorCommand, state: OperatorNoticesState): Decided<OperatorEvent> => {
  switch (command.type) {
    case 'RaiseTrouble':
      return accept(raise(command, state))
    case 'EndTrouble': {
      const open = state.open.get(subjectOf(command.of))
      return accept(open ? [{ type: 'OperatorTroubleEnded', data: { number: open.number } }] : [])
    }
    case 'RecordOperatorNotice':
      return record(command, state)
    default:
      return unreachable(command)
  }
}

/** Every process tells of the same trouble, and tells of it again after a restart: only the first is a notice. */
const raise = (
  { trouble, mail }: { trouble: Trouble; mail: boolean },
  { raised, open, pending }: OperatorNoticesState,
): OperatorEvent[] => {
  const before = open.get(subjectOf(trouble))
  if (before ? reasonOf(before.trouble) === reasonOf(trouble) : open.size >= MAX_OPEN) return []
  const willBeTold = pending.some(each => nameOf(each.trouble) === nameOf(trouble))
  const data = { number: raised + 1, trouble, mail: mail && !willBeTold && pending.size < MAX_PENDING }
  return [
    ...(before ? [{ type: 'OperatorTroubleEnded' as const, data: { number: before.number } }] : []),
    { type: 'OperatorNoticeRaised', data },
  ]
}

const nameOf = (trouble: Trouble): string => `${subjectOf(trouble)}/${reasonOf(trouble)}`

const reasonOf = (trouble: Trouble): string => (trouble.kind === 'provider_refuses' ? trouble.reason : trouble.kind)

/** Counts each attempt once, even if two processes made it at the same time. */
const record = (
  { number, attempt, outcome }: RecordOperatorNotice,
  { pending }: OperatorNoticesState,
): Decided<OperatorEvent> => {
  if (pending.get(number)?.attempts !== attempt - 1) return refuse('notice_not_due')
  if (outcome.delivered) return accept([{ type: 'OperatorNoticeDelivered', data: { number, attempt } }])
  const { delivered: _, ...failure } = outcome
  return accept([
    { type: 'OperatorNoticeAttemptFailed', data: { number, attempt, ...failure } },
    ...(failure.nextAttemptAt === undefined
      ? [{ type: 'OperatorNoticeAbandoned' as const, data: { number, attempts: attempt } }]
      : []),
  ])
}

const evolve = (state: OperatorNoticesState, event: PastEvent<OperatorEvent>): OperatorNoticesState => {
  const { open, pending } = state
  switch (event.type) {
    case 'OperatorNoticeRaised': {
      const { number, trouble } = event.data
      const told = { ...state, raised: number, open: open.set(subjectOf(trouble), { number, trouble }) }
      return event.data.mail ? withMail(told, event.data, clockOf(event)) : told
    }
    case 'OperatorTroubleEnded':
      return { ...state, open: open.filter(({ number }) => number !== event.data.number) }
    case 'OperatorNoticeAttemptFailed': {
      const { number, attempt, nextAttemptAt } = event.data
      const before = pending.get(number)
      if (!before || nextAttemptAt === undefined) return state
      return { ...state, pending: pending.set(number, { ...before, attempts: attempt, dueAt: nextAttemptAt }) }
    }
    case 'OperatorNoticeDelivered':
    case 'OperatorNoticeAbandoned':
      return { ...state, pending: pending.delete(event.data.number) }
    default:
      return unreachable(event)
  }
}

const withMail = (
  state: OperatorNoticesState,
  { number, trouble }: { number: number; trouble: Trouble },
  raisedAt: string,
): OperatorNoticesState => {
  const atMs = Date.parse(raisedAt)
  // The time of a clock that was far ahead is void.
  const recent = state.mailedAtMs.filter(mailedAtMs => Math.abs(atMs - mailedAtMs) < QUIET_MS)
  const lastMs = recent.get(nameOf(trouble))
  const dueMs = lastMs === undefined ? atMs : lastMs + QUIET_MS
  const due = { trouble, raisedAt, attempts: 0, dueAt: new Date(dueMs).toISOString() }
  return { ...state, pending: state.pending.set(number, due), mailedAtMs: recent.set(nameOf(trouble), dueMs) }
}

/** What the operator is told of: each trouble once, from its beginning to its end. */
export const operatorNotices: Decider<OperatorCommand, OperatorNoticesState, OperatorEvent, Refusal> = {
  initial: { raised: 0, open: ImmutableMap(), pending: ImmutableMap(), mailedAtMs: ImmutableMap() },
  decide,
  evolve,
}
