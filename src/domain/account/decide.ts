import type { AccountEvent } from '../../../schemas/account-events.ts'
import type { Identity } from '../../../schemas/identity.ts'
import { accept, unreachable } from '../decider.ts'
import { type Decided, refuse } from '../refusal.ts'
import type { AccountCommand, OpenAccount } from './commands.ts'
import * as credits from './credits.ts'
import { withinLimits } from './free-events.ts'
import * as keys from './keys.ts'
import * as limits from './limits.ts'
import * as notices from './notices.ts'
import { raiseRetirement } from './retirement-notices.ts'
import * as runs from './runs.ts'
import * as sessions from './sessions.ts'
import type { AccountState } from './state.ts'
import * as suspension from './suspension.ts'
import * as uploads from './uploads.ts'
import * as webhooks from './webhooks.ts'

/**
 * Decides a command. The existence of the account is checked first, then the caller's session, and then the account's
 * suspension; the other checks are in each noun's file.
 */
export const decide = (command: AccountCommand, state: AccountState, atMs: number): Decided<AccountEvent> => {
  if (command.type === 'OpenAccount') return open(command, state)
  if (state.accountId === undefined) return refuse('account_not_found')
  const ended = sessions.sessionRefusal(command.session, state, atMs)
  if (ended) return ended
  // People may end their sessions at any time, so that a stolen one can be closed while the account is suspended.
  const endsSession = command.type === 'CloseSession' || command.type === 'CloseAllSessions'
  const isForOwner = (command.isByOwner && !endsSession) || command.type === 'OpenSession'
  const suspended = isForOwner ? suspension.suspensionRefusal(state) : undefined
  if (suspended) return { refuse: suspended }
  const decided = decideByNoun(command, state, atMs)
  // A key can be revoked at any time.
  return command.isByOwner && command.type !== 'RevokeApiKey' ? withinLimits(decided, state, atMs) : decided
}

const decideByNoun = (
  command: Exclude<AccountCommand, { type: 'OpenAccount' }>,
  state: AccountState,
  atMs: number,
): Decided<AccountEvent> => {
  switch (command.type) {
    case 'SuspendAccount':
      return suspension.suspend(command, state)
    case 'ResumeAccount':
      return suspension.resume(command, state)
    case 'SetLimits':
      return limits.set(command, state)
    case 'GrantCredits':
      return credits.grant(command, state)
    case 'WithdrawCredits':
      return credits.withdraw(command, state)
    case 'RefundRun':
      return credits.refund(command, state)
    case 'CreateApiKey':
      return keys.create(command, state)
    case 'RevokeApiKey':
      return keys.revoke(command, state)
    case 'UseApiKey':
      return keys.use(command, state, atMs)
    case 'QueueRun':
      return runs.queue(command, state, atMs)
    case 'StartRun':
      return runs.start(command, state)
    case 'SubmitRun':
      return runs.submit(command, state)
    case 'CancelRun':
      return runs.cancel(command, state)
    case 'CompleteRun':
      return runs.complete(command, state)
    case 'FailRun':
      return runs.fail(command, state)
    case 'RecordOutputDeletion':
      return runs.recordOutputDeletion(command, state)
    case 'RecordDelivery':
      return webhooks.record(command, state)
    case 'RedeliverWebhook':
      return webhooks.redeliver(command, state, atMs)
    case 'SetNotices':
      return notices.set(command, state, atMs)
    case 'RaiseKeyExpiry':
      return notices.raiseKeyExpiry(command, state, atMs)
    case 'RaiseRetirement':
      return raiseRetirement(command, state, atMs)
    case 'RecordNotice':
      return notices.record(command, state)
    case 'RotateWebhookSecret':
      return webhooks.rotateSecret(command, state, atMs)
    case 'RequestWebhookTest':
      return webhooks.requestTest(command, state, atMs)
    case 'RecordWebhookTest':
      return webhooks.recordTest(command, state)
    case 'GrantUpload':
      return uploads.grant(command, state)
    case 'StoreUpload':
      return uploads.store(command, state)
    case 'RequestUploadDeletion':
      return uploads.requestDeletion(command, state)
    case 'RecordUploadDeletion':
      return uploads.recordDeletion(command, state)
    case 'OpenSession':
      return sessions.open(command, state)
    case 'CloseSession':
      return sessions.close(command, state)
    case 'CloseAllSessions':
      return sessions.closeAll(command, state)
    case 'LinkIdentity':
      return sessions.linkIdentity(command, state)
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
    ...(welcomeMicros > 0 ? [credits.granted(state, { amountMicros: welcomeMicros, ...WELCOME })] : []),
    ...(firstGrant ? [credits.granted({ ...state, balanceMicros: welcomeMicros }, firstGrant)] : []),
    ...(firstKey ? [{ type: 'ApiKeyCreated' as const, data: firstKey }] : []),
  ])
}

const openedWith = (identity: Identity) => (identity.kind === 'email' ? { email: identity.address } : { identity })

const WELCOME = { kind: 'welcome', reference: 'welcome', reason: 'welcome' } as const
