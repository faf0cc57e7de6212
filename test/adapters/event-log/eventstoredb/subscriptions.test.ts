import { setTimeout as delay } from 'node:timers/promises'
import t, { type Test } from 'tap'
import type { Position } from '../../../../schemas/recorded.ts'
import { openEventStoreLog } from '../../../../src/adapters/event-log/eventstoredb.ts'
import { follow } from '../../../../src/engine/log/follow.ts'
import { Projector } from '../../../../src/engine/views/projector.ts'
import { BEFORE_FIRST, NO_STREAM } from '../../../../src/ports/event-log.ts'
import { Unavailable } from '../../../../src/ports/faults.ts'
import { Accounts } from '../../../../src/services/accounts/accounts.ts'
import { accountId, grantCredits, openAccount } from '../../../support/account-samples.ts'
import { collect } from '../../../support/collect.ts'
import { dumpText } from '../../../support/dump.ts'
import { noSnapshots, openLog, openViews, silentLogger } from '../../../support/engine.ts'
import { consumerTooSlow, type ReadFate } from '../../../support/event-store/faults.ts'
import { startEventStoreServer } from '../../../support/event-store/server.ts'
import { writeHistory } from '../../../support/history.ts'
import { ManualClock } from '../../../support/manual-clock.ts'
import { eventStoreAt } from '../../../support/store-addresses.ts'

/** A server, what it keeps, and two logs over it, so that what breaks for the reader does not for the writer. */
const open = async (t: Test) => {
  const stored = await openLog(t)
  const server = await startEventStoreServer({ log: stored })
  const address = eventStoreAt(server.url)
  const logs = [openEventStoreLog({ address }), openEventStoreLog({ address })] as const
  t.teardown(() => server.close())
  for (const log of logs) t.teardown(() => log.close())
  return { stored, server, reading: logs[0], writing: logs[1] }
}

/** A projector over a server of some version, with all that it warns of and how often it subscribes. */
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
  const projector = new Projector(log, await openViews(t), { ...silentLogger, warn, error: warn })
  t.teardown(() => projector.stop())
  return { log, projector, seen, accounts: new Accounts(log, noSnapshots, new ManualClock()) }
}

/** A dropped connection takes with it whatever else was under way. */
const untilAvailable = async <Value>(ask: () => Promise<Value>): Promise<Value> => {
  for (;;) {
    try {
      return await ask()
    } catch (error) {
      if (!(error instanceof Unavailable)) throw error
    }
  }
}

t.test('100 subscriptions that drop under load: the views miss nothing, and take nothing twice', async t => {
  const { server, stored, reading, writing } = await open(t)
  const views = await openViews(t)
  let drops = 0
  const ends = ['end', 'break', consumerTooSlow()] as const
  server.faults.subscription = (): ReadFate | undefined => {
    if (drops >= 100) return undefined
    drops += 1
    return { after: 1 + (drops % 5), by: ends[drops % 3] ?? 'end' }
  }
  const projector = new Projector(reading, views, silentLogger)
  t.teardown(() => projector.stop())
  const accounts = new Accounts(writing, noSnapshots, new ManualClock())
  await accounts.execute(accountId(1), openAccount({ welcome: 0 }), cause)
  await projector.start()
  for (let grants = 0; drops < 100 || grants < 500; grants++)
    await untilAvailable(() => accounts.execute(accountId(1), grantCredits(1), cause))
  // The last drop is behind it, and the views must be there within five seconds.
  await projector.passed(await untilAvailable(() => writing.head()), 5000)
  await projector.stop()
  t.equal(drops, 100)

  const untroubled = await openViews(t)
  const again = new Projector(writing, untroubled, silentLogger)
  await again.start()
  await again.stop()
  t.equal(await dumpText(views), await dumpText(untroubled))
  const granted = (await collect(stored.readAll(BEFORE_FIRST))).filter(({ type }) => type === 'CreditsGranted').length
  const balance = await views.get<{ balanceMicros: number }>('balance', accountId(1))
  t.equal(balance?.balanceMicros, granted * 1_000_000)
})

for (const version of ['24.10.4', '23.10.6'])
  t.test(`the first start on an empty log goes without a stumble (${version})`, async t => {
    const { log, projector, seen, accounts } = await openProjector(t, version)
    await projector.start()
    // On 24.10, a checkpoint without a position comes as soon as the subscription is live.
    await delay(300)
    await accounts.execute(accountId(1), openAccount({ welcome: 0 }), cause)
    await projector.passed(await log.head(), 5000)
    t.same(seen, { warnings: [], subscriptions: 1 })
  })

t.test('a subscription that 23.10 cuts off is taken up at once, and nobody is warned', async t => {
  const { log, projector, seen, accounts } = await openProjector(t, '23.10.6')
  await accounts.execute(accountId(1), openAccount({ welcome: 0 }), cause)
  await projector.start()
  for (let burst = 0; burst < 5; burst++) {
    await Promise.all(Array.from({ length: 100 }, () => accounts.execute(accountId(1), grantCredits(1), cause)))
    await projector.passed(await log.head(), 5000)
  }
  t.same(seen.warnings, [])
  t.ok(seen.subscriptions > 1, `it was cut off ${seen.subscriptions - 1} times`)
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
    const subscription = follow(reading, {
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

t.test('a subscription that falls silent is noticed, and taken up again', async t => {
  const { server, reading, writing } = await open(t)
  const fates: ReadFate[] = [{ after: 0, by: 'hang' }]
  server.faults.subscription = () => fates.shift()
  await writing.append('account-1', newEvents(1), NO_STREAM)
  const following = reading.follow(BEFORE_FIRST, AbortSignal.timeout(30_000))[Symbol.asyncIterator]()
  t.equal((await following.next()).value?.length, 1)
  await writing.append('account-1', newEvents(1), 0)
  const next = following.next()
  const head = await writing.head()
  t.equal(await reading.head(), head, 'the head goes on, by which the engine notices')
  server.dropConnections()
  await t.rejects(next, {
    name: 'Unavailable',
    message: /EventStoreDB at 127\.0\.0\.1:\d+ failed: /,
  })
})

t.test('what was looked through in vain is not looked through again', async t => {
  const { server, stored, reading } = await open(t)
  await stored.append('account-1', newEvents(1), NO_STREAM)
  await stored.append('orders-1', newEvents(1200), NO_STREAM)
  const first = new AbortController()
  const following = reading.follow(BEFORE_FIRST, first.signal)[Symbol.asyncIterator]()
  const taken = (await following.next()).value?.[0]
  const waiting = following.next()
  // A checkpoint is no event, so whether it has come shows only in where the next subscription begins.
  const begun: number[] = []
  while (begun.at(-1) !== 1000) {
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
  }
  first.abort()
  t.same(await waiting, { done: true, value: undefined })
  t.equal(begun.at(-1), 1000)
})

const cause = { actor: { kind: 'operator' } } as const

const newEvents = (count: number) =>
  Array.from({ length: count }, () => ({ id: crypto.randomUUID(), type: 'SomethingHappened', data: {}, metadata: {} }))
