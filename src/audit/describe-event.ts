import {
  type AcceptedRun,
  type AccountLimits,
  costOf,
  isAcceptance,
  type Payment,
  type ProviderCost,
  type RunAttempt,
  type RunOutput,
} from '../../schemas/account-events.ts'
import type { Notice, NoticeSettings } from '../../schemas/notice-events.ts'
import type { Moded } from '../../schemas/primitives.ts'
import { unreachable } from '../domain/decider.ts'
import { identityName, ownerName } from '../domain/login/identity.ts'
import type { KeyRing } from './account/key-ring.ts'
import { count, millionths } from './decimal.ts'
import type { AccountRecord } from './read-log.ts'

/** Describes an event for people, without its amount, time and actor. */
export const describeEvent = (event: AccountRecord, keys: KeyRing): string => {
  switch (event.type) {
    case 'AccountOpened':
      return `opened for ${ownerName(event.data)}${event.data.tester ? ', as a tester' : ''}`
    case 'AccountSuspended':
      return `suspended: ${event.data.reason}`
    case 'AccountErased':
      return `erased: ${event.data.reason}`
    case 'ErasureCompleted':
      return 'its personal data is gone'
    case 'TesterSet':
      return event.data.tester ? 'made a tester' : 'no tester any more'
    case 'LimitsSet':
      return `limits set: ${describeLimits(event.data)}`
    case 'RetentionSet':
      return `${event.data.days === 0 ? 'nothing of runs is kept' : 'runs are kept'}: ${event.data.reason}`
    case 'AccountResumed':
      return `resumed: ${event.data.reason}`
    case 'CreditsGranted':
      return `${event.data.kind} granted: ${event.data.reason} (${event.data.reference})${describePayment(event.data)}`
    case 'CreditsWithdrawn':
      return `${event.data.kind} withdrawn: ${event.data.reason} (${event.data.reference})`
    case 'CreditsDebited':
      return `${event.data.runId} debited for ${event.data.receipt.endpoint}`
    case 'CreditsRefunded':
      return `${event.data.runId} refunded: ${event.data.reason}`
    case 'CreditsReleased':
      return `${event.data.runId} settled: the credits that it did not use are released`
    case 'CreditsExpired':
      return `lot ${event.data.lot} expired`
    case 'LotExtended': {
      const { lot, expiresAt, reason } = event.data
      return `lot ${lot} ${expiresAt === undefined ? 'never expires' : `expires at ${expiresAt}`}: ${reason}`
    }
    case 'PurchaseOpened': {
      const { purchaseId, amount, currency, pack } = event.data
      return `${purchaseId} opened: ${pack === undefined ? 'credits' : `the pack ${pack}`} for ${amount} ${currency}`
    }
    case 'CheckoutOpened':
      return `${event.data.purchaseId} can be paid until ${event.data.expiresAt} at ${event.data.checkoutId}`
    case 'PurchasePaid': {
      const { purchaseId, paymentId, amount, currency, tax, country } = event.data
      const taxed = tax === undefined ? '' : `, ${tax} of it tax`
      return `${purchaseId} paid: ${amount} ${currency}${taxed}, ${country ?? 'no country'} (${paymentId})`
    }
    case 'FeeCharged':
      return `${event.data.purchaseId}: the payment service keeps ${event.data.amount} ${event.data.currency}`
    case 'PurchaseClosed':
      return `${event.data.purchaseId} closed: ${event.data.reason}`
    case 'RefundRequested':
      return `${describeClaim(event.data)} to be refunded: ${event.data.reason}`
    case 'RefundAccepted':
      return `${event.data.purchaseId}: the refund ${event.data.claimId} was accepted as ${event.data.refundId}`
    case 'PaymentRefunded':
      return `${describeClaim(event.data)} refunded`
    case 'RefundFailed':
      return `${event.data.purchaseId}: the refund ${event.data.claimId} failed`
    case 'WithdrawalDeclared': {
      const { purchaseId, amount, currency } = event.data
      return `${purchaseId}: the customer withdraws from the contract, and gets ${amount} ${currency} back`
    }
    case 'PaymentDisputed':
      return `${describeClaim(event.data)} disputed`
    case 'DisputeWon':
      return `${event.data.purchaseId}: the dispute ${event.data.claimId} was won`
    case 'CreditsOwed':
      return `${millionths(event.data.amountMicros)} credits owed for ${event.data.claimId}`
    case 'CreditsSettled':
      return `${millionths(event.data.amountMicros)} credits owed for ${event.data.claimId} settled`
    case 'ApiKeyCreated': {
      const { keyId, scope = 'full' } = event.data
      return `${keyId} created: ${keys.nameOf(keyId)}, ${scope}${testMode(event.data)}`
    }
    case 'ApiKeyRevoked':
      return `${event.data.keyId} revoked: ${keys.nameOf(event.data.keyId)}`
    case 'ApiKeyUsed':
      return `${event.data.keyId} used: ${keys.nameOf(event.data.keyId)}`
    case 'IdentityLinked':
      return `${identityName(event.data.identity)} linked`
    case 'SessionOpened':
      return `${event.data.sessionId} opened until ${event.data.expiresAt}`
    case 'SessionConfirmed':
      return `${event.data.sessionId} confirmed by a code`
    case 'SessionClosed':
      return `${event.data.sessionId} closed: ${event.data.reason.replaceAll('_', ' ')}`
    case 'RunQueued':
      return `${event.data.runId} queued: ${describeRequest(event.data)}`
    case 'RunStarted': {
      const request = isAcceptance(event) ? `: ${describeRequest(event.data)}` : ''
      return `${event.data.runId} started at ${event.data.upstream.provider}${request}`
    }
    case 'RunSubmitted': {
      const { runId, jobId, upstream } = event.data
      return `${runId} submitted to ${upstream.provider} as job ${jobId}${describeAttempts(event.data)}`
    }
    case 'RunCancelRequested':
      return `${event.data.runId}: the client asks to cancel it`
    case 'RunCompleted': {
      const { runId, output, finishReason } = event.data
      const cost = costOf(event)
      const charge = cost ? `; ${cost.provider} ${describeCost(cost)}` : ''
      const end = finishReason ? EARLY_ENDS[finishReason] : ''
      return `${runId} completed: ${describeOutput(output)}${end}${describeAttempts(event.data)}${charge}`
    }
    case 'RunFailed': {
      const { runId, error } = event.data
      return `${runId} failed as ${error.code}: ${error.message}${describeAttempts(event.data)}`
    }
    case 'ProviderCostRecorded':
      return `${event.data.runId}: ${event.data.provider} ${describeCost(event.data)}`
    case 'RunOutputDeleted':
      return `${event.data.runId}: its files were deleted`
    case 'RunsArchived':
      return `${event.data.runs.map(({ runId }) => runId).join(', ')} left the lists`
    case 'WebhookDelivered':
      return `${event.data.runId}: webhook delivered by attempt ${event.data.attempt}, status ${event.data.status}`
    case 'WebhookAttemptFailed':
      return `${event.data.runId}: webhook attempt ${event.data.attempt} failed: ${event.data.reason}`
    case 'WebhookAbandoned':
      return `${event.data.runId}: webhook abandoned after ${count(event.data.attempts, 'attempt')}`
    case 'WebhookRedeliveryRequested':
      return `${event.data.runId}: webhook to be delivered again to ${event.data.url}`
    case 'TopUpSet': {
      const { underMicros, creditsMicros, targetMicros = 0, monthlyAmount, currency } = event.data
      const amount = creditsMicros === undefined ? `up to ${millionths(targetMicros)}` : millionths(creditsMicros)
      return `top-ups set: ${amount} credits under ${millionths(underMicros)}, ${monthlyAmount} ${currency} a month`
    }
    case 'TopUpRemoved':
      return `top-ups turned off: ${event.data.reason}`
    case 'TopUpDue':
      return `a top-up is due at ${event.data.at}`
    case 'TopUpSettled':
      return `the top-up is ${event.data.outcome}${event.data.code === undefined ? '' : `: ${event.data.code}`}`
    case 'BudgetSet': {
      const { name, amountMicros, period } = event.data
      const credits = `${millionths(amountMicros)} credits ${period ? `a ${period}` : 'for once'}`
      return `budget ${JSON.stringify(name)} set to ${credits}`
    }
    case 'BudgetRemoved':
      return `budget ${JSON.stringify(event.data.name)} removed`
    case 'NoticesSet':
      return `notices set: ${describeNotices(event.data)}`
    case 'NoticeRaised':
      return `notice ${event.data.number}: ${describeNotice(event.data.notice, keys)}`
    case 'NoticeDelivered':
      return `notice ${event.data.number} delivered by ${event.data.channel}, by attempt ${event.data.attempt}`
    case 'NoticeAttemptFailed': {
      const { number, channel, attempt, reason } = event.data
      return `notice ${number}: attempt ${attempt} by ${channel} failed: ${reason}`
    }
    case 'NoticeAbandoned': {
      const { number, channel, attempts } = event.data
      return `notice ${number}: delivery by ${channel} abandoned after ${count(attempts, 'attempt')}`
    }
    case 'WebhookSecretRotated':
      return `webhook secret rotated: generation ${event.data.generation}`
    case 'WebhookTestRequested':
      return `${event.data.testId}: webhook test to be sent to ${event.data.url}`
    case 'WebhookTested': {
      const { testId, status, reason, latencyMs } = event.data
      return `${testId}: ${reason ?? `the receiver accepted the test with ${status}`} (${latencyMs} ms)`
    }
    case 'UploadGranted':
      return `${event.data.uploadId} granted: ${event.data.filename}, ${event.data.method}${testMode(event.data)}`
    case 'UploadStored': {
      const { uploadId, sizeBytes, sealed } = event.data
      return `${uploadId} stored: ${count(sizeBytes, 'byte')}${sealed ? '' : ', may be replaced'}`
    }
    case 'UploadDeletionRequested':
      return `${event.data.uploadId}: the client asks to delete it`
    case 'UploadDeleted':
      return `${event.data.uploadId} deleted: ${event.data.reason.replaceAll('_', ' ')}`
    default:
      return unreachable(event)
  }
}

