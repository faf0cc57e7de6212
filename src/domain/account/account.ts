import type { AccountEvent } from '../../../schemas/account-events.ts'
import type { Identity } from '../../../schemas/identity.ts'
import { accept, type Decider, unreachable } from '../decider.ts'
import { type Decided, type Refusal, refuse } from '../refusal.ts'
import {
  closeAccount,
  closeAllSessions,
  closeSession,
  completeErasure,
  confirmSession,
  eraseAccount,
  linkIdentity,
  openSession,
  resumeAccount,
  sessionRefusal,
  setRetention,
  setTester,
  suspendAccount,
  suspensionRefusal,
} from './access.ts'
import { withClaimsLeft } from './claims-left.ts'
import type { AccountCommand, OpenAccount } from './commands.ts'
import { creditsGranted, expireCredits, extendLotExpiry, grantCredits, refundRun, withdrawCredits } from './credits.ts'
import { recordDispute } from './disputes.ts'
import { evolve } from './evolve.ts'
import { createKey, revokeKey, useKey } from './keys.ts'
import { setLimits, withinLimits } from './limits.ts'
import { removeBudget, setBudget } from './named-budgets.ts'
import { raiseKeyExpiry, raiseRetirement, recordNotice, setNotices } from './notices.ts'
import { acceptRefund, recordRefund, requestRefund } from './payment-refunds.ts'
import { closePurchase, openCheckout, openPurchase, payPurchase, recordFee } from './purchases.ts'
import {
  archiveRuns,
  cancelRun,
  completeRun,
  failRun,
  queueRun,
  recordOutputDeletion,
  startRun,
  submitRun,
} from './runs.ts'
import { type AccountState, initialAccount } from './state.ts'
import { endTopUp, failTopUp, openTopUp, removeTopUp, setTopUp, withTopUp } from './top-ups.ts'
import { grantUpload, recordUploadDeletion, requestUploadDeletion, storeUpload } from './uploads.ts'
import {
  recordDelivery,
  recordWebhookTest,
  redeliverWebhook,
  requestWebhookTest,
  rotateWebhookSecret,
} from './webhooks.ts'
import { declareWithdrawal } from './withdrawals.ts'

/**
 * Decides a command. The existence of the account is checked first, then the caller's session, and then the account's
 * suspension; the other checks are in each noun's file.
 */
const decide = (command: AccountCommand, state: AccountState, atMs: number): Decided<AccountEvent> => {
  if (command.type === 'OpenAccount') return open(command, state)
  if (state.accountId === undefined) return refuse('account_not_found')
  if (state.erasure && !AFTER_ERASURE.has(command.type)) return refuse('account_erased')
  const ended = sessionRefusal(command.session, state, atMs)
  if (ended) return ended
  // People may end their sessions at any time, so that a stolen one can be closed while the account is suspended.
  const endsSession = command.type === 'CloseSession' || command.type === 'CloseAllSessions'
  const isForOwner = (command.isByOwner && !endsSession) || command.type === 'OpenSession'
  const suspended = isForOwner ? suspensionRefusal(state) : undefined
  if (suspended) return { refuse: suspended }
  const evolved = (before: AccountState, events: readonly AccountEvent[]) =>
    events.reduce((after, event) => evolve(after, { ...event, revision: 0, metadata: { at: momentOf(atMs) } }), before)
  const decided = withTopUp(withClaimsLeft(decideByNoun(command, state, atMs), state, evolved), state, atMs)
  // A key can be revoked at any time. Of all other commands, only those with free events have limits.
  return command.isByOwner && command.type !== 'RevokeApiKey' ? withinLimits(decided, state, atMs) : decided
}

const momentOf = (atMs: number): string => new Date(atMs).toISOString()

/** What an erased account still accepts: the steps of its erasure. */
const AFTER_ERASURE = new Set<AccountCommand['type']>([
  // Money may arrive, or be claimed, at any time.
  ...([
    'PayPurchase',
    'RecordFee',
    'ClosePurchase',
    'FailTopUp',
    'EndTopUp',
    'RequestRefund',
    'AcceptRefund',
    'RecordRefund',
    'RecordDispute',
  ] as const),
  ...(['ExpireCredits', 'RecordDelivery', 'RecordNotice', 'RecordWebhookTest'] as const),
  ...(['RecordOutputDeletion', 'RecordUploadDeletion', 'ArchiveRuns', 'CompleteErasure'] as const),
])

