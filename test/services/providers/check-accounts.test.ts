import t from 'tap'
import { systemClock } from '../../../src/adapters/clock/system.ts'
import type { Provider } from '../../../src/ports/provider.ts'
import { checkAccounts } from '../../../src/services/providers/check-accounts.ts'
import { instantProvider } from '../../support/service.ts'

const account = (name: string, check: NonNullable<Provider['check']>) => ({
  ...{ provider: 'fal', account: name },
  client: { ...instantProvider, check },
})

t.test('each account is checked, and one that hangs holds up no other', async t => {
  let aborted = false
  const hangs = (signal: AbortSignal) =>
    new Promise<void>(() => {
      signal.addEventListener('abort', () => {
        aborted = true
      })
    })
  const accounts = [
    account('works', async () => undefined),
    account('refused', async () => Promise.reject(new Error('fal refuses the key'))),
    account('throws', () => {
      throw new Error('the client is broken')
    }),
    account('hangs', hangs),
  ]
  t.match(await checkAccounts(systemClock, accounts, 100), [
    { provider: 'fal', account: 'works', fault: undefined },
    { account: 'refused', fault: 'fal refuses the key' },
    { account: 'throws', fault: 'the client is broken' },
    { account: 'hangs', fault: /no answer within 0\.1 s/ },
  ])
  t.ok(aborted)
})
