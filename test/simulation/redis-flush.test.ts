import { setTimeout as delay } from 'node:timers/promises'
import t from 'tap'
import { needsRedis } from '../support/redis-server.ts'
import { countOf, ofKind, startLoadOnRedis } from '../support/steady-load-on-redis.ts'

t.setTimeout(280_000)

const ALL = 'api,projector,reactors'

/** How often the views are lost, how long they last at the most, and within what time they are lost once more. */
const LOSSES = 12
const LAST_MS = 1000
const AGAIN_MS = 200

t.test('views that are lost over and over are never wrong', needsRedis(), async t => {
  // One process only watches how far the projectors of the others have come.
  const { redis, answersSince, allRead, end, finish } = await startLoadOnRedis(t, ALL, ALL, 'api')
  const sinceMs = performance.now()
  for (let loss = 0; loss < LOSSES; loss++) {
    await delay(Math.random() * LAST_MS)
    await redis.command('FLUSHALL')
    // They are lost while they are built anew, too.
    await delay(Math.random() * AGAIN_MS)
    await redis.command('FLUSHALL')
  }
  const answers = answersSince(sinceMs)
  await allRead()
  await end()
  t.ok(countOf(ofKind(answers, 'read'), 503) > 0, 'there are moments without an answer')
  t.ok(countOf(ofKind(answers, 'read'), 200) > 0, 'and others between them')
  t.equal(countOf(ofKind(answers, 'write'), 503), 0, 'all writes are taken')

  // Now nothing is written that would show the projectors that the views are gone.
  await redis.command('FLUSHALL')
  await finish()
})
