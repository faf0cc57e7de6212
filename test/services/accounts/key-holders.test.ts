import { setTimeout as delay } from 'node:timers/promises'
import t from 'tap'
import { systemClock } from '../../../src/adapters/clock/system.ts'
import { systemRandom } from '../../../src/adapters/random/system.ts'
import { NO_LIMIT } from '../../../src/domain/account/limits.ts'
import { Unavailable } from '../../../src/ports/faults.ts'
import type { ViewStore } from '../../../src/ports/view-store.ts'
import { ApiKeys } from '../../../src/services/accounts/api-keys.ts'
import { KeyHolders } from '../../../src/services/accounts/key-holders.ts'
import { Offers } from '../../../src/services/catalog/offers.ts'
import { PublishedCatalog } from '../../../src/services/catalog/published-catalog.ts'
import { accountId, openAccount } from '../../support/account-samples.ts'
import { accountsOn, openLog, openViews, silentLogger } from '../../support/engine.ts'
import { unwrap } from '../../support/unwrap.ts'
import { projectorOf, readsOf } from '../../support/views.ts'

/** A state older than this is read again. */
const MAX_AGE_MS = 1050

const caller = { kind: 'operator', name: 'test' } as const

t.test('keys are found in the views, or in memory and the log while the views do not answer', async t => {
  const [log, views] = [await openLog(t), await openViews(t)]
  let answers = true
  const unreliable: ViewStore = {
    ...views,
    getMany: rows => (answers ? views.getMany(rows) : Promise.reject(new Unavailable('the views do not answer'))),
  }
  const projector = projectorOf(log, unreliable, silentLogger)
  t.teardown(() => projector.stop())
  await projector.start()
  const accounts = accountsOn(log)
  const reads = readsOf(unreliable, projector.progress, accounts)
  const keyHolders = new KeyHolders(reads, accounts)
  const offers = new Offers(
    new PublishedCatalog({ log, clock: systemClock, random: systemRandom, logger: silentLogger }),
    accounts,
  )
  const apiKeys = new ApiKeys({
    ...{ accounts, reads, offers, clock: systemClock, random: systemRandom, keyPrefix: 'tg' },
    limits: { requestsPerMinute: NO_LIMIT, runsInFlight: NO_LIMIT },
  })

  await accounts.execute(caller, accountId(), openAccount())
  const create = async () => unwrap(await apiKeys.create(caller, accountId(), { name: 'test', scope: 'read' }))
  const [{ keyId, apiKey }, unseen, revoked] = [await create(), await create(), await create()]
  await projector.progress.passed(await log.head(), 5000)
  const holder = { kind: 'key', accountId: accountId(), keyId, scope: 'read' }
  t.match(await keyHolders.holderOf(apiKey), { value: { holder } })
  t.match(await keyHolders.holderOf(revoked.apiKey), { value: { holder: { keyId: revoked.keyId } } })
  t.equal(await keyHolders.holderOf('tg_sk_live_0'), undefined)

  answers = false
  t.match(await keyHolders.holderOf(apiKey), { value: { holder } })
  await t.rejects(keyHolders.holderOf(unseen.apiKey), Unavailable, 'this process has not seen the key before')
  await t.rejects(keyHolders.holderOf('tg_sk_live_0'), Unavailable)
  // The other process leaves this one only the log to learn it from.
  const elsewhere = accountsOn(log)
  await elsewhere.execute(caller, accountId(), { type: 'RevokeApiKey', keyId: revoked.keyId })
  await delay(MAX_AGE_MS)
  t.equal(await keyHolders.holderOf(revoked.apiKey), undefined)

  answers = true
  await projector.progress.passed(await log.head(), 5000)
  t.match(await keyHolders.holderOf(apiKey), { value: { holder } })
  t.equal(await keyHolders.holderOf(revoked.apiKey), undefined)
  t.match(await keyHolders.holderOf(unseen.apiKey), { value: { holder: { keyId: unseen.keyId } } })
})
