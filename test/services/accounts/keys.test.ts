import t from 'tap'
import { Projector } from '../../../src/engine/views/projector.ts'
import { Reads } from '../../../src/engine/views/reads.ts'
import { Unavailable } from '../../../src/ports/faults.ts'
import type { ViewStore } from '../../../src/ports/view-store.ts'
import { Accounts } from '../../../src/services/accounts/accounts.ts'
import { createApiKey } from '../../../src/services/accounts/api-keys.ts'
import { Keys } from '../../../src/services/accounts/keys.ts'
import { accountId, openAccount } from '../../support/account-samples.ts'
import { noSnapshots, openLog, openViews, silentLogger } from '../../support/engine.ts'
import { ManualClock } from '../../support/manual-clock.ts'

const cause = { actor: { kind: 'operator' } } as const

t.test('a key is known from the views, and while they do not answer from before', async t => {
  const [log, views] = [await openLog(t), await openViews(t)]
  let answers = true
  const shaky: ViewStore = {
    ...views,
    get: (view, key) => (answers ? views.get(view, key) : Promise.reject(new Unavailable('the views do not answer'))),
  }
  const projector = new Projector(log, shaky, silentLogger)
  t.teardown(() => projector.stop())
  await projector.start()
  const accounts = new Accounts(log, noSnapshots, new ManualClock())
  const keys = new Keys(new Reads(shaky, projector, accounts), accounts)

  await accounts.execute(accountId(), openAccount(), cause)
  const create = () => createApiKey(accounts, 'tg', { accountId: accountId(), name: 'test', cause })
  const [{ keyId, apiKey }, unseen, revoked] = [await create(), await create(), await create()]
  await projector.passed(await log.head(), 5000)
  const holder = { accountId: accountId(), keyId }
  t.same(await keys.holderOf(apiKey), holder)
  t.match(await keys.holderOf(revoked.apiKey), { keyId: revoked.keyId })
  t.equal(await keys.holderOf('tg_sk_live_0'), undefined)

  answers = false
  t.same(await keys.holderOf(apiKey), holder)
  await t.rejects(keys.holderOf(unseen.apiKey), Unavailable, 'of which nothing is known here')
  await t.rejects(keys.holderOf('tg_sk_live_0'), Unavailable)
  // Another process does it, so that this one can only know from the log.
  const elsewhere = new Accounts(log, noSnapshots, new ManualClock())
  await elsewhere.execute(accountId(), { type: 'RevokeApiKey', keyId: revoked.keyId }, cause)
  t.equal(await keys.holderOf(revoked.apiKey), undefined)

  answers = true
  await projector.passed(await log.head(), 5000)
  t.same(await keys.holderOf(apiKey), holder)
  t.equal(await keys.holderOf(revoked.apiKey), undefined)
  t.match(await keys.holderOf(unseen.apiKey), { keyId: unseen.keyId })
})
