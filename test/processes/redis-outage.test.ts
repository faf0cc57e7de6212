import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import t from 'tap'
import { systemClock } from '../../src/adapters/clock/system.ts'
import { openLmdbEventLog } from '../../src/adapters/event-log/lmdb.ts'
import { sandbox } from '../support/client.ts'
import { accountsOn } from '../support/engine.ts'
import { needsRedis } from '../support/redis-server.ts'
import type { Customer } from '../support/service.ts'
import { countOf, ofKind, startLoadOnRedis } from '../support/steady-load-on-redis.ts'
import { until } from '../support/until.ts'

t.setTimeout(280_000)

const ALL = 'api,projector,reactors'

const OUTAGE_MS = 20_000

/** The lengths of the pauses; the second is shorter than every timeout. */
const PAUSES_MS = [3000, 500]

t.test('while the views do not answer, writes continue and reads return 503', needsRedis(), async t => {
  const { folder, redis, urls, guest, stranger, answersSince, ...load } = await startLoadOnRedis(t, ALL, ALL)

  for (const pauseMs of PAUSES_MS)
    await t.test(`Redis hangs for ${pauseMs} ms`, async t => {
      redis.pause()
      const sinceMs = performance.now()
      await delay(pauseMs)
      redis.continue()
      await load.allRead()
      const answers = answersSince(sinceMs)
      t.equal(countOf(ofKind(answers, 'write'), 503), 0, 'all writes are accepted')
    })

  await t.test('Redis is down for a while and returns empty', async t => {
    await redis.kill()
    const goneMs = performance.now()
    await delay(OUTAGE_MS / 2)
    for (const url of urls) {
      t.equal((await guest.at(url).run(sandbox())).status, 200, 'a known key keeps working')
      t.equal((await stranger.at(url).run(sandbox())).status, 503, 'an unknown key gets 503')
    }
    await revoke(folder, guest)
    for (const url of urls)
      for (const reply of [await guest.at(url).run(sandbox()), await guest.at(url).send('/v1/balance')])
        t.equal(reply.status, 401, 'a revoked key is refused')
    await delay(OUTAGE_MS / 2)
    const answers = answersSince(goneMs)
    await redis.start()
    await load.allRead()

    const [reads, writes] = [ofKind(answers, 'read'), ofKind(answers, 'write')]
    t.ok(countOf(reads, 503) > 0, 'reads return 503')
    t.ok(writes.length > 0)
    t.equal(countOf(writes, 503), 0, `all ${writes.length} writes are accepted`)
    for (const url of urls) {
      await until('a key that was unknown works', async () => (await stranger.at(url).run(sandbox())).status === 200)
      t.equal((await guest.at(url).send('/v1/balance')).status, 401)
    }
  })

  await load.end()
  await load.finish()
})

/** Revokes a key on the log, as the command-line tool does; the tool itself needs the views. */
const revoke = async (folder: string, { accountId, keyId }: Customer) => {
  const log = openLmdbEventLog(join(folder, 'log'), error => {
    throw error
  })
  const accounts = accountsOn(log, systemClock)
  await accounts.execute({ kind: 'operator', name: 'test' }, accountId, { type: 'RevokeApiKey', keyId })
  await log.close()
}
