import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import t from 'tap'
import { systemClock } from '../../src/adapters/clock/system.ts'
import { openLmdbEventLog } from '../../src/adapters/event-log/lmdb.ts'
import { Accounts } from '../../src/services/accounts/accounts.ts'
import { sandbox } from '../support/client.ts'
import { noSnapshots } from '../support/engine.ts'
import { needsRedis } from '../support/redis-server.ts'
import type { Customer } from '../support/service.ts'
import { countOf, ofKind, startLoadOnRedis } from '../support/steady-load-on-redis.ts'

t.setTimeout(280_000)

const ALL = 'api,projector,reactors'

const GONE_MS = 20_000

/** How often Redis hangs, and for how long: once too short a time for anybody to give up. */
const HANGS_MS = [3000, 500]

t.test('while the views do not answer, writes go on and reads are put off', needsRedis(), async t => {
  const { folder, redis, urls, guest, stranger, answersSince, ...load } = await startLoadOnRedis(t, ALL, ALL)

  for (const hangsMs of HANGS_MS)
    await t.test(`Redis hangs for ${hangsMs} ms`, async t => {
      redis.pause()
      const sinceMs = performance.now()
      await delay(hangsMs)
      redis.continue()
      await load.allRead()
      const answers = answersSince(sinceMs)
      t.equal(countOf(ofKind(answers, 'write'), 503), 0, 'all writes are taken')
    })

  await t.test('Redis is gone for a while, and comes back empty', async t => {
    await redis.kill()
    const goneMs = performance.now()
    await delay(GONE_MS / 2)
    for (const url of urls) {
      t.equal((await guest.at(url).run(sandbox())).status, 200, 'who is known can go on')
      t.equal((await stranger.at(url).run(sandbox())).status, 503, 'who is not may have a key or none')
    }
    await revoke(folder, guest)
    for (const url of urls)
      for (const reply of [await guest.at(url).run(sandbox()), await guest.at(url).send('/v1/balance')])
        t.equal(reply.status, 401, 'a revoked key is good for nothing')
    await delay(GONE_MS / 2)
    const answers = answersSince(goneMs)
    await redis.start()
    await load.allRead()

    const [reads, writes] = [ofKind(answers, 'read'), ofKind(answers, 'write')]
    t.ok(countOf(reads, 503) > 0, 'reads are put off')
    t.ok(writes.length > 0)
    t.equal(countOf(writes, 503), 0, `all ${writes.length} writes are taken`)
    for (const url of urls) {
      t.equal((await stranger.at(url).run(sandbox())).status, 200)
      t.equal((await guest.at(url).send('/v1/balance')).status, 401)
    }
  })

  await load.end()
  await load.finish()
})

/** As the command line does it, which has to ask the views whose a key is. */
const revoke = async (folder: string, { accountId, keyId }: Customer) => {
  const log = openLmdbEventLog(join(folder, 'log'), error => {
    throw error
  })
  const accounts = new Accounts(log, noSnapshots, systemClock)
  await accounts.execute(accountId, { type: 'RevokeApiKey', keyId }, { actor: { kind: 'operator' } })
  await log.close()
}
