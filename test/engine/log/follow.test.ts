import t, { type Test } from 'tap'
import type { Position, RawEvent } from '../../../schemas/recorded.ts'
import { systemClock } from '../../../src/adapters/clock/system.ts'
import { follow } from '../../../src/engine/log/follow.ts'
import { BEFORE_FIRST, type EventLog } from '../../../src/ports/event-log.ts'
import { eventCodec } from '../../../src/services/event-codec.ts'
import { collect } from '../../support/collect.ts'
import { openLog } from '../../support/engine.ts'
import { writeHistory } from '../../support/history.ts'

/** Follows a log up to a position and returns the event ids and the drops on the way. */
const idsUpTo = (
  log: EventLog,
  head: Position,
  {
    take = async () => undefined,
    after = 'at once',
    from = BEFORE_FIRST,
  }: { take?: () => Promise<void>; after?: 'at once' | 'later'; from?: Position } = {},
): Promise<{ ids: string[]; drops: string[] }> =>
  new Promise(resolve => {
    const ids: string[] = []
    const drops: string[] = []
    let taken = from
    const subscription = follow(log, eventCodec, systemClock, {
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
      // Wait one turn so that surplus events would be caught.
      setImmediate(() => {
        subscription.unsubscribe()
        resolve({ ids, drops })
      })
    })
  })

/** A log whose first subscriptions are the given faulty ones; later subscriptions work. */
const dropping = (
  log: EventLog,
  ...ends: ((after: Position, signal: AbortSignal) => EventLog['follow'])[]
): EventLog => ({
  ...log,
  follow: (after, signal) => (ends.shift()?.(after, signal) ?? log.follow)(after, signal),
})

/** A subscription that breaks after `count` events. */
const breaksAfter = (log: EventLog, count: number) => (): EventLog['follow'] =>
  async function* (after, signal) {
    for await (const page of log.follow(after, signal)) {
      yield page.slice(0, count)
      throw new Error('the subscription was dropped')
    }
  }

/** A subscription whose first page is changed. */
const changesFirstPage = (log: EventLog, change: (page: RawEvent[]) => RawEvent[]) => (): EventLog['follow'] =>
  async function* (after, signal) {
    for await (const page of log.follow(after, signal)) {
      yield change(page)
      throw new Error('the changed page was accepted')
    }
  }

/** A subscription that starts at the first event, whatever position was requested. */
const startsOver = (log: EventLog) => (): EventLog['follow'] => (_, signal) => log.follow(BEFORE_FIRST, signal)

/** A subscription that delivers nothing and does not end. */
const hangs = (): EventLog['follow'] =>
  async function* (_, signal) {
    await new Promise(resolve => signal.addEventListener('abort', resolve))
    yield []
  }

/** A subscription that ends at once without an error. */
const ends = (): EventLog['follow'] => async function* () {}