const describeRequest = (run: AcceptedRun): string => {
  const kept = run.store === false ? ', nothing is kept' : ''
  return `${run.mode}${run.webhookUrl === undefined ? '' : ', with a webhook'}${kept}${testMode(run)}`
}

const testMode = ({ livemode }: Moded): string => (livemode === false ? ', in test mode' : '')

/** Names the attempts that failed, such as `; openai: rate_limited, 429`. */
const describeAttempts = ({ attempts = [] }: { attempts?: RunAttempt[] }): string =>
  attempts
    .filter(({ failedAt }) => failedAt !== undefined)
    .map(({ provider, reason, status }) => `; ${provider}: ${reason}${status === undefined ? '' : `, ${status}`}`)
    .join('')

const describeLimits = ({ requestsPerMinute, runsInFlight }: AccountLimits): string =>
  [
    requestsPerMinute === undefined ? undefined : `${count(requestsPerMinute, 'request')} per minute`,
    runsInFlight === undefined ? undefined : `${count(runsInFlight, 'run')} in flight`,
  ]
    .filter(text => text !== undefined)
    .join(', ') || 'the defaults'

const describeNotices = ({ email, url, balanceUnderMicros }: NoticeSettings): string => {
  const places = [email && 'by mail', url !== undefined && `to ${url}`].filter(Boolean).join(' and ') || 'none'
  return balanceUnderMicros > 0 ? `${places}, of a balance under ${millionths(balanceUnderMicros)} credits` : places
}

