import type { AccountId } from '../schemas/primitives.ts'
import type { Core } from './core.ts'
import { fromMicros } from './domain/money.ts'
import { createApiKey } from './engine/api-keys.ts'
import { OperatorError } from './engine/operator-error.ts'
import { register } from './engine/registration.ts'
import { BY_KEY } from './ports/view-store.ts'

const cause = { actor: { kind: 'service' } } as const

/** Whose the account of the first start is. */
const OWNER = 'owner@localhost'

/** On the very first start: opens an account, and prints its key, this once, with a request to try. */
export const welcome = async (core: Core, url: string): Promise<void> => {
  const { config, accounts, reads } = core
  const { keyPrefix, welcomeMicros } = config
  const accountId = await accountToGreet(core)
  if (!accountId) return
  const { apiKey } = await createApiKey(accounts, keyPrefix, { accountId, name: 'first', cause })
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

/** The account that is opened now, or one whose opening ended before its key was shown; undefined at any later start. */
const accountToGreet = async (core: Core): Promise<AccountId | undefined> => {
  const { config, reads, accounts } = core
  const [first, second] = await reads.list('accounts', BY_KEY, { prefix: '', limit: 2 })
  if (first) {
    const { accountId, email } = first.row
    if (second || email !== OWNER) return undefined
    return (await accounts.currentState(accountId)).activeKeys.size === 0 ? accountId : undefined
  }
  return register(core, { email: OWNER, tester: false, welcomeMicros: config.welcomeMicros }, cause).catch(error => {
    // Another process on these stores made its first start at the same moment, and says what there is to say.
    if (error instanceof OperatorError) return undefined
    throw error
  })
}
