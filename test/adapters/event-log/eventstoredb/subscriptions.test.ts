import { setTimeout as delay } from 'node:timers/promises'
import t, { type Test } from 'tap'
import type { Position, RawEvent } from '../../../../schemas/recorded.ts'
import { systemClock } from '../../../../src/adapters/clock/system.ts'
import { openEventStoreLog } from '../../../../src/adapters/event-log/eventstoredb.ts'
import { follow } from '../../../../src/engine/log/follow.ts'
import { BEFORE_FIRST, NO_STREAM } from '../../../../src/ports/event-log.ts'
import { Unavailable } from '../../../../src/ports/faults.ts'
import { eventCodec } from '../../../../src/services/event-codec.ts'
import { accountId, grantCredits, openAccount } from '../../../support/account-samples.ts'
import { collect } from '../../../support/collect.ts'
import { dumpText } from '../../../support/dump.ts'
import { accountsOn, openLog, openViews, silentLogger } from '../../../support/engine.ts'
import { consumerTooSlow, type ReadFate } from '../../../support/event-store/faults.ts'
import { startEventStoreServer } from '../../../support/event-store/server.ts'
import { writeHistory } from '../../../support/history.ts'
import { eventStoreAt } from '../../../support/store-addresses.ts'
import { isLong } from '../../../support/test-length.ts'
import { until } from '../../../support/until.ts'
import { projectorOf } from '../../../support/views.ts'

/** A server, its embedded log, and two logs over it, so that the reader's faults do not affect the writer. */
const open = async (t: Test) => {
  const stored = await openLog(t)
  const server = await startEventStoreServer({ log: stored })
  const address = eventStoreAt(server.url)
  const logs = [openEventStoreLog({ address }), openEventStoreLog({ address })] as const
  t.teardown(() => server.close())
  for (const log of logs) t.teardown(() => log.close())
  return { stored, server, reading: logs[0], writing: logs[1] }
}

/** A projector over a server of some version. Records warnings and the number of subscriptions. */
const openProjector = async (t: Test, version: string) => {
  const server = await startEventStoreServer({ log: await openLog(t), version })
  t.teardown(() => server.close())
  const log = openEventStoreLog({ address: eventStoreAt(server.url) })
  t.teardown(() => log.close())
  const seen = { warnings: [] as string[], subscriptions: 0 }
  server.faults.subscription = () => {
    seen.subscriptions += 1
    return undefined
  }
  const warn = (_: object, message: string) => void seen.warnings.push(message)
  const projector = projectorOf(log, await openViews(t), { ...silentLogger, warn, error: warn })
  t.teardown(() => projector.stop())
  return { log, projector, seen, accounts: accountsOn(log) }
}

/** A dropped connection also ends all other requests. */
const untilAvailable = async <Value>(request: () => Promise<Value>): Promise<Value> => {
  const { value } = await until('the server is available', async () => {
    try {
      return { value: await request() }
    } catch (error) {
      if (!(error instanceof Unavailable)) throw error
      return undefined
    }
  })
  return value
}

