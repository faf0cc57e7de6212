import type { AccountId, KeyId } from '../../schemas/primitives.ts'
import { fromMicros } from '../domain/money.ts'
import { BY_KEY } from '../ports/view-store.ts'
import { createApiKey } from '../services/accounts/api-keys.ts'
import { register } from '../services/accounts/registration.ts'
import { OperatorError } from '../services/operator-error.ts'
import type { Core } from './core.ts'

const cause = { actor: { kind: 'service' } } as const

/** Whose the account of the first start is. */
const OWNER = 'owner@localhost'

/** On the very first start: opens an account, and prints its key, this once, with a request to try. */
export const welcome = async (core: Core, url: string): Promise<void> => {
  const { config, accounts, reads } = core
  const { keyPrefix, welcomeMicros } = config
  const accountId = await accountToGreet(core)
  if (!accountId) return
  const first = { accountId, keyId: firstKeyOf(accountId), name: 'first', cause }
  const created = await createApiKey(accounts, keyPrefix, first).catch(leaveToOther)
  if (!created) return
  const { apiKey } = created
  // Keys are looked up in the views, so a request that came before they have this one would be refused. Should they not come
  // in time, the key is shown all the same: there is no second chance.
  await reads.ownWrites(accountId)?.catch(() => undefined)
  console.log(`
  Welcome to Tollgate. An account with ${fromMicros(welcomeMicros)} credits is open, and this is its API key.
  It is shown only now, so keep it:

    ${apiKey}

  Make a picture for 10 credits, and open the address in the answer:

    curl -s ${url}/v1/run -H 'Authorization: Bearer ${apiKey}' \\
      -H 'Content-Type: application/json' \\
      -d '{"model": "nano-banana-2", "input": {"prompt": "a quiet mountain lake at sunrise"}}'
`)
}

/** The account that is opened now, or one whose opening ended before it had a key; undefined at any later start. */
const accountToGreet = async (core: Core): Promise<AccountId | undefined> => {
  const { config, reads } = core
  const [first, second] = await reads.list('accounts', BY_KEY, { prefix: '', limit: 2 })
  if (first) {
    const keys = await reads.list('keys', 'byAccount', { prefix: `${first.key}/`, limit: 1 })
    return !second && first.row.email === OWNER && keys.length === 0 ? first.row.accountId : undefined
  }
  const owner = { email: OWNER, tester: false, welcomeMicros: config.welcomeMicros }
  return register(core, owner, cause).catch(leaveToOther)
}

/** It is made of the account's, so that of two processes that greet the same account only one has a key to show. */
const firstKeyOf = (accountId: AccountId): KeyId => accountId.replace(/^acct/, 'key') as KeyId

/** Another process on these stores makes its first start at the same moment, and says what there is to say. */
const leaveToOther = (error: unknown): undefined => {
  if (error instanceof OperatorError) return undefined
  throw error
}
