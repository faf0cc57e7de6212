import type { Core } from './compose.ts'
import { fromMicros } from './domain/money.ts'
import { createApiKey } from './engine/api-keys.ts'
import { OperatorError } from './engine/operator-error.ts'
import { register } from './engine/registration.ts'
import { BY_KEY } from './ports/view-store.ts'

const cause = { actor: { kind: 'service' } } as const

/** On the very first start: opens an account, and prints its key, this once, with a request to try. */
export const welcome = async (core: Core, url: string): Promise<void> => {
  const { config, accounts, reads } = core
  const [anyAccount] = await reads.list('accounts', BY_KEY, { prefix: '', limit: 1 })
  if (anyAccount) return
  const { keyPrefix, welcomeMicros } = config
  const accountId = await register(core, { email: 'owner@localhost', tester: false, welcomeMicros }, cause).catch(
    // Another process on these stores made its first start at the same moment, and says what there is to say.
    error => (error instanceof OperatorError ? undefined : Promise.reject(error)),
  )
  if (!accountId) return
  const { apiKey } = await createApiKey(accounts, keyPrefix, { accountId, name: 'first', cause })
  console.log(`
  Welcome to Tollgate. An account with ${fromMicros(welcomeMicros)} credits is open, and this is its API key.
  It is shown only now, so keep it:

    ${apiKey}

  Make a picture for 10 credits, and open the address in the answer:

    curl -s ${url}/v1/run -H 'Authorization: Bearer ${apiKey}' \\
      -H 'Content-Type: application/json' \\
      -d '{"model": "nano-banana-2", "input": {"prompt": "a lighthouse at dusk"}}'
`)
}
