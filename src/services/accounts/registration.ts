import type { Identity } from '../../../schemas/identity.ts'
import type { AccountId } from '../../../schemas/primitives.ts'
import type { OpenAccount } from '../../domain/account/commands.ts'
import { isSameIdentity } from '../../domain/login/identity.ts'
import type { LoginState } from '../../domain/login/login.ts'
import type { Welcome } from '../../domain/login/welcome.ts'
import type { Random } from '../../ports/random.ts'
import { type Answer, answer } from '../answer.ts'
import type { Caller } from '../caller.ts'
import { newAccountId } from '../ids.ts'
import type { Logins } from '../sign-in/logins.ts'
import type { AccountMailboxes } from './account-mailboxes.ts'

export interface Registration extends Omit<OpenAccount, 'type' | 'accountId'> {
  /**
   * Refuses identities that may not open an account, and decides on the welcome credits of the others. Undefined admits
   * all, with `welcomeMicros`.
   */
  admit?: ((state: LoginState) => Promise<Answer<Welcome>>) | undefined
}

export interface RegistrationDependencies {
  accounts: AccountMailboxes
  logins: Logins
  random: Random
}

/** The account of an identity; `isNew` if this call opened it, and `withheld` if that was without welcome credits. */
export interface RegistrationResult extends Pick<Welcome, 'withheld'> {
  accountId: AccountId
  isNew: boolean
}

/**
 * Unlinks an identity from an erased account. The erasure unlinks those that it knows: after a restore it has no key to
 * read them, and a process may die before the account lists one.
 */
export const freeFromErased = async (
  { accounts, logins }: Pick<RegistrationDependencies, 'accounts' | 'logins'>,
  caller: Caller,
  identity: Identity,
): Promise<void> => {
  const { accountId } = await logins.currentState(identity)
  if (accountId !== undefined && (await accounts.currentState(accountId)).erasure)
    await logins.execute(caller, identity, { type: 'UnlinkLogin', accountId })
}

/**
 * Finds the account of an identity or opens one, optionally with its first key. An identity has at most one account. A
 * process may die between any two steps; the next call then continues with the next step.
 */
export const register = async (
  dependencies: RegistrationDependencies,
  caller: Caller,
  { identity, admit, ...opening }: Registration,
): Promise<Answer<RegistrationResult>> => {
  const { accounts, logins, random } = dependencies
  await freeFromErased(dependencies, caller, identity)
  const before = await logins.currentState(identity)
  const isOpen =
    before.accountId !== undefined && (await accounts.currentState(before.accountId)).accountId !== undefined
  const admitted = isOpen ? undefined : await admit?.(before)
  if (admitted && 'refuse' in admitted) return admitted
  if (before.accountId === undefined) {
    const command = { type: 'LinkLogin', accountId: newAccountId(random) } as const
    const linked = await logins.execute(caller, identity, command)
    if ('refuse' in linked && linked.refuse.code !== 'account_exists') return linked
  }
  const accountId = (await logins.state(identity)).accountId as AccountId
  const { welcomeMicros, withheld }: Welcome = admitted?.value ?? opening
  const open = { type: 'OpenAccount', accountId, identity, ...opening, welcomeMicros } as const
  const opened = await accounts.execute(caller, accountId, open)
  if (!('refuse' in opened)) return answer({ accountId, isNew: true, withheld })
  if (opened.refuse.code !== 'account_exists') return opened
  const { identities } = await accounts.state(accountId)
  if (!identities.some(each => isSameIdentity(each, identity))) {
    const listed = await accounts.execute(caller, accountId, { type: 'LinkIdentity', identity })
    if ('refuse' in listed) return listed
  }
  return answer({ accountId, isNew: false })
}
