import { type AccountEvent, isAcceptance, type RunQueued, requestNameOf } from '../../../schemas/account-events.ts'
import { expiryNoticeAt, NOTICE_CHANNELS } from '../../../schemas/notice-events.ts'
import type { KeyId, RunId, UploadId } from '../../../schemas/primitives.ts'
import { clockOf } from '../../../schemas/recorded.ts'
import { hasTokens } from '../catalog/pricing.ts'
import { dayOf } from '../days.ts'
import { Contradiction, type PastEvent, unreachable } from '../decider.ts'
import { digest128 } from '../digest.ts'
import { openingIdentity } from '../login/identity.ts'
import { markBudgetNotice, refundBudget, spendBudget, withBudgetPeriod } from './budgets.ts'
import { addClaim, setClaimStatus } from './claims.ts'
import { debitFacts } from './credits.ts'
import { changeDebt } from './debts.ts'
import { bytesOf, countFailure, countFree, countTestRun, offsetFailure } from './limits.ts'
import { addToLot, endUses, expireLot, extendLot, giveBack, lotOf, useCredits, withdrawFromLots } from './lots.ts'
import { keepBudget } from './named-budgets.ts'
import { deliveryOf, markRetirementNotice } from './notices.ts'
import { addFee, addPayment, addPurchase, changePurchase, dropClosed } from './purchases.ts'
import {
  type AccountState,
  type ActiveKey,
  initialAccount,
  isForgetful,
  keyOf,
  type LiveUpload,
  MAX_REMEMBERED,
  type OpenRun,
  REMEMBER_MS,
} from './state.ts'
import { changeTopUp, giveUp, keepTopUp, openAttempt, settleTopUp } from './top-ups.ts'
import { addTest, closeTest, countResend } from './webhooks.ts'

export const evolve = (state: AccountState, event: PastEvent<AccountEvent>): AccountState =>
  countFree(evolveByType(state, event), event)