/** Runs intervals ten times as fast to shorten the wait for the watchdog. */
const speedUpIntervals = (t: Test) => {
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

t.test('events arrive once and in order after any number of drops', async t => {
  const { log, all, head } = await openFilled(t)
  const broken = dropping(log, ...[0, 1, 5, 40, 0, 3, 2].map(count => breaksAfter(log, count)))
  const { ids, drops } = await idsUpTo(broken, head)
  t.same(ids, all)
  t.equal(drops.length, 7)
})

t.test('a page repeated after a reconnection is not taken twice', async t => {
  const { log, all, head } = await openFilled(t)
  const { ids, drops } = await idsUpTo(dropping(log, breaksAfter(log, 40), startsOver(log)), head)
  t.same(ids, all)
  t.equal(drops.length, 2)
  t.match(drops[1], /^the event log returned position \d+ after position \d+$/)
})

t.test('a page repeated within a subscription is not taken twice', async t => {
  const { log, all, head } = await openFilled(t)
  const stutters = (): EventLog['follow'] =>
    async function* (after, signal) {
      for await (const page of log.follow(after, signal)) {
        yield page.slice(0, 10)
        yield page.slice(0, 10)
      }
    }
  const { ids, drops } = await idsUpTo(dropping(log, stutters), head)
  t.same(ids, all)
  t.match(drops, [/^the event log returned position \d+ after position \d+$/])
})

t.test('a follower that starts in the middle takes no earlier events', async t => {
  const { log, all, head } = await openFilled(t)
  const taken = await collect(log.readAll(BEFORE_FIRST))
  const from = taken[39]?.position ?? BEFORE_FIRST
  const late = changesFirstPage(log, page => [taken[30] as RawEvent, ...page])
  for (const source of [late, startsOver(log)]) {
    const { ids, drops } = await idsUpTo(dropping(log, source), head, { from })
    t.same(ids, all.slice(40))
    t.match(drops, [/^the event log returned position \d+ after position \d+$/])
  }
})

const faultyPages: Record<string, { change: (page: RawEvent[]) => RawEvent[]; drop: RegExp }> = {
  'a repeated event': {
    change: page => page.toSpliced(10, 0, page[9] as RawEvent),
    drop: /returned position \d+ after position \d+$/,
  },
  'two events swapped': {
    change: page => page.toSpliced(10, 2, page[11] as RawEvent, page[10] as RawEvent),
    drop: /returned revision \d+ of \S+ after revision \d+$/,
  },
  'a missing event': {
    change: page => page.toSpliced(10, 1),
    drop: /returned revision \d+ of \S+ after revision \d+$/,
  },
}
for (const [name, { change, drop }] of Object.entries(faultyPages))
  t.test(`a page with ${name} is rejected and read again`, async t => {
    const { log, all, head } = await openFilled(t)
    const { ids, drops } = await idsUpTo(dropping(log, changesFirstPage(log, change)), head)
    t.same(ids, all)
    t.match(drops, [drop])
  })

t.test('a page that could not be handled is delivered again', async t => {
  const { log, all, head } = await openFilled(t)
  let refusals = 3
  const take = async () => {
    if (refusals-- > 0) throw new Error('not now')
  }
  const { ids, drops } = await idsUpTo(log, head, { take })
  t.same(ids, all)
  t.same(drops, ['not now', 'not now', 'not now'])
})

t.test('a follower reconnects after a delay when onDrop returns later', async t => {
  const { log, all, head } = await openFilled(t)
  const { ids, drops } = await idsUpTo(dropping(log, breaksAfter(log, 5)), head, { after: 'later' })
  t.same(ids, all)
  t.equal(drops.length, 1)
})

t.test('an unreadable event drops the subscription and is never skipped', async t => {
  const { log, all } = await openFilled(t)
  await log.append('account-x', [{ id: 'odd', type: 'Unheard', data: {}, metadata: {} }], -1)
  const drops: unknown[] = []
  const ids: string[] = []
  await new Promise<void>(resolve => {
    const subscription = follow(log, eventCodec, systemClock, {
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
  hangs: { silence: hangs, drop: 'the follower makes no progress at position -1' },
  ends: { silence: ends, drop: 'the log ended a subscription' },
}
for (const [name, { silence, drop }] of Object.entries(silences))
  t.test(`a subscription that ${name} silently is detected and restarted`, async t => {
    const { log, all, head } = await openFilled(t)
    speedUpIntervals(t)
    const { ids, drops } = await idsUpTo(dropping(log, silence), head)
    t.same(ids, all)
    t.equal(drops[0], drop)
  })

t.test('unsubscribing stops the reads', async t => {
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
    const subscription = follow(watched, eventCodec, systemClock, {
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

t.test('a page that comes after a drop is not handled', async t => {
  const log = await openLog(t)
  await writeHistory(log)
  const head = await log.head()
  let page: RawEvent[] = []
  let dropIsOver = () => {}
  const dropped = new Promise<void>(resolve => {
    dropIsOver = resolve
  })
  const late: EventLog['follow'] = async function* (after, signal) {
    for await (page of log.follow(after, signal)) break
    await dropped
    yield page
  }
  const handled: number[] = []
  let froms = 0
  await new Promise<void>(resolve => {
    const subscription = follow(
      dropping(log, () => late),
      eventCodec,
      systemClock,
      {
        from: async () => {
          froms += 1
          if (froms > 1) dropIsOver()
          return BEFORE_FIRST
        },
        take: async events => {
          handled.push(...events.map(({ position }) => position))
        },
        // What was stored is gone, so the follower starts again.
        confirm: async () => {
          if (froms === 1) throw new Error('the views were emptied')
        },
        onDrop: () => 'at once',
      },
    ).subscribe(position => {
      if (position < head) return
      setImmediate(() => {
        subscription.unsubscribe()
        resolve()
      })
    })
  })
  t.same(handled, [...new Set(handled)], 'each event once')
})
