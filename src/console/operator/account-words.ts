import type { RecordedEvent } from '../../../schemas/events.ts'
import type { AccountRow } from '../../../schemas/views.ts'
import { ownerName } from '../../domain/login/identity.ts'
import { credits, plural } from '../parts/text.ts'

export const OPERATOR = '/console/operator'
export const ACCOUNTS = `${OPERATOR}/accounts`

/** The page of an account. */
export const accountPath = (accountId: string): string => `${ACCOUNTS}/${accountId}`

/** The owner of an account, as operators know it. */
export const nameOf = (account: AccountRow): string => ownerName(account)

/** What operators do to an account. */
export const ACTIONS = ['grant', 'withdraw', 'suspend', 'resume', 'limits', 'tester'] as const
export type ActionName = (typeof ACTIONS)[number]

/** What an event of an operator has changed. */
export const doneWords = ({ type, data }: RecordedEvent): string => {
  switch (type) {
    case 'CreditsGranted':
      return `${credits(data.amountMicros)} credits granted · balance ${credits(data.balanceAfterMicros)}`
    case 'CreditsWithdrawn':
      return `${credits(data.amountMicros)} credits withdrawn · balance ${credits(data.balanceAfterMicros)}`
    case 'AccountSuspended':
      return 'Account suspended · its requests are refused'
    case 'AccountResumed':
      return 'Account resumed · its owner and keys work again'
    case 'TesterSet':
      return data.tester ? 'The account sees models in test' : 'Models in test are hidden from the account'
    case 'RetentionSet':
      return data.days === 0 ? 'From here on, nothing of runs is kept' : 'Runs are kept again'
    case 'LimitsSet': {
      const { requestsPerMinute, runsInFlight } = data
      const set = [
        ...(requestsPerMinute === undefined ? [] : [`${plural(requestsPerMinute, 'request')} a minute`]),
        ...(runsInFlight === undefined ? [] : [`${plural(runsInFlight, 'run')} at a time`]),
      ]
      return `Limits set · ${set.length > 0 ? set.join(', ') : 'as for all accounts'}`
    }
    default:
      return type
  }
}
