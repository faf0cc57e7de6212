import t, { type Test } from 'tap'
import type { KeyRow } from '../../schemas/views.ts'
import type { Core } from '../../src/boot/core.ts'
import { welcome } from '../../src/boot/first-start.ts'
import { sha256 } from '../../src/engine/log/canonical.ts'
import { Reads } from '../../src/engine/views/reads.ts'
import { Unavailable } from '../../src/ports/faults.ts'
import { register } from '../../src/services/accounts/registration.ts'
import { caughtUp } from '../support/caught-up.ts'
import { openFolder } from '../support/service.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'

const cause = { actor: { kind: 'operator' } } as const

const open = async (t: Test): Promise<Core> => {
  const core = await openFolder(await temporaryFolder(t))
  t.teardown(() => core.close())
  return core
}

/** Starts so many times at once, and resolves to the rows that the views have of the keys when they are shown. */
const greet = async (t: Test, core: Core, times = 1) => {
  const shown: unknown[] = []
  t.intercept(console, 'log', {
    value: (text: string) => {
      for (const key of new Set(text.match(/tg_sk_live_[0-9a-f]{32}/g))) shown.push(core.reads.get('keys', sha256(key)))
    },
  })
  await Promise.all(Array.from({ length: times }, () => welcome(core, 'http://localhost')))
  return Promise.all(shown)
}

t.test('the first key is known to the service when it is shown', async t => {
  t.match(await greet(t, await open(t)), [{ name: 'first' }])
})

t.test('the first key is shown whatever the views do', async t => {
  const value = () => Promise.reject(new Unavailable('the views are behind the log'))
  t.intercept(Reads.prototype, 'ownWrites', { value })
  t.equal((await greet(t, await open(t))).length, 1)
})

t.test('an account whose opening ended before its key was made is greeted, by one of those who find it', async t => {
  const core = await open(t)
  await register(core, { email: 'owner@localhost', tester: false, welcomeMicros: 0 }, cause)
  await caughtUp(core)
  t.equal((await greet(t, core, 2)).length, 1)
})

t.test('nobody is greeted again, though the first key be revoked', async t => {
  const core = await open(t)
  const [{ accountId, keyId }] = (await greet(t, core)) as [KeyRow]
  await core.accounts.execute(accountId, { type: 'RevokeApiKey', keyId }, cause)
  await caughtUp(core)
  t.same(await greet(t, core), [])
})