t.test('many subscriptions that drop under load: the views miss nothing, and apply nothing twice', async t => {
  const { server, stored, reading, writing } = await open(t)
  const views = await openViews(t)
  const [DROPS, GRANTS] = isLong ? [100, 500] : [15, 75]
  let drops = 0
  const ends = ['end', 'break', consumerTooSlow()] as const
  server.faults.subscription = (): ReadFate | undefined => {
    if (drops >= DROPS) return undefined
    drops += 1
    return { after: 1 + (drops % 5), by: ends[drops % 3] ?? 'end' }
  }
  const projector = projectorOf(reading, views, silentLogger)
  t.teardown(() => projector.stop())
  const accounts = accountsOn(writing)
  await accounts.execute(caller, accountId(1), openAccount({ welcome: 0 }))
  await projector.start()
  const passed = async (maxWaitMs: number) =>
    projector.progress.passed(await untilAvailable(() => writing.head()), maxWaitMs)
  for (let grants = 1; drops < DROPS || grants <= GRANTS; grants++) {
    await untilAvailable(() => accounts.execute(caller, accountId(1), grantCredits(1)))
    // An account can have 10,000 grants, and a fast machine makes them before all subscriptions have dropped.
    if (grants % 10 === 0) await passed(60_000)
  }
  // After the last drop, the views must catch up within five seconds.
  await passed(5000)
  await projector.stop()
  t.equal(drops, DROPS)

  const untroubled = await openViews(t)
  const again = projectorOf(writing, untroubled, silentLogger)
  await again.start()
  await again.stop()
  t.equal(await dumpText(views), await dumpText(untroubled))
  const granted = (await collect(stored.readAll(BEFORE_FIRST))).filter(({ type }) => type === 'CreditsGranted').length
  const balance = await views.get<{ balanceMicros: number }>('balance', accountId(1))
  t.equal(balance?.balanceMicros, granted * 1_000_000)
})

for (const version of ['24.10.4', '23.10.6'])
  t.test(`the first start on an empty log works without warnings (${version})`, async t => {
    const { log, projector, seen, accounts } = await openProjector(t, version)
    await projector.start()
    // 24.10 sends a checkpoint without a position as soon as the subscription is live.
    await delay(300)
    await accounts.execute(caller, accountId(1), openAccount({ welcome: 0 }))
    await projector.progress.passed(await log.head(), 5000)
    t.same(seen, { warnings: [], subscriptions: 1 })
  })

t.test('a subscription that 23.10 ends is resumed at once, without a warning', async t => {
  const { log, projector, seen, accounts } = await openProjector(t, '23.10.6')
  await accounts.execute(caller, accountId(1), openAccount({ welcome: 0 }))
  await projector.start()
  for (let burst = 0; burst < 5; burst++) {
    await Promise.all(Array.from({ length: 100 }, () => accounts.execute(caller, accountId(1), grantCredits(1))))
    await projector.progress.passed(await log.head(), 5000)
  }
  t.same(seen.warnings, [])
  t.ok(seen.subscriptions > 1, `it ended ${seen.subscriptions - 1} times`)
})

t.test('a follower sees each event once and in order, wherever its reads end', async t => {
  const { server, stored, reading } = await open(t)
  await writeHistory(stored, { accounts: 6 })
  const all = (await collect(stored.readAll(BEFORE_FIRST))).map(({ id }) => id)
  const ends = ['break', consumerTooSlow()] as const
  const fates: ReadFate[] = [0, 1, 5, 40, 0, 3, 2].map((after, index) => ({ after, by: ends[index % 2] ?? 'break' }))
  server.faults.read = () => fates.shift()
  const ids: string[] = []
  let taken: Position = BEFORE_FIRST
  await new Promise<void>(resolve => {
    const subscription = follow(reading, eventCodec, systemClock, {
      from: async () => taken,
      take: async events => {
        ids.push(...events.map(({ id }) => id))
        taken = events.at(-1)?.position ?? taken
      },
      onDrop: () => 'at once',
    }).subscribe(() => {
      if (ids.length < all.length) return
      setImmediate(() => {
        subscription.unsubscribe()
        resolve()
      })
    })
  })
  t.same(ids, all)
  t.same(fates, [])
})

t.test('a silent subscription is noticed and resumed', async t => {
  const { server, reading, writing } = await open(t)
  const fates: ReadFate[] = [{ after: 0, by: 'hang' }]
  server.faults.subscription = () => fates.shift()
  await writing.append('account-1', newEvents(1), NO_STREAM)
  const following = reading.follow(BEFORE_FIRST, AbortSignal.timeout(30_000))[Symbol.asyncIterator]()
  t.equal((await following.next()).value?.length, 1)
  await writing.append('account-1', newEvents(1), 0)
  const next = following.next()
  const head = await writing.head()
  t.equal(await reading.head(), head, 'the head advances, by which the engine notices')
  server.dropConnections()
  await t.rejects(next, {
    name: 'Unavailable',
    message: /EventStoreDB at 127\.0\.0\.1:\d+ failed: /,
  })
})

