import type { Clock } from '../../ports/clock.ts'
import { callWithin } from '../../time/timers.ts'
import type { ProviderAccount } from './provider-account.ts'

/** Longer than any provider that works takes to list its models. */
const CHECK_MS = 20_000

/** Whether an account can be used, and if not, why, in words for the operator. */
export interface CheckedAccount {
  provider: string
  account: string
  /** Absent if the account can be used. */
  fault?: string
}

/** Makes the cheapest call that shows whether each account can be used, all at once. Never rejects. */
export const checkAccounts = (
  clock: Clock,
  accounts: readonly ProviderAccount[],
  checkMs = CHECK_MS,
): Promise<CheckedAccount[]> =>
  Promise.all(
    accounts.map(async ({ provider, account, client }) => {
      const checked = { provider, account }
      const tooLate = () => {
        throw new Error(`there is no answer within ${checkMs / 1000} s; check the network, and try again`)
      }
      try {
        await callWithin(clock, checkMs, async signal => client.check?.(signal), tooLate)
        return checked
      } catch (error) {
        return { ...checked, fault: (error as Error).message }
      }
    }),
  )
