import type { LoginEvent } from '../../../schemas/login-events.ts'
import type { AccountId } from '../../../schemas/primitives.ts'
import { loginStream } from '../../../schemas/recorded.ts'
import { type Decider, refuse } from '../../domain/decider.ts'
import { sha256 } from '../../engine/log/canonical.ts'
import { Mailbox } from '../../engine/streams/mailbox.ts'
import { type Cause, Streams } from '../../engine/streams/stream.ts'
import type { Clock } from '../../ports/clock.ts'
import type { EventLog } from '../../ports/event-log.ts'
import { newAccountId } from '../ids.ts'
import { OperatorError } from '../operator-error.ts'
import type { Accounts } from './accounts.ts'

interface LinkLogin {
  accountId: AccountId
}

/** Whose account an identity is. That it has one at the most is what makes the welcome credits a gift of once. */
const login: Decider<LinkLogin, AccountId | undefined, LoginEvent> = {
  initial: undefined,
  decide: ({ accountId }, linked) =>
    linked ? refuse('account_exists') : { accept: [{ type: 'LoginLinked', data: { accountId } }] },
  evolve: (_, event) => event.data.accountId,
}

export interface Registration {
  email: string
  tester: boolean
  welcomeMicros: number
}

/** Opens the one account of an e-mail address. Throws OperatorError when it has one. */
export const register = async (
  { log, clock, accounts }: { log: EventLog; clock: Clock; accounts: Accounts },
  { email, tester, welcomeMicros }: Registration,
  cause: Cause,
): Promise<AccountId> => {
  const address = normalize(email)
  const stream = loginStream(sha256(`email:${address}`))
  const mailbox = new Mailbox(stream, new Streams(login, log), clock)
  const accountId = newAccountId()
  const linked = await mailbox.execute({ accountId }, cause)
  // A login may be linked to an account that was never opened, when the process ended in between: that is made good here.
  const owner = 'refuse' in linked ? ((await mailbox.state()) as AccountId) : accountId
  const command = { type: 'OpenAccount', accountId: owner, email: address, tester, welcomeMicros } as const
  const opened = await accounts.execute(owner, command, cause)
  if ('refuse' in opened) throw new OperatorError(`${address} already has the account ${owner}.`)
  return owner
}

const normalize = (email: string): string => {
  const address = email.trim().toLowerCase()
  if (!/^[^\s@]+@[^\s@]+$/.test(address) || address.length > 254)
    throw new OperatorError(`${JSON.stringify(email)} is not an e-mail address.`)
  return address
}
