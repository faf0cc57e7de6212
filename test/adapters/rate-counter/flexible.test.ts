import { randomUUID } from 'node:crypto'
import t, { type Test } from 'tap'
import { countInMemory, countInRedis } from '../../../src/adapters/rate-counter/flexible.ts'
import type { RateCounter } from '../../../src/ports/rate-counter.ts'
import { needsRedis, type RedisServer, startRedis } from '../../support/redis-server.ts'
import { redisAt } from '../../support/store-addresses.ts'
import { until } from '../../support/until.ts'

/** The counts of some requests, one after another. */
const countAll = async (counter: RateCounter, name: string, times: number): Promise<number[]> => {
  const counts: number[] = []
  for (let time = 0; time < times; time++) counts.push((await counter.count(name)).count)
  return counts
}

t.test('a process counts each name on its own, and again in the next window', async t => {
  const counter = countInMemory({ windowSeconds: 1 })
  t.same(await countAll(counter, 'a', 3), [1, 2, 3])
  t.same(await countAll(counter, 'b', 1), [1])
  const { leftMs } = await counter.count('a')
  t.ok(leftMs > 0 && leftMs <= 1000, `${leftMs} ms are left`)
  await until('the next window', async () => (await counter.count('a')).count === 1)
  counter.close()
})

t.test('with Redis', needsRedis(), async t => {
  const redis = await startRedis()
  t.teardown(() => redis.stop())

  /** Counters of some processes, and the faults that they tell. */
  const open = (t: Test, count: number, { url }: RedisServer = redis, { windowSeconds = 60, commandMs = 25 } = {}) => {
    const faults: string[] = []
    const keySpace = `test-${randomUUID()}`
    const onAway = ({ message }: Error) => faults.push(message)
    const counters = Array.from({ length: count }, () =>
      countInRedis({ address: redisAt(url), keySpace, onAway, windowSeconds, commandMs }),
    ) as [RateCounter, RateCounter]
    t.teardown(() => counters.forEach(counter => void counter.close()))
    return { counters, faults, keySpace }
  }

  /** Resolves once the counters are connected, with how often they have counted a name together. */
  const untilShared = ([first, second]: RateCounter[], name: string) =>
    until('both count together', async () => {
      const [before, after] = [await first?.count(name), await second?.count(name)]
      return before && after?.count === before.count + 1 && after.count
    })

  await t.test('processes count together', async t => {
    const { counters, faults } = open(t, 2, redis, { commandMs: 10_000 })
    const before = await untilShared(counters, 'a')
    const counts = await Promise.all(Array.from({ length: 50 }, (_, index) => counters[index % 2]?.count('a')))
    const found = counts.map(counted => counted?.count ?? 0).sort((a, b) => a - b)
    t.same(
      found,
      Array.from({ length: 50 }, (_, index) => before + index + 1),
    )
    t.ok(counts.every(counted => counted && counted.leftMs > 0 && counted.leftMs <= 60_000))
    t.same(faults.splice(0).length <= 2, true, 'at most the first requests came before the connections')
  })

  await t.test('the next window begins anew', async t => {
    const { counters } = open(t, 2, redis, { windowSeconds: 1 })
    await untilShared(counters, 'a')
    await until('the next window', async () => (await counters[0].count('a')).count === 1)
  })

  await t.test('each counts on its own while Redis is down, and together once it is back', async t => {
    const server = await startRedis()
    t.teardown(() => server.stop())
    const { counters, faults } = open(t, 2, server)
    await untilShared(counters, 'a')
    faults.splice(0)
    await server.kill()
    await until('the first notices', async () => (await counters[0].count('b')) && faults.length === 1)
    await until('the second notices', async () => (await counters[1].count('b')) && faults.length === 2)
    t.match(faults, [/^Redis at 127\.0\.0\.1:\d+ is not available/, /^Redis at/])
    t.same(await countAll(counters[0], 'c', 3), [1, 2, 3])
    t.same(await countAll(counters[1], 'c', 2), [1, 2])
    await server.start()
    await untilShared(counters, 'd')
    t.equal(faults.length, 2, 'each has told it once')
  })

  await t.test('nobody waits for a server that hangs', async t => {
    const server = await startRedis()
    t.teardown(() => server.stop())
    const { counters, faults, keySpace } = open(t, 2, server)
    await untilShared(counters, 'a')
    faults.splice(0)
    server.pause()
    // The server goes on only after these have all been answered.
    t.same(
      await countAll(counters[0], 'b', 100),
      Array.from({ length: 100 }, (_, index) => index + 1),
    )
    t.equal(faults.length, 1)
    server.continue()
    await untilShared(counters, 'c')
    // Redis gets the commands that were sent to it meanwhile.
    const asked = /\d+\s*$/.exec(await server.command(`GET {${keySpace}}:rate:b`))?.[0]
    t.ok(Number(asked) >= 1 && Number(asked) < 50, `it was asked ${asked} times`)
  })

  await t.test('a server that is down at the start is used later', async t => {
    const server = await startRedis()
    t.teardown(() => server.stop())
    await server.kill()
    const { counters } = open(t, 2, server)
    t.same(await countAll(counters[0], 'a', 2), [1, 2])
    await server.start()
    await untilShared(counters, 'a')
  })
})
