import type { AccountEvent, Idempotency, RunQueued } from '../../../schemas/account-events.ts'
import type { KeyId, RunId, UploadId } from '../../../schemas/primitives.ts'
import { clockOf } from '../../../schemas/recorded.ts'
import { Contradiction, type PastEvent, unreachable } from '../decider.ts'
import { digest128 } from '../digest.ts'
import { debitFacts, keyOf } from './debit-facts.ts'
import { bytesOf, countFailure, offsetFailure } from './run-limits.ts'
import { type AccountState, isForgetful, type LiveUpload, MAX_REMEMBERED, type OpenRun, REMEMBER_MS } from './state.ts'
import { countResend } from './webhook-resends.ts'
import { addTest, closeTest } from './webhook-tests.ts'

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
        openRuns: state.openRuns.set(event.data.runId, {
          chargedMicros: event.data.amountMicros,
          isStarted: false,
          bytes: 0,
          debit: debitFacts(event),
        }),
      }
    case 'CreditsRefunded':
      return { ...changeBalance(state, event.data, 1), refunds: state.refunds + 1 }
    case 'ApiKeyCreated': {
      const { keyId, hash, scope } = event.data
      return { ...state, activeKeys: state.activeKeys.set(keyId, { hash, ...(scope && { scope }) }) }
    }
    case 'ApiKeyRevoked': {
      const { keyId } = event.data
      return withdrawUploads({ ...state, activeKeys: state.activeKeys.delete(keyId) }, keyId, clockMs(event))
    }
    case 'RunQueued': {
      const { runId, idempotency } = event.data
      const queued = enqueue(state, event.data)
      return idempotency ? remember(queued, runId, idempotency, clockMs(event)) : queued
    }
    case 'RunStarted':
      return changeRun(state, event.data.runId, { isStarted: true, upstream: event.data.upstream })
    case 'RunSubmitted':
      return changeRun(state, event.data.runId, { jobId: event.data.jobId, upstream: event.data.upstream })
    case 'RunCancelRequested':
      return changeRun(state, event.data.runId, { isCancelRequested: true })
    case 'RunCompleted':
      return offsetFailure(endRun(state, event.data.runId))
    case 'RunFailed':
      return countFailure(endRun(state, event.data.runId), event.data.error.code, clockMs(event))
    case 'WebhookDelivered':
    case 'WebhookAbandoned':
      return { ...state, deliveries: state.deliveries.delete(event.data.runId) }
    case 'WebhookAttemptFailed':
      return { ...state, deliveries: state.deliveries.set(event.data.runId, { attempts: event.data.attempt }) }
    case 'WebhookRedeliveryRequested':
      return countResend(addDelivery(state, event.data.runId), event, clockMs(event))
    case 'WebhookSecretRotated':
      return { ...state, webhookSecret: { ...event.data, rotatedAtMs: clockMs(event) } }
    case 'WebhookTestRequested':
      return addTest(state, event.data.testId, clockMs(event))
    case 'WebhookTested':
      return closeTest(state, event.data.testId)
    // Neither a run that has ended nor its results or costs are part of the state.
    case 'ProviderCostRecorded':
    case 'RunOutputDeleted':
      return state
    case 'UploadGranted': {
      const { uploadId, objectKey, maxSizeBytes } = event.data
      const keyId = keyOf(event)
      return changeUpload(state, uploadId, {
        stage: 'granted',
        objectKey,
        bytes: maxSizeBytes,
        ...(keyId && { keyId }),
      })
    }
    case 'UploadStored': {
      const { uploadId, sealed, sizeBytes } = event.data
      return changeUpload(state, uploadId, sealed ? { stage: 'sealed', bytes: sizeBytes } : { stage: 'stored' })
    }
    case 'UploadDeletionRequested':
      return changeUpload(state, event.data.uploadId, { stage: 'deleting' })
    case 'UploadDeleted':
      return deleteUpload(state, event.data.uploadId)
    default:
      return unreachable(event)
  }
}

const clockMs = (event: PastEvent<AccountEvent>) => Date.parse(clockOf(event))

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

const enqueue = (state: AccountState, run: RunQueued): AccountState => {
  if (!state.openRuns.has(run.runId)) return state
  const bytes = bytesOf(run)
  return {
    ...changeRun(state, run.runId, { bytes, ...(run.webhookUrl !== undefined && { hasWebhook: true }) }),
    openRunBytes: state.openRunBytes + bytes,
  }
}

const changeUpload = (state: AccountState, uploadId: UploadId, change: Partial<LiveUpload>): AccountState => {
  const before = state.uploads.get(uploadId) ?? { stage: 'granted', objectKey: '', bytes: 0 }
  const upload = { ...before, ...change }
  const uploadBytes = state.uploadBytes - before.bytes + upload.bytes
  return { ...state, uploads: state.uploads.set(uploadId, upload), uploadBytes }
}

/** Marks the uploads that a revoked key has requested. */
const withdrawUploads = (state: AccountState, keyId: KeyId, withdrawnAtMs: number): AccountState => ({
  ...state,
  uploads: state.uploads.map(upload => (upload.keyId === keyId ? { ...upload, withdrawnAtMs } : upload)),
})

const deleteUpload = (state: AccountState, uploadId: UploadId): AccountState => ({
  ...state,
  uploads: state.uploads.delete(uploadId),
  uploadBytes: state.uploadBytes - (state.uploads.get(uploadId)?.bytes ?? 0),
})

const endRun = (state: AccountState, runId: RunId): AccountState => {
  const { bytes = 0 } = state.openRuns.get(runId) ?? {}
  const ended = { ...state, openRuns: state.openRuns.delete(runId), openRunBytes: state.openRunBytes - bytes }
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
