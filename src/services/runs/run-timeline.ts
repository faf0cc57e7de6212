import type { AttemptFailure, RunAttempt, Upstream } from '../../../schemas/account-events.ts'
import { clockOf } from '../../../schemas/recorded.ts'
import type { WebhookAttempt } from '../../../schemas/views.ts'
import type { RunEvent, RunHistory } from './run-history.ts'

/** A step of a run. Times are milliseconds since the run was accepted. */
export interface RunStep {
  kind:
    | 'accepted'
    | 'waiting'
    | 'refused'
    | 'submitting'
    | 'working'
    | 'stored'
    | 'cancel_requested'
    | 'completed'
    | 'failed'
    | 'webhook'
    | 'refunded'
    | 'deleted'
  /** Missing if the log does not tell when. */
  startMs?: number
  /** Missing for a moment, and while the step goes on. */
  endMs?: number
  /** The provider of the step, and which of the operator's accounts there. */
  upstream?: Upstream
  /** Why the provider did not take the run, and the status of its response; missing from older runs. */
  reason?: AttemptFailure
  status?: number
  /** The attempt to deliver the webhook. */
  attempt?: WebhookAttempt
  amountMicros?: number
}

/**
 * What happened to a run, in order. The log of an older run records only the first provider, the one that took the job,
 * and the last.
 */
export const timelineOf = ({ run, events, webhook }: RunHistory): RunStep[] => {
  const acceptedMs = Date.parse(run.createdAt)
  const since = (at: string) => Math.max(0, Date.parse(at) - acceptedMs)
  const eventOf = <Type extends RunEvent['type']>(type: Type) =>
    events.find((event): event is Extract<RunEvent, { type: Type }> => event.type === type)
  const momentOf = (event: RunEvent) => since(clockOf(event))
  const [started, submitted] = [eventOf('RunStarted'), eventOf('RunSubmitted')]
  const ended = eventOf('RunCompleted') ?? eventOf('RunFailed')
  const startMs = run.startedAt === undefined ? undefined : since(run.startedAt)
  const endMs = run.completedAt === undefined ? undefined : since(run.completedAt)
  const steps: RunStep[] = [{ kind: 'accepted', startMs: 0 }]
  if (startMs !== 0) steps.push({ kind: 'waiting', startMs: 0, ...until(startMs ?? endMs) })

  const storingMs = ended?.type === 'RunCompleted' ? ended.data.storingMs : undefined
  const answeredMs = endMs === undefined ? undefined : Math.max(0, endMs - (storingMs ?? 0))
  if (startMs !== undefined) {
    const first = started?.data.upstream
    const attempts = ended?.data.attempts ?? submitted?.data.attempts
    const taker = submitted?.data.upstream
    const worker = ended?.data.upstream ?? taker ?? first
    const submittedMs = submitted && momentOf(submitted)
    if (attempts) steps.push(...attempts.filter(hasFailed).map(attempt => refusedStep(attempt, since)))
    else if (first && !isSame(first, taker ?? worker))
      steps.push({
        kind: 'refused',
        upstream: first,
        ...(submittedMs !== undefined && { startMs, endMs: submittedMs }),
      })
    const last = attempts?.at(-1)
    const askedMs = last ? since(last.startedAt) : startMs
    const isAsked = !last || !hasFailed(last)
    if (isAsked && submittedMs !== undefined && submittedMs > askedMs && (last || isSame(first, taker)))
      steps.push({ kind: 'submitting', ...(taker && { upstream: taker }), startMs: askedMs, endMs: submittedMs })
    if (isAsked)
      steps.push({
        kind: 'working',
        startMs: submittedMs ?? askedMs,
        ...until(answeredMs),
        ...(worker ? { upstream: worker } : run.provider && { upstream: { provider: run.provider, model: '' } }),
      })
  }

  const cancelled = eventOf('RunCancelRequested')
  if (cancelled) steps.push({ kind: 'cancel_requested', startMs: momentOf(cancelled) })
  if (storingMs !== undefined && answeredMs !== undefined)
    steps.push({ kind: 'stored', startMs: answeredMs, ...until(endMs) })
  if (endMs !== undefined && (run.status === 'completed' || run.status === 'failed'))
    steps.push({ kind: run.status, startMs: endMs })
  steps.push(...refundsOf(events, run.status, since), ...deliveriesOf(webhook?.latest ?? [], endMs, since))
  if (run.outputDeletedAt !== undefined) steps.push({ kind: 'deleted', startMs: since(run.outputDeletedAt) })
  return steps
}

const until = (endMs: number | undefined) => (endMs === undefined ? {} : { endMs })

const isSame = (one: Upstream | undefined, other: Upstream | undefined) =>
  one?.provider === other?.provider && one?.account === other?.account

type FailedAttempt = RunAttempt & Required<Pick<RunAttempt, 'failedAt'>>

const hasFailed = (attempt: RunAttempt): attempt is FailedAttempt => attempt.failedAt !== undefined

const refusedStep = (attempt: FailedAttempt, since: (at: string) => number): RunStep => {
  const { startedAt, failedAt, status, reason, ...upstream } = attempt
  const startMs = since(startedAt)
  const failure = { ...(reason && { reason }), ...(status !== undefined && { status }) }
  // The clock may have gone back.
  return { kind: 'refused', upstream, startMs, endMs: Math.max(startMs, since(failedAt)), ...failure }
}

/** The operator may refund a completed run. The refund of a failed run is part of its end. */
const refundsOf = (events: readonly RunEvent[], status: string, since: (at: string) => number): RunStep[] =>
  status !== 'completed'
    ? []
    : events
        .filter(event => event.type === 'CreditsRefunded')
        .map(event => ({ kind: 'refunded', startMs: since(clockOf(event)), amountMicros: event.data.amountMicros }))

/** An attempt lasts from when it was due until its result. */
const deliveriesOf = (
  attempts: readonly WebhookAttempt[],
  endMs: number | undefined,
  since: (at: string) => number,
): RunStep[] =>
  attempts.map((attempt, index) => {
    const before = attempts[index - 1]
    const dueMs = before?.nextAttemptAt !== undefined ? since(before.nextAttemptAt) : index === 0 ? endMs : undefined
    const atMs = since(attempt.at)
    return { kind: 'webhook', startMs: Math.min(dueMs ?? atMs, atMs), endMs: atMs, attempt }
  })
