import { type AcceptedRun, type AccountEvent, isAcceptance, requestNameOf } from '../schemas/account-events.ts'
import { accountOf } from '../schemas/events.ts'
import type { KeyId, Moded } from '../schemas/primitives.ts'
import { clockOf, type Recorded } from '../schemas/recorded.ts'
import type { RunRow } from '../schemas/views.ts'
import { projection, type RecordedOf } from './define.ts'

/** Runs by account in time order, which is the order of their keys, and by the client's idempotency key. */
export const runs = projection({
  view: 'runs',
  version: 10,
  key: runKeys,
  on: {
    // The debit comes first in its append, and its receipt names the model of the run. A test run has no debit.
    CreditsDebited: (_, event) => charged(event),
    RunQueued: (row, event) => accepted(row, event),
    RunStarted: (row, event) =>
      change(isAcceptance(event) ? accepted(row, event) : row, event, {
        status: 'processing',
        startedAt: clockOf(event),
        provider: event.data.upstream.provider,
      }),
    RunSubmitted: (row, event) => movedTo(row, event),
    RunCompleted: (row, event) =>
      change(row, event, {
        status: 'completed',
        completedAt: clockOf(event),
        output: event.data.output,
        ...answerFacts(event),
        ...worker(event),
      }),
    RunFailed: (row, event) =>
      change(row, event, {
        status: 'failed',
        completedAt: clockOf(event),
        error: event.data.error,
        ...worker(event),
        // No refund follows.
        ...(row?.livemode === false && { refundedMicros: 0 }),
      }),
    RunOutputDeleted: (row, event) => change(row, event, { outputDeletedAt: clockOf(event) }),
    CreditsRefunded: (row, event) =>
      change(row, event, { refundedMicros: (row?.refundedMicros ?? 0) + event.data.amountMicros }),
    CreditsReleased: (row, event) => change(row, event, { releasedMicros: event.data.amountMicros }),
    RunsArchived: () => undefined,
  },
  indexes: {
    byId: ({ runId }) => runId,
    byRequest: row => row.request && requestPlaces(row.accountId, row.request.key, row) + row.runId,
    // Live runs may be far more numerous, and a page reads only a limited number of rows.
    ofTests: ({ livemode }, key) => (livemode === false ? key : undefined),
  },
})

/** A failure and its refund share an append, but the views may briefly hold only the failure. */
export const hasEnded = ({ status, refundedMicros }: RunRow) =>
  status === 'completed' || (status === 'failed' && refundedMicros !== undefined)

/** The account comes first, so that the runs of an account lie together and only its callers find them. */
export const runKey = (accountId: string, runId: string) => `${accountId}/${runId}`

type EventOfRuns = Extract<AccountEvent, { data: { runId: string } } | { type: 'RunsArchived' }>

/** The keys of the runs that an event is about. */
export function runKeys(event: Recorded<EventOfRuns>) {
  const accountId = accountOf(event)
  const { data } = event
  return 'runs' in data ? data.runs.map(({ runId }) => runKey(accountId, runId)) : runKey(accountId, data.runId)
}

/** The prefix of the places of an account's runs with one idempotency key. The key may hold a slash itself. */
export const requestPlaces = (accountId: string, key: string, mode: Moded) =>
  `${accountId}/${encodeURIComponent(requestNameOf(key, mode))}/`

/** Mostly the provider that was tried first takes the job, and then the run looks as before. */
const movedTo = (row: RunRow | undefined, event: RecordedOf<'RunSubmitted'>) => {
  const { provider } = event.data.upstream
  return row?.provider === provider ? row : change(row, event, { provider })
}

const answerFacts = ({ data: { usage, finishReason } }: RecordedOf<'RunCompleted'>) => ({
  ...(usage && { usage }),
  ...(finishReason && { finishReason }),
})

const worker = ({ data: { upstream } }: RecordedOf<'RunCompleted' | 'RunFailed'>) =>
  upstream && { provider: upstream.provider }

const change = (row: RunRow | undefined, { revision }: { revision: number }, changes: Partial<RunRow>) => {
  if (!row) return undefined
  const revisions = row.revision === revision ? row.revisions : [...row.revisions, revision]
  return { ...row, revision, revisions, ...changes }
}

const charged = (event: RecordedOf<'CreditsDebited'>): RunRow => {
  const { runId, amountMicros, receipt, label, budget } = event.data
  return {
    accountId: accountOf(event),
    runId,
    revision: event.revision,
    revisions: [event.revision],
    status: 'queued',
    model: receipt.model,
    endpoint: receipt.endpoint,
    createdAt: clockOf(event),
    chargedMicros: amountMicros,
    ...(label !== undefined && { label }),
    ...(budget && { budget: budget.name }),
    ...requester(event),
  }
}

type Acceptance = RecordedOf<'RunQueued' | 'RunStarted'> & { data: AcceptedRun }

const accepted = (row: RunRow | undefined, event: Acceptance) => {
  const { mode, metadata, store, idempotency, livemode } = event.data
  return change(livemode === false ? tested(event) : row, event, {
    mode,
    queuedRevision: event.revision,
    ...(metadata && { metadata }),
    ...(store === false && { store }),
    ...(idempotency && { request: { key: idempotency.key, hash: idempotency.requestHash } }),
  })
}

const tested = (event: Acceptance): RunRow => {
  const { runId, model, endpoint, receipt, label } = event.data
  return {
    accountId: accountOf(event),
    runId,
    livemode: false,
    revision: event.revision,
    revisions: [event.revision],
    status: 'queued',
    model,
    endpoint,
    createdAt: clockOf(event),
    chargedMicros: 0,
    ...(receipt && { liveMicros: receipt.totalMicros }),
    ...(label !== undefined && { label }),
    ...requester(event),
  }
}

const requester = ({ metadata }: Recorded): Pick<RunRow, 'keyId'> => {
  const { keyId } = metadata.actor as { keyId?: KeyId }
  return keyId ? { keyId } : {}
}
