import type { AccountEvent } from '../../../schemas/account-events.ts'
import type { Decider } from '../decider.ts'
import type { Refusal } from '../refusal.ts'
import type { AccountCommand } from './commands.ts'
import { decide } from './decide.ts'
import { evolve } from './evolve.ts'
import { type AccountState, initialAccount } from './state.ts'

export const account: Decider<AccountCommand, AccountState, AccountEvent, Refusal> = {
  initial: initialAccount,
  decide,
  evolve,
}
