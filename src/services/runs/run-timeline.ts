import type { Upstream } from '../../../schemas/account-events.ts'
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
  /** The attempt to deliver the webhook. */
  attempt?: WebhookAttempt
  amountMicros?: number
}

/** What happened to a run, in order. The log records the first provider, the one that took the job, and the last. */
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

  if (startMs !== undefined) {
    const first = started?.data.upstream
    const taker = submitted?.data.upstream
    const worker = ended?.data.upstream ?? taker ?? first
    const submittedMs = submitted && momentOf(submitted)
    if (first && !isSame(first, taker ?? worker))
      steps.push({
        kind: 'refused',
        upstream: first,
        ...(submittedMs !== undefined && { startMs, endMs: submittedMs }),
      })
    else if (submittedMs !== undefined && first && submittedMs > startMs)
      steps.push({ kind: 'submitting', upstream: first, startMs, endMs: submittedMs })
    steps.push({
      kind: 'working',
      startMs: submittedMs ?? startMs,
      ...until(endMs),
      ...(worker ? { upstream: worker } : run.provider && { upstream: { provider: run.provider, model: '' } }),
    })
  }

  const cancelled = eventOf('RunCancelRequested')
  if (cancelled) steps.push({ kind: 'cancel_requested', startMs: momentOf(cancelled) })
  if (endMs !== undefined && (run.status === 'completed' || run.status === 'failed'))
    steps.push({ kind: run.status, startMs: endMs })
  steps.push(...refundsOf(events, run.status, since), ...deliveriesOf(webhook?.latest ?? [], endMs, since))
  if (run.outputDeletedAt !== undefined) steps.push({ kind: 'deleted', startMs: since(run.outputDeletedAt) })
  return steps
}

const until = (endMs: number | undefined) => (endMs === undefined ? {} : { endMs })

const isSame = (one: Upstream, other: Upstream | undefined) =>
  one.provider === other?.provider && one.account === other.account

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
