import type { AccountEvent, Idempotency } from '../../../schemas/account-events.ts'
import type { RunId, UploadId } from '../../../schemas/primitives.ts'
import { clockOf } from '../../../schemas/recorded.ts'
import { Contradiction, type PastEvent, unreachable } from '../decider.ts'
import { digest128 } from '../digest.ts'
import { type AccountState, isForgetful, type LiveUpload, MAX_REMEMBERED, type OpenRun, REMEMBER_MS } from './state.ts'

export const evolve = (state: AccountState, event: PastEvent<AccountEvent>): AccountState => {
  switch (event.type) {
    case 'AccountOpened':
      return { ...state, accountId: event.data.accountId, tester: event.data.tester }
    case 'CreditsGranted':
      return recordReference(changeBalance(state, event.data, 1), event.data.reference, event.data.amountMicros)
    case 'CreditsWithdrawn':
      return recordReference(changeBalance(state, event.data, -1), event.data.reference, -event.data.amountMicros)
    case 'CreditsDebited':
      return {
        ...changeBalance(state, event.data, -1),
        openRuns: state.openRuns.set(event.data.runId, { chargedMicros: event.data.amountMicros, isStarted: false }),
      }
    case 'CreditsRefunded':
      return { ...changeBalance(state, event.data, 1), refunds: state.refunds + 1 }
    case 'ApiKeyCreated': {
      const { keyId, hash, scope } = event.data
      return { ...state, activeKeys: state.activeKeys.set(keyId, { hash, ...(scope && { scope }) }) }
    }
    case 'ApiKeyRevoked':
      return { ...state, activeKeys: state.activeKeys.delete(event.data.keyId) }
    case 'RunQueued': {
      const { runId, idempotency, webhookUrl } = event.data
      const queued = webhookUrl === undefined ? state : changeRun(state, runId, { hasWebhook: true })
      return idempotency ? remember(queued, runId, idempotency, Date.parse(clockOf(event))) : queued
    }
    case 'RunStarted':
      return changeRun(state, event.data.runId, { isStarted: true })
    case 'RunSubmitted':
      return changeRun(state, event.data.runId, { jobId: event.data.jobId })
    case 'RunCancelRequested':
      return changeRun(state, event.data.runId, { isCancelRequested: true })
    case 'RunCompleted':
    case 'RunFailed':
      return endRun(state, event.data.runId)
    case 'WebhookDelivered':
    case 'WebhookAbandoned':
      return { ...state, deliveries: state.deliveries.delete(event.data.runId) }
    case 'WebhookAttemptFailed':
      return { ...state, deliveries: state.deliveries.set(event.data.runId, { attempts: event.data.attempt }) }
    case 'WebhookRedeliveryRequested':
      return addDelivery(state, event.data.runId)
    // Neither a run that has ended nor its results are part of the state.
    case 'RunOutputDeleted':
      return state
    case 'UploadGranted':
      return changeUpload(state, event.data.uploadId, { stage: 'granted', objectKey: event.data.objectKey })
    case 'UploadStored': {
      const { uploadId, sealed } = event.data
      return changeUpload(state, uploadId, { stage: sealed ? 'sealed' : 'stored' })
    }
    case 'UploadDeletionRequested':
      return changeUpload(state, event.data.uploadId, { stage: 'deleting' })
    case 'UploadDeleted':
      return { ...state, uploads: state.uploads.delete(event.data.uploadId) }
    default:
      return unreachable(event)
  }
}

/** Changes the balance. Throws a Contradiction if the event's balance does not match its amount. */
const changeBalance = (
  state: AccountState,
  { amountMicros, balanceAfterMicros }: { amountMicros: number; balanceAfterMicros: number },
  sign: 1 | -1,
): AccountState => {
  const balanceMicros = state.balanceMicros + sign * amountMicros
  if (balanceMicros !== balanceAfterMicros)
    throw new Contradiction(
      `${state.balanceMicros} ${sign > 0 ? '+' : '-'} ${amountMicros} microcredits are not ${balanceAfterMicros}`,
    )
  return { ...state, balanceMicros }
}

const recordReference = (state: AccountState, reference: string, signedMicros: number): AccountState => ({
  ...state,
  references: state.references.set(digest128(reference), signedMicros),
})

const changeRun = (state: AccountState, runId: RunId, change: Partial<OpenRun>): AccountState => {
  const run = state.openRuns.get(runId)
  return run ? { ...state, openRuns: state.openRuns.set(runId, { ...run, ...change }) } : state
}

const changeUpload = (state: AccountState, uploadId: UploadId, change: Partial<LiveUpload>): AccountState => {
  const upload = { stage: 'granted' as const, objectKey: '', ...state.uploads.get(uploadId), ...change }
  return { ...state, uploads: state.uploads.set(uploadId, upload) }
}

const endRun = (state: AccountState, runId: RunId): AccountState => {
  const ended = { ...state, openRuns: state.openRuns.delete(runId) }
  return state.openRuns.get(runId)?.hasWebhook ? addDelivery(ended, runId) : ended
}

/** Makes the run's webhook pending. */
const addDelivery = (state: AccountState, runId: RunId): AccountState => ({
  ...state,
  deliveries: state.deliveries.set(runId, { attempts: 0 }),
})

/** Adds a request and drops expired or excess ones. */
const remember = (state: AccountState, runId: RunId, { key, requestHash }: Idempotency, atMs: number): AccountState => {
  let hasDroppedEarly = isForgetful(state, atMs)
  // Deleting first moves a reused key to the end, so that the map stays in time order.
  const requests = state.requests.withMutations(recent => {
    recent.delete(key).set(key, { runId, requestHash, atMs })
    for (const [oldest, request] of state.requests) {
      const expired = request.atMs <= atMs - REMEMBER_MS
      if (!expired && recent.size <= MAX_REMEMBERED) break
      if (oldest === key) continue
      recent.delete(oldest)
      hasDroppedEarly ||= !expired
    }
  })
  return { ...state, requests, hasDroppedEarly }
}
