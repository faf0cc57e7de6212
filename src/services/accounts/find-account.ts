import type { AccountId } from '../../../schemas/primitives.ts'
import type { AccountRow } from '../../../schemas/views.ts'
import { refuse } from '../../domain/refusal.ts'
import { type Answer, answer } from '../answer.ts'
import type { Caller } from '../caller.ts'
import { isAccountId } from '../ids.ts'
import type { Reads } from '../views/reads.ts'

/** Finds an account by its id. A caller that acts for one account finds no other. */
export const findAccount = async (reads: Reads, caller: Caller, accountId: string): Promise<Answer<AccountRow>> => {
  const checked = checkAccountId(caller, accountId)
  if ('refuse' in checked) return checked
  const row = await reads.getOwn(checked.value, 'accounts', checked.value)
  return row ? answer(row) : refuse('account_not_found')
}

/**
 * Checks the id for a command. The account's state shows whether it exists, since commands must not depend on the
 * views.
 */
export const checkAccountId = (caller: Caller, accountId: string): Answer<AccountId> =>
  isAccountId(accountId) && (!('accountId' in caller) || caller.accountId === accountId)
    ? answer(accountId)
    : refuse('account_not_found')
