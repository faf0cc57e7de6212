import type { LoginEvent } from '../../../schemas/login-events.ts'
import type { AccountId } from '../../../schemas/primitives.ts'
import { accept, type Decider } from '../decider.ts'
import { type Refusal, refuse } from '../refusal.ts'

interface LinkLogin {
  accountId: AccountId
}

/** The account of one identity. An identity has at most one, so it gets the welcome credits once. */
export const login: Decider<LinkLogin, AccountId | undefined, LoginEvent, Refusal> = {
  initial: undefined,
  decide: ({ accountId }, linked) =>
    linked ? refuse('account_exists') : accept([{ type: 'LoginLinked', data: { accountId } }]),
  evolve: (_, event) => event.data.accountId,
}
