import type { AccountRow } from '../../../schemas/views.ts'
import { ownerName } from '../../domain/login/identity.ts'

export const OPERATOR = '/console/operator'
export const ACCOUNTS = `${OPERATOR}/accounts`

/** The page of an account. */
export const accountPath = (accountId: string): string => `${ACCOUNTS}/${accountId}`

/** The owner of an account, as operators know it. */
export const nameOf = (account: AccountRow): string => ownerName(account)

/** What operators do to an account. */
export const ACTIONS = ['grant', 'withdraw', 'suspend', 'resume', 'limits', 'tester'] as const
export type ActionName = (typeof ACTIONS)[number]
