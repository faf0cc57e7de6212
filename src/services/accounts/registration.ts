import { loginStream } from '../../../schemas/events.ts'
import type { AccountId } from '../../../schemas/primitives.ts'
import type { OpenAccount } from '../../domain/account/commands.ts'
import { sha256 } from '../../domain/digest.ts'
import { login } from '../../domain/login/login.ts'
import { refuse } from '../../domain/refusal.ts'
import { Mailbox } from '../../engine/streams/mailbox.ts'
import { Streams } from '../../engine/streams/stream.ts'
import type { Clock } from '../../ports/clock.ts'
import type { EventLog } from '../../ports/event-log.ts'
import type { Logger } from '../../ports/logger.ts'
import type { Random } from '../../ports/random.ts'
import { type Answer, answer } from '../answer.ts'
import { type Caller, causeOf } from '../caller.ts'
import { eventCodec } from '../event-codec.ts'
import { newAccountId } from '../ids.ts'
import type { AccountMailboxes } from './account-mailboxes.ts'

export type Registration = Omit<OpenAccount, 'type' | 'accountId'>

export interface RegistrationParts {
  accounts: AccountMailboxes
  log: EventLog
  clock: Clock
  random: Random
  logger: Logger
}

/** The account of an identity; `isNew` if this call opened it. */
export interface RegistrationResult {
  accountId: AccountId
  isNew: boolean
}

/** Opens the account of an e-mail address, optionally with its first key. An address has at most one account. */
export const register = async (
  { accounts, ...parts }: RegistrationParts,
  caller: Caller,
  registration: Registration,
): Promise<Answer<RegistrationResult>> => {
  const email = registration.email.trim().toLowerCase()
  if (!isAddress(email)) return refuse('email_invalid', { email: registration.email })
  const stream = loginStream(sha256(`email:${email}`))
  const mailbox = new Mailbox(stream, new Streams({ decider: login, codec: eventCodec, ...parts }))
  const linked = await mailbox.execute({ accountId: newAccountId(parts.random) }, causeOf(caller))
  if ('refuse' in linked && linked.refuse.code !== 'account_exists') return linked
  // A process may have died between linking the login and opening the account.
  const accountId = (await mailbox.state()) as AccountId
  const opened = await accounts.execute(caller, accountId, { type: 'OpenAccount', accountId, ...registration, email })
  if (!('refuse' in opened)) return answer({ accountId, isNew: true })
  return opened.refuse.code === 'account_exists' ? answer({ accountId, isNew: false }) : opened
}

/** The longest address that SMTP can carry (RFC 5321, erratum 1690). */
const MAX_ADDRESS_LENGTH = 254

const isAddress = (text: string): boolean =>
  /^[^\s\p{C}@]+@[^\s\p{C}@]+$/u.test(text) && text.length <= MAX_ADDRESS_LENGTH
