import type { AccountEvent } from '../../../schemas/account-events.ts'
import { accept } from '../decider.ts'
import { type Decided, type RefusalOf, refuse } from '../refusal.ts'
import type { AccountState } from './state.ts'

export const suspendAccount = ({ reason }: { reason: string }, state: AccountState): Decided<AccountEvent> =>
  state.suspension
    ? refuse('account_already_suspended', { reason: state.suspension.reason })
    : accept([{ type: 'AccountSuspended', data: { reason } }])

export const resumeAccount = ({ reason }: { reason: string }, state: AccountState): Decided<AccountEvent> =>
  state.suspension ? accept([{ type: 'AccountResumed', data: { reason } }]) : refuse('account_not_suspended')

/** Why the account's owner may do and see nothing now; undefined unless the account is suspended. */
export const suspensionRefusal = ({ suspension }: AccountState): RefusalOf<'account_suspended'> | undefined =>
  suspension && { code: 'account_suspended', reason: suspension.reason }