const describeNotice = (notice: Notice, keys: KeyRing): string => {
  switch (notice.kind) {
    case 'balance_low':
      return `the balance is under ${millionths(notice.underMicros)} credits`
    case 'budget_warning':
    case 'budget_exhausted': {
      const of = `${millionths(notice.spentMicros)} of its budget of ${millionths(notice.budgetMicros)} credits`
      return `${notice.keyId} has spent ${of}: ${keys.nameOf(notice.keyId)}`
    }
    case 'key_expiring':
      return `${notice.keyId} expires at ${notice.expiresAt}: ${keys.nameOf(notice.keyId)}`
    case 'credits_expiring':
      return `${millionths(notice.amountMicros)} credits of lot ${notice.lot} expire at ${notice.expiresAt}`
    case 'top_up_stopped':
      return `top-ups are off: ${notice.code}`
    case 'model_retiring':
      return `${notice.model} retires at ${notice.retiresAt}: ${notice.endpoints.join(', ')}`
    case 'withdrawal_received':
      return `the receipt of the withdrawal from ${notice.purchaseId}`
    default:
      return unreachable(notice)
  }
}

const describeClaim = ({ purchaseId, claimId, amount, currency }: Claim): string =>
  `${purchaseId}: ${amount} ${currency} (${claimId})`

interface Claim {
  purchaseId: string
  claimId: string
  amount: string
  currency: string
}

/** Names the invoice, if there is one, unless it equals the reference. */
const describePayment = ({ payment, reference }: { payment?: Payment; reference: string }): string => {
  if (!payment) return ''
  const { amount, currency, invoice } = payment
  return `, ${amount} ${currency} paid${invoice === undefined || invoice === reference ? '' : `, invoice ${invoice}`}`
}

/** Describes a provider's charge, such as `charges 0.080000 USD by its price list`. */
export const describeCost = ({ amountMicros, currency, source }: Omit<ProviderCost, 'salt'>): string =>
  amountMicros === undefined
    ? 'may charge for it; the amount is unknown'
    : `charges ${millionths(amountMicros)} ${currency}, by its ${source === 'reported' ? 'own account' : 'price list'}`

const describeOutput = ({ artifacts, text, toolCalls = [] }: RunOutput): string => {
  const files = artifacts.length > 0 && count(artifacts.length, 'file')
  const calls = toolCalls.length > 0 && count(toolCalls.length, 'tool call')
  return [files, text !== undefined && 'text', calls].filter(Boolean).join(' and ') || 'no output'
}

const EARLY_ENDS = { length: ', up to its longest length', cancelled: ', up to its cancellation' } as const
