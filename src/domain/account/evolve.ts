import type { AccountEvent, Idempotency } from '../../../schemas/account-events.ts'
import type { RunId } from '../../../schemas/primitives.ts'
import { type Happened, unreachable } from '../decider.ts'
import { type AccountState, MAX_REMEMBERED, type OpenRun, REMEMBER_MS } from './state.ts'

export const evolve = (state: AccountState, event: Happened<AccountEvent>): AccountState => {
  switch (event.type) {
    case 'AccountOpened':
      return { ...state, accountId: event.data.accountId, tester: event.data.tester }
    case 'CreditsGranted':
      return { ...state, balanceMicros: event.data.balanceAfterMicros }
    case 'CreditsDebited':
      return {
        ...state,
        balanceMicros: event.data.balanceAfterMicros,
        openRuns: state.openRuns.set(event.data.runId, { chargedMicros: event.data.amountMicros, started: false }),
      }
    case 'CreditsRefunded':
      return { ...state, balanceMicros: event.data.balanceAfterMicros }
    case 'ApiKeyCreated':
      return { ...state, activeKeys: state.activeKeys.set(event.data.keyId, { hash: event.data.hash }) }
    case 'ApiKeyRevoked':
      return { ...state, activeKeys: state.activeKeys.delete(event.data.keyId) }
    case 'RunQueued': {
      const { runId, idempotency, webhookUrl } = event.data
      const queued = webhookUrl === undefined ? state : changeRun(state, runId, { webhook: true })
      return idempotency ? remember(queued, runId, idempotency, Date.parse(event.metadata.at)) : queued
    }
    case 'RunStarted':
      return changeRun(state, event.data.runId, { started: true })
    case 'RunSubmitted':
      return changeRun(state, event.data.runId, { jobId: event.data.jobId })
    case 'RunCancelRequested':
      return changeRun(state, event.data.runId, { cancelRequested: true })
    case 'RunCompleted':
    case 'RunFailed':
      return endRun(state, event.data.runId)
    case 'WebhookDelivered':
    case 'WebhookAbandoned':
      return { ...state, deliveries: state.deliveries.delete(event.data.runId) }
    case 'WebhookAttemptFailed':
      return { ...state, deliveries: state.deliveries.set(event.data.runId, { attempts: event.data.attempt }) }
    case 'WebhookRedeliveryRequested':
      return owe(state, event.data.runId)
    // Neither a run that has ended nor its results are part of the state.
    case 'RunOutputDeleted':
      return state
    case 'UploadGranted':
      return { ...state, uploads: state.uploads.set(event.data.uploadId, 'granted') }
    case 'UploadStored': {
      const { uploadId, sealed } = event.data
      return { ...state, uploads: state.uploads.set(uploadId, sealed ? 'sealed' : 'stored') }
    }
    case 'UploadDeletionRequested':
      return { ...state, uploads: state.uploads.set(event.data.uploadId, 'deleting') }
    case 'UploadDeleted':
      return { ...state, uploads: state.uploads.delete(event.data.uploadId) }
    default:
      return unreachable(event)
  }
}

const changeRun = (state: AccountState, runId: RunId, change: Partial<OpenRun>): AccountState => {
  const run = state.openRuns.get(runId)
  return run ? { ...state, openRuns: state.openRuns.set(runId, { ...run, ...change }) } : state
}

const endRun = (state: AccountState, runId: RunId): AccountState => {
  const ended = { ...state, openRuns: state.openRuns.delete(runId) }
  return state.openRuns.get(runId)?.webhook ? owe(ended, runId) : ended
}

/** From now on a receiver is to be told. */
const owe = (state: AccountState, runId: RunId): AccountState => ({
  ...state,
  deliveries: state.deliveries.set(runId, { attempts: 0 }),
})

/** Adds a request, and lets go of those that are past their time or too many. */
const remember = (state: AccountState, runId: RunId, { key, requestHash }: Idempotency, atMs: number): AccountState => {
  let forgetful = state.forgetful
  // Deleting first puts a key that is used again behind all others, where its new time belongs.
  const requests = state.requests.withMutations(recent => {
    recent.delete(key).set(key, { runId, requestHash, atMs })
    for (const [oldest, request] of state.requests) {
      const expired = request.atMs <= atMs - REMEMBER_MS
      if (!expired && recent.size <= MAX_REMEMBERED) break
      if (oldest === key) continue
      recent.delete(oldest)
      forgetful ||= !expired
    }
  })
  return { ...state, requests, forgetful }
}
