import { setTimeout as delay } from 'node:timers/promises'
import t from 'tap'
import { needsRedis } from '../support/redis-server.ts'
import { seededRandom, testSeed } from '../support/seeded-random.ts'
import { countOf, ofKind, startLoadOnRedis } from '../support/steady-load-on-redis.ts'

t.setTimeout(280_000)

const ALL = 'api,projector,reactors'

/** The smallest number of losses, the longest time before each, and the longest time before it is repeated. */
const LOSSES = 12
const MAX_PAUSE_MS = 1000
const MAX_REPEAT_MS = 200

const seed = testSeed()

t.test(`views that are lost repeatedly are never wrong (TEST_SEED=${seed})`, needsRedis(), async t => {
  // One process has no projector and follows the others.
  const { redis, answersSince, allRead, end, finish } = await startLoadOnRedis(t, ALL, ALL, 'api')
  const random = seededRandom(seed)
  const sinceMs = performance.now()
  const refusedReads = () => countOf(ofKind(answersSince(sinceMs), 'read'), 503)
  // On a fast machine, a rebuild can end before any client reads: the views are lost until one has noticed.
  for (let loss = 0; loss < LOSSES || refusedReads() === 0; loss++) {
    await delay(random() * MAX_PAUSE_MS)
    await redis.command('FLUSHALL')
    // The views are also lost during their rebuild.
    await delay(random() * MAX_REPEAT_MS)
    await redis.command('FLUSHALL')
  }
  const answers = answersSince(sinceMs)
  await allRead()
  await end()
  t.ok(countOf(ofKind(answers, 'read'), 200) > 0, 'other reads succeed')
  t.equal(countOf(ofKind(answers, 'write'), 503), 0, 'all writes are accepted')

  // Without writes the projectors must notice the loss by themselves.
  await redis.command('FLUSHALL')
  await finish()
})