const decideByNoun = (
  command: Exclude<AccountCommand, { type: 'OpenAccount' }>,
  state: AccountState,
  atMs: number,
): Decided<AccountEvent> => {
  switch (command.type) {
    case 'SuspendAccount':
      return suspendAccount(command, state)
    case 'ResumeAccount':
      return resumeAccount(command, state)
    case 'CloseAccount':
      return closeAccount(command, state)
    case 'EraseAccount':
      return eraseAccount(command, state, atMs)
    case 'CompleteErasure':
      return completeErasure(state)
    case 'SetTester':
      return setTester(command, state)
    case 'SetLimits':
      return setLimits(command, state)
    case 'SetRetention':
      return setRetention(command, state)
    case 'GrantCredits':
      return grantCredits(command, state)
    case 'WithdrawCredits':
      return withdrawCredits(command, state)
    case 'ExpireCredits':
      return expireCredits(command, state, atMs)
    case 'ExtendLot':
      return extendLotExpiry(command, state)
    case 'RefundRun':
      return refundRun(command, state)
    case 'OpenPurchase':
      return openPurchase(command, state, atMs)
    case 'OpenCheckout':
      return openCheckout(command, state)
    case 'PayPurchase':
      return payPurchase(command, state, atMs)
    case 'RecordFee':
      return recordFee(command, state)
    case 'ClosePurchase':
      return closePurchase(command, state)
    case 'RequestRefund':
      return requestRefund(command, state)
    case 'DeclareWithdrawal':
      return declareWithdrawal(command, state, atMs)
    case 'AcceptRefund':
      return acceptRefund(command, state)
    case 'RecordRefund':
      return recordRefund(command, state)
    case 'RecordDispute':
      return recordDispute(command, state)
    case 'SetTopUp':
      return setTopUp(command, state, atMs)
    case 'RemoveTopUp':
      return removeTopUp(command, state, atMs)
    case 'OpenTopUp':
      return openTopUp(command, state, atMs)
    case 'FailTopUp':
      return failTopUp(command, state, atMs)
    case 'EndTopUp':
      return endTopUp(command, state, atMs)
    case 'CreateApiKey':
      return createKey(command, state)
    case 'RevokeApiKey':
      return revokeKey(command, state)
    case 'UseApiKey':
      return useKey(command, state, atMs)
    case 'SetBudget':
      return setBudget(command, state, atMs)
    case 'RemoveBudget':
      return removeBudget(command, state, atMs)
    case 'QueueRun':
      return queueRun(command, state, atMs)
    case 'StartRun':
      return startRun(command, state)
    case 'SubmitRun':
      return submitRun(command, state)
    case 'CancelRun':
      return cancelRun(command, state)
    case 'CompleteRun':
      return completeRun(command, state)
    case 'FailRun':
      return failRun(command, state)
    case 'RecordOutputDeletion':
      return recordOutputDeletion(command, state)
    case 'ArchiveRuns':
      return archiveRuns(command, state)
    case 'RecordDelivery':
      return recordDelivery(command, state)
    case 'RedeliverWebhook':
      return redeliverWebhook(command, state, atMs)
    case 'SetNotices':
      return setNotices(command, state, atMs)
    case 'RaiseKeyExpiry':
      return raiseKeyExpiry(command, state, atMs)
    case 'RaiseRetirement':
      return raiseRetirement(command, state, atMs)
    case 'RecordNotice':
      return recordNotice(command, state)
    case 'RotateWebhookSecret':
      return rotateWebhookSecret(command, state, atMs)
    case 'RequestWebhookTest':
      return requestWebhookTest(command, state, atMs)
    case 'RecordWebhookTest':
      return recordWebhookTest(command, state)
    case 'GrantUpload':
      return grantUpload(command, state)
    case 'StoreUpload':
      return storeUpload(command, state)
    case 'RequestUploadDeletion':
      return requestUploadDeletion(command, state)
    case 'RecordUploadDeletion':
      return recordUploadDeletion(command, state)
    case 'OpenSession':
      return openSession(command, state)
    case 'CloseSession':
      return closeSession(command, state, atMs)
    case 'CloseAllSessions':
      return closeAllSessions(command, state, atMs)
    case 'ConfirmSession':
      return confirmSession(command, state)
    case 'LinkIdentity':
      return linkIdentity(command, state)
    default:
      return unreachable(command)
  }
}

const open = (
  { accountId, identity, tester, welcomeMicros, firstGrant, notices: settings, firstKey }: OpenAccount,
  state: AccountState,
): Decided<AccountEvent> => {
  if (state.accountId !== undefined) return refuse('account_exists')
  return accept([
    {
      type: 'AccountOpened',
      data: { accountId, ...openedWith(identity), tester, ...(settings && { notices: settings }) },
    },
    ...(welcomeMicros > 0 ? [creditsGranted(state, { amountMicros: welcomeMicros, ...WELCOME })] : []),
    ...(firstGrant
      ? [creditsGranted({ ...state, balanceMicros: welcomeMicros }, firstGrant, welcomeMicros > 0 ? 2 : 1)]
      : []),
    ...(firstKey ? [{ type: 'ApiKeyCreated' as const, data: firstKey }] : []),
  ])
}

const openedWith = (identity: Identity) => (identity.kind === 'email' ? { email: identity.address } : { identity })

const WELCOME = { kind: 'welcome', reference: 'welcome', reason: 'welcome' } as const

export const account: Decider<AccountCommand, AccountState, AccountEvent, Refusal> = {
  initial: initialAccount,
  decide,
  evolve,
}
