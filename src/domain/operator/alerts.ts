import { Map as ImmutableMap } from 'immutable'
import type { Alert, OperatorEvent } from '../../../schemas/operator-events.ts'
import { clockOf } from '../../../schemas/recorded.ts'
import { accept, type Decider, type PastEvent, unreachable } from '../decider.ts'
import { type Decided, type Refusal, refuse } from '../refusal.ts'

/** Far more accounts and sinks than are configured. Further alerts are only in the log of the program. */
const MAX_OPEN = 1_000

/**
 * A provider whose credit has nearly run out may refuse a run and take the next, many times a minute. Mail about the
 * same alert waits until this long after the last mail, and one mail covers all alerts of that time.
 */
const QUIET_MS = 60 * 60 * 1000

/** Mails that may be pending. Further alerts are recorded, but not mailed. */
const MAX_PENDING = 200

export type AlertCommand =
  | { type: 'RaiseAlert'; alert: Alert; mail: boolean }
  | { type: 'EndAlert'; of: Subject }
  | RecordAlertMail

/** The outcome of an attempt to mail an alert. A failure without a next attempt was the last. */
export interface RecordAlertMail {
  type: 'RecordAlertMail'
  number: number
  attempt: number
  outcome: { delivered: true } | { delivered: false; reason: string; nextAttemptAt?: string }
}

/** A mail that is due. */
export interface PendingMail {
  alert: Alert
  raisedAt: string
  attempts: number
  dueAt: string
}

export interface AlertsState {
  raised: number
  /** The alerts that are not over, by subject. */
  open: ImmutableMap<string, { number: number; alert: Alert }>
  /** By the number of the alert. */
  pending: ImmutableMap<number, PendingMail>
  /** When mail was last due about each alert of the last hour, in ms since 1970. */
  mailedAtMs: ImmutableMap<string, number>
}

/** The provider account or the sink of an alert. A subject has at most one alert at a time. */
export const subjectOf = (alert: Subject): string =>
  alert.kind === 'provider_refuses' ? `provider/${alert.provider}/${alert.account}` : `sink/${alert.sink}`

/** A provider account, or a sink. */
export type Subject =
  | { kind: 'provider_refuses'; provider: string; account: string }
  | { kind: 'seal_sink_fails'; sink: string }

const decide = (command: AlertCommand, state: AlertsState): Decided<OperatorEvent> => {
  switch (command.type) {
    case 'RaiseAlert':
      return accept(raise(command, state))
    case 'EndAlert': {
      const open = state.open.get(subjectOf(command.of))
      return accept(open ? [{ type: 'OperatorTroubleEnded', data: { number: open.number } }] : [])
    }
    case 'RecordAlertMail':
      return record(command, state)
    default:
      return unreachable(command)
  }
}

/** Every process reports the same alert, and reports it again after a restart. Only the first report is recorded. */
const raise = (
  { alert, mail }: { alert: Alert; mail: boolean },
  { raised, open, pending }: AlertsState,
): OperatorEvent[] => {
  const before = open.get(subjectOf(alert))
  if (before ? reasonOf(before.alert) === reasonOf(alert) : open.size >= MAX_OPEN) return []
  const isMailPending = pending.some(each => nameOf(each.alert) === nameOf(alert))
  const data = { number: raised + 1, trouble: alert, mail: mail && !isMailPending && pending.size < MAX_PENDING }
  return [
    ...(before ? [{ type: 'OperatorTroubleEnded' as const, data: { number: before.number } }] : []),
    { type: 'OperatorNoticeRaised', data },
  ]
}

const nameOf = (alert: Alert): string => `${subjectOf(alert)}/${reasonOf(alert)}`

const reasonOf = (alert: Alert): string => (alert.kind === 'provider_refuses' ? alert.reason : alert.kind)

/** Counts each attempt once, even if two processes made it at the same time. */
const record = ({ number, attempt, outcome }: RecordAlertMail, { pending }: AlertsState): Decided<OperatorEvent> => {
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

const evolve = (state: AlertsState, event: PastEvent<OperatorEvent>): AlertsState => {
  const { open, pending } = state
  switch (event.type) {
    case 'OperatorNoticeRaised': {
      const { number, trouble: alert } = event.data
      const next = { ...state, raised: number, open: open.set(subjectOf(alert), { number, alert }) }
      return event.data.mail ? withMail(next, { number, alert }, clockOf(event)) : next
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
  state: AlertsState,
  { number, alert }: { number: number; alert: Alert },
  raisedAt: string,
): AlertsState => {
  const atMs = Date.parse(raisedAt)
  // The time of a clock that was far ahead is void.
  const recent = state.mailedAtMs.filter(mailedAtMs => Math.abs(atMs - mailedAtMs) < QUIET_MS)
  const lastMs = recent.get(nameOf(alert))
  const dueMs = lastMs === undefined ? atMs : lastMs + QUIET_MS
  const due = { alert, raisedAt, attempts: 0, dueAt: new Date(dueMs).toISOString() }
  return { ...state, pending: state.pending.set(number, due), mailedAtMs: recent.set(nameOf(alert), dueMs) }
}

/** The alerts of the operator. The stream records the start and the end of each alert once. */
export const operatorAlerts: Decider<AlertCommand, AlertsState, OperatorEvent, Refusal> = {
  initial: { raised: 0, open: ImmutableMap(), pending: ImmutableMap(), mailedAtMs: ImmutableMap() },
  decide,
  evolve,
}