const evolveByType = (state: AccountState, event: PastEvent<AccountEvent>): AccountState => {
  switch (event.type) {
    case 'AccountOpened':
      return {
        ...state,
        accountId: event.data.accountId,
        tester: event.data.tester,
        identities: [openingIdentity(event.data)],
        notices: event.data.notices ?? state.notices,
      }
    case 'AccountSuspended':
      return { ...state, suspension: { reason: event.data.reason, since: clockOf(event) } }
    case 'AccountResumed':
      return { ...state, suspension: undefined }
    case 'AccountErased':
      return { ...state, erasure: 'begun', suspension: { reason: 'the account was erased', since: clockOf(event) } }
    case 'ErasureCompleted':
      return { ...state, erasure: 'completed', identities: [], notices: initialAccount.notices }
    case 'TesterSet':
      return { ...state, tester: event.data.tester }
    case 'LimitsSet':
      return { ...state, limits: event.data }
    case 'RetentionSet':
      return { ...state, retentionDays: event.data.days }
    case 'CreditsGranted': {
      const { reference, amountMicros } = event.data
      return recordReference(
        { ...addToLot(changeBalance(state, event.data, 1), event.data), balanceLowAtMs: undefined },
        reference,
        amountMicros,
      )
    }
    case 'CreditsWithdrawn': {
      const { reference, amountMicros } = event.data
      return recordReference(
        withdrawFromLots(changeBalance(state, event.data, -1), event.data),
        reference,
        -amountMicros,
      )
    }
    case 'CreditsExpired':
      return expireLot(changeBalance(state, event.data, -1), event.data)
    case 'LotExtended':
      return extendLot(state, event.data)
    case 'CreditsDebited': {
      const { runId, amountMicros } = event.data
      const debit = withBudgetPeriod(debitFacts(event), clockMs(event), state)
      const { receipt } = event.data
      const { uses, ...lots } = useCredits(state, amountMicros)
      const run = {
        chargedMicros: amountMicros,
        ...(!state.isSplitUnknown && { uses }),
        isStarted: false,
        bytes: 0,
        debit,
        ...(hasTokens(receipt) && { receipt }),
      }
      const openRuns = state.openRuns.set(runId, run)
      const openRunsOf = countOpen(state, debit.keyId, 1)
      const balance = { ...changeBalance(state, event.data, -1), ...lots }
      return spendBudget({ ...balance, openRuns, openRunsOf }, debit, amountMicros)
    }
    case 'CreditsRefunded': {
      const { debit, amountMicros } = event.data
      const refunded = giveBack(changeBalance(state, event.data, 1), event.data)
      return refundBudget({ ...refunded, refunds: state.refunds + 1 }, debit, amountMicros)
    }
    case 'CreditsReleased': {
      const { debit, amountMicros } = event.data
      return refundBudget(giveBack(changeBalance(state, event.data, 1), event.data), debit, amountMicros)
    }
    case 'PurchaseOpened':
      return openAttempt(addPurchase(state, event.data, clockMs(event)), event.data)
    case 'CheckoutOpened':
      return changePurchase(state, event.data.purchaseId, () => ({ checkoutId: event.data.checkoutId }))
    case 'PurchasePaid':
      return addPayment(state, event.data, event.metadata.at)
    case 'FeeCharged':
      return addFee(state, event.data)
    case 'PurchaseClosed':
      return dropClosed(
        giveUp(
          changePurchase(state, event.data.purchaseId, () => ({ status: 'closed' })),
          event,
        ),
      )
    case 'RefundRequested':
      return addClaim(state, 'refund', 'requested', withoutReason(event.data))
    case 'WithdrawalDeclared':
      return changePurchase(state, event.data.purchaseId, () => ({ isWithdrawn: true }))
    case 'PaymentRefunded':
      return addClaim(state, 'refund', 'standing', event.data)
    case 'PaymentDisputed': {
      // The debt is an event of its own.
      const { owedMicros: _, ...claim } = event.data
      return addClaim(state, 'dispute', 'standing', claim)
    }
    case 'RefundAccepted':
      return setClaimStatus(state, 'refund', 'standing', event.data)
    case 'RefundFailed':
      return setClaimStatus(state, 'refund', 'reversed', event.data)
    case 'DisputeWon':
      return setClaimStatus(state, 'dispute', 'reversed', event.data)
    case 'TopUpSet':
      return keepTopUp(state, event.data)
    case 'TopUpRemoved':
      return { ...state, topUp: undefined }
    case 'TopUpDue':
      return changeTopUp(state, { dueAt: event.data.at })
    case 'TopUpSettled':
      return settleTopUp(state, event.data.outcome)
    case 'CreditsOwed':
      return changeDebt(state, event.data, 1)
    case 'CreditsSettled':
      return changeDebt(state, event.data, -1)
    case 'ApiKeyCreated': {
      const { keyId, name: _name, lastFour: _lastFour, ...key } = event.data
      const noticeAt = expiryNoticeAt(key.expiresAt, clockOf(event))
      const created = { ...key, ...(noticeAt !== undefined && { expiryNoticeAt: noticeAt }) }
      return { ...state, activeKeys: state.activeKeys.set(keyId, created) }
    }
    case 'ApiKeyUsed':
      return changeKey(state, event.data.keyId, { usedOn: dayOf(clockMs(event)) })
    case 'ApiKeyRevoked': {
      const { keyId } = event.data
      return withdrawUploads({ ...state, activeKeys: state.activeKeys.delete(keyId) }, keyId, clockMs(event))
    }
    case 'BudgetSet':
      return keepBudget(state, event)
    case 'BudgetRemoved':
      return { ...state, budgets: state.budgets.delete(event.data.name) }
    case 'IdentityLinked':
      return { ...state, identities: [...state.identities, event.data.identity] }
    case 'SessionOpened': {
      const { sessionId, expiresAt, ...place } = event.data
      const openedAtMs = clockMs(event)
      const session = { openedAtMs, expiresAtMs: Date.parse(expiresAt), codeAtMs: openedAtMs, ...place }
      return { ...state, sessions: state.sessions.set(sessionId, session) }
    }
    case 'SessionConfirmed': {
      const { sessionId } = event.data
      const session = state.sessions.get(sessionId)
      if (!session) throw new Contradiction(`${sessionId} is not open`)
      return { ...state, sessions: state.sessions.set(sessionId, { ...session, codeAtMs: clockMs(event) }) }
    }
    case 'SessionClosed':
      return { ...state, sessions: state.sessions.delete(event.data.sessionId) }
    case 'RunQueued':
      return acceptRun(state, event)
    case 'RunStarted': {
      const { runId, upstream } = event.data
      return changeRun(isAcceptance(event) ? acceptRun(state, event) : state, runId, { isStarted: true, upstream })
    }
    case 'RunSubmitted':
      return changeRun(state, event.data.runId, { jobId: event.data.jobId, upstream: event.data.upstream })
    case 'RunCancelRequested':
      return changeRun(state, event.data.runId, { isCancelRequested: true })
    case 'RunCompleted': {
      const ended = endRun(endUses(state, event.data.runId, false), event.data.runId)
      return isTestRun(state, event.data.runId) ? ended : offsetFailure(ended, bytesOfRun(state, event.data.runId))
    }
    case 'RunFailed': {
      const { runId, error } = event.data
      const ended = endRun(endUses(state, runId, true), runId)
      if (isTestRun(state, runId)) return ended
      return countFailure(ended, error.code, bytesOfRun(state, runId), clockMs(event))
    }
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
    case 'NoticesSet':
      return { ...state, notices: event.data, balanceLowAtMs: undefined }
    case 'NoticeRaised':
      return raiseNotice(state, event)
    case 'NoticeAttemptFailed': {
      const { attempt, ...delivery } = event.data
      return { ...state, noticeDeliveries: state.noticeDeliveries.set(deliveryOf(delivery), attempt) }
    }
    case 'NoticeDelivered':
    case 'NoticeAbandoned':
      return { ...state, noticeDeliveries: state.noticeDeliveries.delete(deliveryOf(event.data)) }
    // Neither a run that has ended nor its results or costs are part of the state.
    case 'ProviderCostRecorded':
    case 'RunOutputDeleted':
    case 'RunsArchived':
      return state
    case 'UploadGranted': {
      const { uploadId, objectKey, maxSizeBytes, livemode } = event.data
      const keyId = keyOf(event)
      return changeUpload(state, uploadId, {
        stage: 'granted',
        objectKey,
        bytes: maxSizeBytes,
        ...(keyId && { keyId }),
        ...(livemode === false && { livemode }),
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

const withoutReason = <Data extends { reason: string }>({ reason: _, ...data }: Data) => data

const changeKey = (state: AccountState, keyId: KeyId, change: Partial<ActiveKey>): AccountState => {
  const key = state.activeKeys.get(keyId)
  return key ? { ...state, activeKeys: state.activeKeys.set(keyId, { ...key, ...change }) } : state
}

const changeRun = (state: AccountState, runId: RunId, change: Partial<OpenRun>): AccountState => {
  const run = state.openRuns.get(runId)
  return run ? { ...state, openRuns: state.openRuns.set(runId, { ...run, ...change }) } : state
}

type Acceptance = PastEvent<AccountEvent> & { data: RunQueued }

const acceptRun = (state: AccountState, event: Acceptance): AccountState => {
  const { livemode } = event.data
  const before = livemode === false ? openTestRun(countTestRun(state, clockMs(event)), event) : state
  return remember(enqueue(before, event.data), event.data, clockMs(event))
}

/** A test run has no debit that would open it. */
const openTestRun = (state: AccountState, { data, metadata }: Acceptance): AccountState => {
  const { runId, model, endpoint, label } = data
  const keyId = keyOf({ metadata })
  const debit = { model, endpoint, ...(keyId && { keyId }), ...(label !== undefined && { label }) }
  const run: OpenRun = { livemode: false, chargedMicros: 0, isStarted: false, bytes: 0, debit }
  return { ...state, openRuns: state.openRuns.set(runId, run), openRunsOf: countOpen(state, keyId, 1) }
}

const isTestRun = ({ openRuns }: AccountState, runId: RunId): boolean => openRuns.get(runId)?.livemode === false

const bytesOfRun = ({ openRuns }: AccountState, runId: RunId): number => openRuns.get(runId)?.bytes ?? 0

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

const raiseNotice = (
  before: AccountState,
  event: PastEvent<Extract<AccountEvent, { type: 'NoticeRaised' }>>,
): AccountState => {
  const { number, notice, to } = event.data
  const pending = NOTICE_CHANNELS.filter(channel => to[channel] !== undefined)
  const noticeDeliveries = before.noticeDeliveries.withMutations(deliveries => {
    for (const channel of pending) deliveries.set(deliveryOf({ number, channel }), 0)
  })
  const state = { ...before, noticesRaised: number, noticeDeliveries }
  switch (notice.kind) {
    case 'withdrawal_received':
      return state
    case 'balance_low':
      return pending.length === 0 ? state : { ...state, balanceLowAtMs: clockMs(event) }
    case 'budget_warning':
    case 'budget_exhausted':
      return markBudgetNotice(state, notice.keyId, notice.budgetPeriod, notice.kind === 'budget_exhausted')
    case 'key_expiring': {
      const { expiryNoticeAt: _, ...key } = state.activeKeys.get(notice.keyId) ?? {}
      return 'hash' in key ? { ...state, activeKeys: state.activeKeys.set(notice.keyId, key) } : state
    }
    case 'credits_expiring': {
      const { lot, days } = notice
      const lots = state.lots.set(lot - 1, { ...lotOf(state, lot), toldDays: days })
      return { ...state, lots }
    }
    case 'top_up_stopped':
      return state
    case 'model_retiring':
      return { ...state, retirementsTold: markRetirementNotice(state, notice, clockMs(event)) }
    default:
      return unreachable(notice)
  }
}

/** Adds a request, if the run has one, and drops expired or excess ones. */
const remember = (state: AccountState, { runId, idempotency, ...run }: RunQueued, atMs: number): AccountState => {
  if (!idempotency) return state
  const key = requestNameOf(idempotency.key, run)
  const { requestHash } = idempotency
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