t.test('events that were scanned without a match are not scanned again', async t => {
  const { server, stored, reading } = await open(t)
  await stored.append('account-1', newEvents(1), NO_STREAM)
  await stored.append('orders-1', newEvents(1200), NO_STREAM)
  const first = new AbortController()
  const following = reading.follow(BEFORE_FIRST, first.signal)[Symbol.asyncIterator]()
  const taken = (await following.next()).value?.[0]
  const waiting = following.next()
  // A checkpoint is not an event, so it only shows in the start of the next subscription.
  const begun: number[] = []
  const begin = async () => {
    server.faults.subscription = after => {
      begun.push(after)
      return undefined
    }
    const again = new AbortController()
    const next = reading
      .follow(taken?.position as number, again.signal)
      [Symbol.asyncIterator]()
      .next()
    await new Promise(resolve => setTimeout(resolve, 20))
    again.abort()
    await next
    return begun.at(-1) === 1000
  }
  await until('a subscription begins at the checkpoint', begin)
  first.abort()
  t.same(await waiting, { done: true, value: undefined })
  t.equal(begun.at(-1), 1000)
})

t.test('events before a checkpoint that were not handled are delivered again', async t => {
  const { server, stored, reading, writing } = await open(t)
  const { position: start } = await writing.append('account-2', newEvents(1), NO_STREAM)
  const subscribed = new Promise<void>(resolve => {
    server.faults.subscription = () => void resolve()
  })
  const following = (async () => {
    const seen: RawEvent[] = []
    for await (const page of reading.follow(start, AbortSignal.timeout(30_000))) {
      seen.push(...page)
      if (seen.length === 3) break
    }
    return seen
  })()
  await subscribed
  for (const revision of [NO_STREAM, 0]) await writing.append('account-1', newEvents(1), revision)
  // So many that a checkpoint precedes the third event.
  await stored.append('orders-1', newEvents(1200), NO_STREAM)
  await writing.append('account-1', newEvents(1), 1)
  const seen = await following
  const ids = seen.map(({ id }) => id)
  t.same(
    ids,
    (await collect(writing.readStream('account-1', 0))).map(({ id }) => id),
  )

  // The connection drops before the first or second event is handled.
  for (const [index, position] of [start, ...seen.map(event => event.position)].slice(0, -1).entries())
    for await (const [next] of reading.follow(position, AbortSignal.timeout(30_000))) {
      t.equal(next?.id, ids[index])
      break
    }
})

t.test('every request requires the leader', async t => {
  const { server, reading } = await open(t)
  const seen: [string, boolean][] = []
  server.faults.append = ({ requiresLeader }) => void seen.push(['append', requiresLeader])
  server.faults.read = ({ kind, requiresLeader }) => void seen.push([kind, requiresLeader])
  await reading.append('account-1', newEvents(1), NO_STREAM)
  await collect(reading.readStream('account-1', 0))
  const stop = new AbortController()
  server.faults.subscription = (_, { kind, requiresLeader }) => {
    seen.push([kind, requiresLeader])
    stop.abort()
    return undefined
  }
  await collect(reading.follow(BEFORE_FIRST, stop.signal))
  t.same(Object.fromEntries(seen), { append: true, stream: true, all: true, subscription: true })
  t.ok(seen.every(([, requiresLeader]) => requiresLeader))
})

const caller = { kind: 'operator', name: 'test' } as const

const newEvents = (count: number) =>
  Array.from({ length: count }, () => ({ id: crypto.randomUUID(), type: 'SomethingHappened', data: {}, metadata: {} }))
