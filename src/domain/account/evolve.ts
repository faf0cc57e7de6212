import type { AccountEvent, Idempotency, RunQueued } from '../../../schemas/account-events.ts'
import type { KeyId, RunId, UploadId } from '../../../schemas/primitives.ts'
import { clockOf } from '../../../schemas/recorded.ts'
import { Contradiction, type PastEvent, unreachable } from '../decider.ts'
import { digest128 } from '../digest.ts'
import { openingIdentity } from '../login/identity.ts'
import { giveBack, spend, withBudgetPeriod } from './budgets.ts'
import { dayOf } from './days.ts'
import { debitFacts, keyOf } from './debit-facts.ts'
import { bytesOf, countFailure, offsetFailure } from './run-limits.ts'
import {
  type AccountState,
  type ActiveKey,
  isForgetful,
  type LiveUpload,
  MAX_REMEMBERED,
  type OpenRun,
  REMEMBER_MS,
} from './state.ts'
import { countResend } from './webhook-resends.ts'
import { addTest, closeTest } from './webhook-tests.ts'

export const evolve = (state: AccountState, event: PastEvent<AccountEvent>): AccountState => {
  switch (event.type) {
    case 'AccountOpened':
      return {
        ...state,
        accountId: event.data.accountId,
        tester: event.data.tester,
        identities: [openingIdentity(event.data)],
      }
    case 'AccountSuspended':
      return { ...state, suspension: { reason: event.data.reason, since: clockOf(event) } }
    case 'AccountResumed':
      return { ...state, suspension: undefined }
    case 'LimitsSet':
      return { ...state, limits: event.data }
    case 'CreditsGranted':
      return recordReference(changeBalance(state, event.data, 1), event.data.reference, event.data.amountMicros)
    case 'CreditsWithdrawn':
      return recordReference(changeBalance(state, event.data, -1), event.data.reference, -event.data.amountMicros)
    case 'CreditsDebited': {
      const { runId, amountMicros } = event.data
      const debit = withBudgetPeriod(debitFacts(event), clockMs(event), state)
      const openRuns = state.openRuns.set(runId, { chargedMicros: amountMicros, isStarted: false, bytes: 0, debit })
      const openRunsOf = countOpen(state, debit.keyId, 1)
      return spend({ ...changeBalance(state, event.data, -1), openRuns, openRunsOf }, debit, amountMicros)
    }
    case 'CreditsRefunded': {
      const { debit, amountMicros } = event.data
      return giveBack({ ...changeBalance(state, event.data, 1), refunds: state.refunds + 1 }, debit, amountMicros)
    }
    case 'ApiKeyCreated': {
      const { keyId, name: _name, lastFour: _lastFour, ...key } = event.data
      return { ...state, activeKeys: state.activeKeys.set(keyId, key) }
    }
    case 'ApiKeyUsed':
      return changeKey(state, event.data.keyId, { usedOn: dayOf(clockMs(event)) })
    case 'ApiKeyRevoked': {
      const { keyId } = event.data
      return withdrawUploads({ ...state, activeKeys: state.activeKeys.delete(keyId) }, keyId, clockMs(event))
    }
    case 'IdentityLinked':
      return { ...state, identities: [...state.identities, event.data.identity] }
    case 'SessionOpened': {
      const { sessionId, expiresAt } = event.data
      return { ...state, sessions: state.sessions.set(sessionId, { expiresAtMs: Date.parse(expiresAt) }) }
    }
    case 'SessionClosed':
      return { ...state, sessions: state.sessions.delete(event.data.sessionId) }
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

const changeKey = (state: AccountState, keyId: KeyId, change: Partial<ActiveKey>): AccountState => {
  const key = state.activeKeys.get(keyId)
  return key ? { ...state, activeKeys: state.activeKeys.set(keyId, { ...key, ...change }) } : state
}

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
  const run = state.openRuns.get(runId)
  if (!run) return state
  const ended = {
    ...state,
    openRuns: state.openRuns.delete(runId),
    openRunsOf: countOpen(state, run.debit.keyId, -1),
    openRunBytes: state.openRunBytes - run.bytes,
  }
  return run.hasWebhook ? addDelivery(ended, runId) : ended
}

/** The open runs of each key, after one of a key has begun or ended. */
const countOpen = ({ openRunsOf }: AccountState, keyId: KeyId | undefined, step: 1 | -1) => {
  if (!keyId) return openRunsOf
  const count = (openRunsOf.get(keyId) ?? 0) + step
  return count > 0 ? openRunsOf.set(keyId, count) : openRunsOf.delete(keyId)
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
