import t, { type Test } from 'tap'
import type { Position } from '../../schemas/recorded.ts'
import { follow } from '../../src/engine/follow.ts'
import { BEFORE_FIRST, type EventLog } from '../../src/ports/event-log.ts'
import { collect } from '../support/collect.ts'
import { openLog } from '../support/engine.ts'
import { writeHistory } from '../support/history.ts'

/** Follows a log and keeps the ids it is handed, until it has the event at a position. */
const idsUpTo = (
  log: EventLog,
  head: Position,
  { take = async () => undefined, after = 'at once' }: { take?: () => Promise<void>; after?: 'at once' | 'later' } = {},
): Promise<{ ids: string[]; drops: string[] }> =>
  new Promise(resolve => {
    const ids: string[] = []
    const drops: string[] = []
    let taken = BEFORE_FIRST
    const subscription = follow(log, {
      from: async () => taken,
      take: async events => {
        await take()
        ids.push(...events.map(({ id }) => id))
        taken = events.at(-1)?.position ?? taken
      },
      onDrop: error => {
        drops.push((error as Error).message)
        return after
      },
    }).subscribe(position => {
      if (position < head) return
      // What comes in the same turn would still be seen, were it too much.
      setImmediate(() => {
        subscription.unsubscribe()
        resolve({ ids, drops })
      })
    })
  })

/** A log whose subscriptions meet these ends, one after the other, and then hold. */
const dropping = (
  log: EventLog,
  ...ends: ((after: Position, signal: AbortSignal) => EventLog['follow'])[]
): EventLog => ({
  ...log,
  follow: (after, signal) => (ends.shift()?.(after, signal) ?? log.follow)(after, signal),
})

/** Breaks after so many events. */
const breaksAfter = (log: EventLog, count: number) => (): EventLog['follow'] =>
  async function* (after, signal) {
    for await (const page of log.follow(after, signal)) {
      yield page.slice(0, count)
      throw new Error('the subscription was dropped')
    }
  }

/** Says nothing any more, and does not end. */
const hangs = (): EventLog['follow'] =>
  async function* (_, signal) {
    await new Promise(resolve => signal.addEventListener('abort', resolve))
    yield []
  }

/** Ends as if there were no more to come. */
const ends = (): EventLog['follow'] => async function* () {}

/** Lets intervals pass ten times as fast, so that nobody has to wait for the watchdog. */
const hurry = (t: Test) => {
  const { setInterval } = globalThis
  const faster = (callback: () => void, ms?: number, ...args: []) => setInterval(callback, (ms ?? 0) / 10, ...args)
  globalThis.setInterval = faster as typeof setInterval
  t.teardown(() => {
    globalThis.setInterval = setInterval
  })
}

const openFilled = async (t: Test) => {
  const log = await openLog(t)
  await writeHistory(log, { accounts: 6 })
  const all = (await collect(log.readAll(BEFORE_FIRST))).map(({ id }) => id)
  return { log, all, head: await log.head() }
}

t.test('events come once and in order, however often the source is dropped', async t => {
  const { log, all, head } = await openFilled(t)
  const broken = dropping(log, ...[0, 1, 5, 40, 0, 3, 2].map(count => breaksAfter(log, count)))
  const { ids, drops } = await idsUpTo(broken, head)
  t.same(ids, all)
  t.equal(drops.length, 7)
})

t.test('a page that was not taken comes again', async t => {
  const { log, all, head } = await openFilled(t)
  let refusals = 3
  const take = async () => {
    if (refusals-- > 0) throw new Error('not now')
  }
  const { ids, drops } = await idsUpTo(log, head, { take })
  t.same(ids, all)
  t.same(drops, ['not now', 'not now', 'not now'])
})

t.test('it comes back later when it is told to', async t => {
  const { log, all, head } = await openFilled(t)
  const { ids, drops } = await idsUpTo(dropping(log, breaksAfter(log, 5)), head, { after: 'later' })
  t.same(ids, all)
  t.equal(drops.length, 1)
})

t.test('an event that cannot be read is a drop, and never passed over', async t => {
  const { log, all } = await openFilled(t)
  await log.append('account-x', [{ id: 'odd', type: 'Unheard', data: {}, metadata: {} }], -1)
  const drops: unknown[] = []
  const ids: string[] = []
  await new Promise<void>(resolve => {
    const subscription = follow(log, {
      from: async () => BEFORE_FIRST,
      take: async events => {
        ids.push(...events.map(({ id }) => id))
      },
      onDrop: error => {
        drops.push(error)
        setImmediate(() => {
          subscription.unsubscribe()
          resolve()
        })
        return 'later'
      },
    }).subscribe()
  })
  t.match(drops, [{ name: 'Damaged' }])
  t.ok(ids.length <= all.length)
  t.notOk(ids.includes('odd'))
})

const silences = {
  hangs: { silence: hangs, drop: 'the follower stands still at position -1' },
  ends: { silence: ends, drop: 'the log ended a subscription' },
}
for (const [name, { silence, drop }] of Object.entries(silences))
  t.test(`a subscription that ${name} without a word is noticed and taken up again`, async t => {
    const { log, all, head } = await openFilled(t)
    hurry(t)
    const { ids, drops } = await idsUpTo(dropping(log, silence), head)
    t.same(ids, all)
    t.equal(drops[0], drop)
  })

t.test('nothing is read any more when nobody listens', async t => {
  const { log } = await openFilled(t)
  let stopped: AbortSignal | undefined
  const watched: EventLog = {
    ...log,
    follow: (after, signal) => {
      stopped = signal
      return log.follow(after, signal)
    },
  }
  await new Promise<void>(resolve => {
    const subscription = follow(watched, {
      from: async () => BEFORE_FIRST,
      take: async () => undefined,
      onDrop: () => 'later',
    }).subscribe(() => {
      setImmediate(() => {
        subscription.unsubscribe()
        resolve()
      })
    })
  })
  t.equal(stopped?.aborted, true)
})
