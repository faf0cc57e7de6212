import { setTimeout as delay, setImmediate as turn } from 'node:timers/promises'
import { Subject } from 'rxjs'
import t, { type Test } from 'tap'
import { byQueue } from '../../projections/due.ts'
import type { AccountId } from '../../schemas/primitives.ts'
import type { StartTask } from '../../schemas/views.ts'
import { systemClock } from '../../src/adapters/clock/system.ts'
import { systemRandom } from '../../src/adapters/random/system.ts'
import type { Changes } from '../../src/engine/views/view-progress.ts'
import type { RowChange, ViewStore } from '../../src/ports/view-store.ts'
import { DueLoop } from '../../src/reactors/due-loop.ts'
import { newAccountId, newRunId } from '../../src/services/ids.ts'
import { forgeCells } from '../support/dump.ts'
import { authentic, openStoredViews, silentLogger } from '../support/engine.ts'
import { ManualClock } from '../support/manual-clock.ts'
import { until } from '../support/until.ts'

/** Too long for any test, so the loop looks only when it is started or woken. */
const NEVER_MS = 2 ** 30

const MAX_AHEAD_MS = 1000

const accountId = newAccountId(systemRandom)

const rowOf = (endpoint: string, dueAtMs: number, owner = accountId): StartTask => ({
  task: 'start-run',
  queue: `start/${endpoint}`,
  dueAt: new Date(dueAtMs).toISOString(),
  accountId: owner,
  runId: newRunId(systemRandom),
  endpoint,
  mode: 'async',
  timeoutMs: 1000,
  queuedRevision: 1,
})

const changeOf = (row: StartTask): RowChange => ({ view: 'due', key: row.runId, row })

/** How many rows of a page are taken, whether all are, or the rows that have to wait. */
type Taken = boolean | number | StartTask[]

/** A loop on a view store. `takeRows` decides on each offered page. */
const open = async (t: Test, takeRows: (page: StartTask[]) => Taken | Promise<Taken> = () => true) => {
  const store = await openStoredViews(t)
  const reads = { lists: 0 }
  const authenticated = authentic(store)
  const list: ViewStore['list'] = (...range) => {
    reads.lists += 1
    return authenticated.list(...range)
  }
  const views = { ...authenticated, list }
  const clock = new ManualClock()
  const pages: StartTask[][] = []
  const offered = async (page: StartTask[]) => {
    pages.push(page)
    const taken = await takeRows(page)
    if (typeof taken === 'boolean') return taken ? [] : page
    return typeof taken === 'number' ? page.slice(taken) : taken
  }
  const inProgress = new Set<unknown>()
  const needsWork = ({ runId }: StartTask) => !inProgress.has(runId)
  const loop = new DueLoop<StartTask>(
    { views, clock, logger: silentLogger },
    { queues: 'start/', pollMs: NEVER_MS, maxAheadMs: MAX_AHEAD_MS, needsWork, takeRows: offered },
  )
  t.teardown(() => loop.stop())

  let position = 0
  const put = async (...rows: StartTask[]) => {
    const place = (row: StartTask) => byQueue(row, row.runId)
    const from = await views.checkpoint()
    position += 1
    await views.commit({
      from,
      to: { position, eventId: String(position), origin: '1', versions: {} },
      rows: rows.map(changeOf),
      entries: rows.map(row => ({ view: 'due', index: 'byQueue', place: place(row), key: row.runId })),
    })
    return rows
  }
  /** Adds rows that became due one after another, the last one now. */
  const putMany = (endpoint: string, count: number) =>
    put(...Array.from({ length: count }, (_, index) => rowOf(endpoint, clock.nowMs() - count + 1 + index)))
  const seen = (queue: string) => pages.flat().filter(row => row.queue === `start/${queue}`)
  return { store, clock, loop, pages, inProgress, reads, put, putMany, seen }
}

/** A promise that resolves when the gate is opened. */
const createGate = () => {
  let open = () => {}
  const passed = new Promise<boolean>(resolve => {
    open = () => resolve(true)
  })
  return { passed, open: () => open() }
}

/** Long enough for all reads of the store that a change leads to, and for a pause. */
const someTurns = async () => {
  await delay(20)
  for (let turns = 0; turns < 20; turns++) await turn()
}

t.test('rows are offered page by page in the order of their due times', async t => {
  const { loop, pages, putMany, seen } = await open(t)
  const rows = await putMany('a', 1203)
  loop.start()
  await until('the rows of a are offered', () => seen('a').length >= 1203)
  t.ok(pages.length > 1)
  t.same(pages.flat(), rows)
})

t.test('a full queue gets no further page and does not block others', async t => {
  const { loop, pages, putMany, seen } = await open(t, ([row]) => row?.endpoint !== 'b')
  for (const provider of ['a', 'b', 'c']) await putMany(provider, 600)
  loop.start()
  await until('the rows of c are offered', () => seen('c').length >= 600)
  t.equal(seen('a').length, 600)
  t.equal(pages.filter(([row]) => row?.endpoint === 'b').length, 1)
  t.ok(seen('b').length < 600)
})

t.test('accounts take turns', async t => {
  const [ada, bob] = [newAccountId(systemRandom), newAccountId(systemRandom)].sort() as [AccountId, AccountId]
  const { clock, loop, pages, put } = await open(t)
  const dueMs = clock.nowMs()
  const many = await put(...Array.from({ length: 300 }, (_, index) => rowOf('a', dueMs - 300 + index, ada)))
  const few = await put(...Array.from({ length: 3 }, (_, index) => rowOf('a', dueMs - 3 + index, bob)))
  loop.start()
  await until('all rows are offered', () => pages.flat().length === 303)
  const [first] = pages
  t.same(
    first?.slice(0, 6),
    [0, 1, 2].flatMap(index => [many[index], few[index]]),
  )
  t.same(first?.slice(6), many.slice(3, 50))
  t.same(pages.slice(1).flat(), many.slice(50))
})

/** Takes as many rows as there is room for, and notes whose rows they are. */
const takeInto = (taken: AccountId[], room: { rows: number }) => (page: StartTask[]) =>
  page.filter(({ accountId: owner }) => {
    if (room.rows === 0) return true
    room.rows -= 1
    taken.push(owner)
    return false
  })

for (const [what, proceed] of [
  ['is free again', (loop: DueLoop<StartTask>) => loop.resume()],
  ['is found by a look', (loop: DueLoop<StartTask>) => loop.wake()],
] as const)
  t.test(`room that ${what} goes to the accounts in turn, whichever ids they have`, async t => {
    const accounts = Array.from({ length: 3 }, () => newAccountId(systemRandom)).sort()
    const taken: AccountId[] = []
    const room = { rows: 0 }
    const { clock, loop, pages, put } = await open(t, takeInto(taken, room))
    await put(...accounts.flatMap(owner => Array.from({ length: 4 }, () => rowOf('a', clock.nowMs(), owner))))
    loop.start()
    await until('the rows are offered', () => pages.length > 0)
    for (const rows of [1, 2, 1, 1, 4]) {
      const before = taken.length
      room.rows = rows
      proceed(loop)
      await until('the room is taken', () => taken.length === before + rows)
    }
    t.same(taken, [...accounts, ...accounts, ...accounts])
  })

t.test('more accounts than are offered together take turns', async t => {
  const accounts = Array.from({ length: 130 }, () => newAccountId(systemRandom))
  const taken: AccountId[] = []
  const room = { rows: 0 }
  const { clock, loop, pages, put } = await open(t, takeInto(taken, room))
  await put(...accounts.flatMap(owner => Array.from({ length: 3 }, () => rowOf('a', clock.nowMs(), owner))))
  loop.start()
  await until('the rows are offered', () => pages.length > 1)
  for (let rounds = 1; rounds <= 13; rounds++) {
    room.rows = 10
    if (rounds % 2 === 0) loop.wake()
    else loop.resume()
    await until('the room is taken', () => taken.length === 10 * rounds)
  }
  t.equal(new Set(taken).size, accounts.length)
})

t.test('work that is in progress is not offered and does not count as a turn', async t => {
  const [ada, bob] = [newAccountId(systemRandom), newAccountId(systemRandom)].sort() as [AccountId, AccountId]
  const taken: AccountId[] = []
  const room = { rows: 0 }
  const { clock, loop, pages, inProgress, put } = await open(t, takeInto(taken, room))
  const [first, second] = await put(
    ...Array.from({ length: 3 }, () => rowOf('a', clock.nowMs(), ada)),
    rowOf('a', clock.nowMs(), bob),
  )
  inProgress.add(first?.runId).add(second?.runId)
  loop.start()
  await until('the rows are offered', () => pages.length > 0)
  t.equal(pages.flat().length, 2)
  room.rows = 1
  loop.wake()
  await until('the room is taken', () => taken.length > 0)
  t.same(taken, [ada])
})

t.test('an account that has to wait does not block others', async t => {
  const [ada, bob] = [newAccountId(systemRandom), newAccountId(systemRandom)].sort() as [AccountId, AccountId]
  let adasRoom = 10
  const taken: StartTask[] = []
  const { clock, loop, put } = await open(t, rows => {
    const waiting = rows.filter(row => row.accountId === ada && adasRoom-- <= 0)
    taken.push(...rows.filter(row => !waiting.includes(row)))
    return waiting
  })
  const many = await put(...Array.from({ length: 120 }, () => rowOf('a', clock.nowMs(), ada)))
  const few = await put(...Array.from({ length: 60 }, () => rowOf('a', clock.nowMs(), bob)))
  loop.start()
  await until('the rows of the other account are taken', () => taken.length === 70)
  t.same(new Set(taken.filter(({ accountId }) => accountId === bob)), new Set(few))
  adasRoom = 1000
  loop.resume()
  await until('the rest is taken', () => taken.length === many.length + few.length)
  t.equal(new Set(taken.map(({ runId }) => runId)).size, many.length + few.length, 'each row once')
})

t.test('accounts with few rows are read together', async t => {
  const { clock, loop, pages, reads, put } = await open(t)
  const accounts = Array.from({ length: 120 }, () => newAccountId(systemRandom))
  await put(...accounts.map(owner => rowOf('a', clock.nowMs(), owner)))
  await put(...accounts.map(owner => rowOf('b', clock.nowMs() + 1, owner)))
  loop.start()
  await until('all due rows are offered', () => pages.flat().length === accounts.length)
  await someTurns()
  t.equal(pages.flat().length, accounts.length)
  t.equal(reads.lists, 5, 'the rows that a page cuts off are read again')
})

t.test('a failing queue does not block others', async t => {
  const { loop, putMany, seen } = await open(t, async ([row]) => {
    if (row?.endpoint === 'a') throw new Error('this provider is unavailable')
    return true
  })
  await putMany('a', 1)
  await putMany('b', 1)
  loop.start()
  await until('the rows of b are offered', () => seen('b').length === 1)
  t.equal(seen('a').length, 1)
})

t.test('forged work hides no genuine work behind it', async t => {
  const { store, clock, loop, pages, put } = await open(t)
  const [last] = await put(rowOf('b', clock.nowMs()))
  const forged = { ...rowOf('a', 0), dueAt: '2025' }
  // More entries than a page, in both queues and before them; one has a row.
  const places = ['start/', 'start/a/', 'start/b/'].flatMap(prefix =>
    Array.from({ length: 101 }, (_, index) => `${prefix}2025/${index}`),
  )
  await forgeCells(store, [
    { address: `rows/due/${forged.runId}`, value: JSON.stringify(forged) },
    ...[...places, `start/a/2025/${forged.runId}`].map(place => ({
      address: `index/due.byQueue/${place}`,
      value: place.split('/').at(-1),
    })),
  ])
  loop.start()
  await until('a page is read', () => pages.length > 0)
  t.same(pages, [[last]])
})

t.test('queues with a common prefix are kept apart', async t => {
  const { loop, pages, putMany, seen } = await open(t)
  const names = ['a', 'a-b', 'a-b-c', 'a0', 'ab', 'b']
  for (const name of names) await putMany(name, 2)
  loop.start()
  await until('the rows of b are offered', () => seen('b').length > 0)
  t.equal(pages.length, names.length)
  for (const name of names) t.equal(seen(name).length, 2, name)
})

t.test('a row is offered at its due time and not a millisecond earlier', async t => {
  const { clock, loop, put, seen } = await open(t)
  const [now, later] = await put(rowOf('a', clock.nowMs()), rowOf('a', clock.nowMs() + 1))
  const [last] = await put(rowOf('b', clock.nowMs()))
  loop.start()
  await until('the rows of b are offered', () => seen('b').length === 1)
  t.same(seen('a'), [now])
  clock.advance(1)
  loop.wake()
  await until('the rows of b are offered', () => seen('b').length === 2)
  t.same(seen('a'), [now, now, later])
  t.same(seen('b'), [last, last])
})

t.test('what is due too far ahead is offered too, since the clock has gone back', async t => {
  const { clock, loop, pages, put, seen } = await open(t)
  const nowMs = clock.nowMs()
  const [now, , far] = await put(...[0, MAX_AHEAD_MS, MAX_AHEAD_MS + 1].map(aheadMs => rowOf('a', nowMs + aheadMs)))
  loop.start()
  await until('the rows of a are offered', () => seen('a').length >= 2)
  t.same(pages, [[now, far]])
})

t.test('a queue that is full with work from too far ahead has to wait', async t => {
  const { clock, loop, putMany, put, seen } = await open(t, ([row]) => row?.endpoint !== 'a')
  const far = await put(...Array.from({ length: 60 }, () => rowOf('a', clock.nowMs() + MAX_AHEAD_MS + 1)))
  await putMany('a', 60)
  await putMany('b', 1)
  loop.start()
  await until('the rows of b are offered', () => seen('b').length === 1)
  t.same(new Set(seen('a')), new Set(far.toSorted((a, b) => (a.runId < b.runId ? -1 : 1)).slice(0, 50)))
})

t.test('work is offered as it is written, without a read of the views', async t => {
  const { clock, loop, pages, reads } = await open(t)
  const changes = new Subject<RowChange[]>()
  loop.start(changes)
  await someTurns()
  const { lists } = reads
  const [first, second, other] = [rowOf('a', clock.nowMs()), rowOf('a', clock.nowMs()), rowOf('b', clock.nowMs())]
  const far = rowOf('a', clock.nowMs() + MAX_AHEAD_MS + 1)
  changes.next([
    changeOf(first),
    changeOf(other),
    { ...changeOf(rowOf('a', 0)), row: undefined },
    changeOf({ ...rowOf('a', 0), queue: 'watch/a' }),
    { ...changeOf(rowOf('a', 0)), view: 'runs' },
    changeOf(rowOf('a', clock.nowMs() + 1)),
    changeOf(second),
    changeOf(far),
  ])
  await someTurns()
  t.same(pages, [[first, second, far], [other]])
  t.equal(reads.lists, lists)
})

t.test('work that changes before its round is offered as it is then, once', async t => {
  const gate = createGate()
  const { clock, loop, pages } = await open(t, ([row]) => row?.endpoint !== 'gate' || gate.passed)
  const changes = new Subject<RowChange[]>()
  loop.start(changes)
  await someTurns()
  const [gone, changed] = [rowOf('a', 0), rowOf('a', clock.nowMs())]
  changes.next([changeOf(rowOf('gate', 0))])
  changes.next([changeOf(gone), changeOf(changed)])
  changes.next([{ ...changeOf(gone), row: undefined }, changeOf({ ...changed, timeoutMs: 1 })])
  gate.open()
  await someTurns()
  t.same(pages.slice(1), [[{ ...changed, timeoutMs: 1 }]])
})

t.test('a queue with room again gets the rest in order, without another read of what it took', async t => {
  let room = 30
  const { loop, pages, reads, put, putMany, clock } = await open(t, page => {
    const taken = Math.min(room, page.length)
    room -= taken
    return taken
  })
  const rows = await putMany('a', 150)
  const changes = new Subject<RowChange[]>()
  loop.start(changes)
  await someTurns()
  t.same(pages, [rows.slice(0, 50)])
  const [written] = (await put(rowOf('a', clock.nowMs()))) as [StartTask]
  changes.next([changeOf(written)])
  await someTurns()
  t.equal(pages.length, 1, 'written work does not overtake what waits')
  const { lists } = reads
  room = 50
  loop.resume()
  await someTurns()
  t.same(pages.slice(1), [rows.slice(30, 50), rows.slice(50, 100)])
  t.equal(reads.lists, lists + 1)
  room = 1000
  loop.resume()
  await someTurns()
  t.same(pages.slice(3), [rows.slice(80, 100), rows.slice(100), [written]])
  t.equal(reads.lists, lists + 4, 'three pages and the end')
  loop.resume()
  await someTurns()
  t.equal(reads.lists, lists + 4, 'nothing waits')
})

t.test('room that comes up while work is offered is not overlooked', async t => {
  const gate = createGate()
  let hasRoom = false
  const { loop, putMany, seen } = await open(t, async () => {
    const mayTake = hasRoom
    await gate.passed
    return mayTake
  })
  await putMany('a', 1)
  loop.start()
  await until('the rows of a are offered', () => seen('a').length === 1)
  hasRoom = true
  loop.resume()
  gate.open()
  await until('the rows of a are offered', () => seen('a').length >= 2)
  t.pass('it was offered again')
})

t.test('more written work than is kept is read from the views', async t => {
  const gate = createGate()
  const { loop, pages, putMany, seen, reads } = await open(t, ([row]) => row?.endpoint !== 'gate' || gate.passed)
  const changes = new Subject<RowChange[]>()
  loop.start(changes)
  await until('the first look reads the views', () => reads.lists > 0)
  await someTurns()
  changes.next([changeOf(rowOf('gate', 0))])
  const rows = await putMany('a', 1001)
  changes.next(rows.map(changeOf))
  gate.open()
  await until('the rows of a are offered', () => seen('a').length === 1001)
  t.equal(pages[1]?.length, 50)
  t.same(seen('a'), rows)
})

t.test('when any row may have changed, the loop looks', async t => {
  const { clock, loop, put, pages } = await open(t)
  const changes = new Subject<Changes>()
  loop.start(changes)
  await someTurns()
  const rows = await put(rowOf('a', clock.nowMs()))
  changes.next('unknown')
  await until('a page is read', () => pages.length > 0)
  t.same(pages, [rows])
})

t.test('waking the loop during a round starts another round', async t => {
  const gate = createGate()
  const { loop, putMany, seen } = await open(t, ([row]) => row?.endpoint !== 'b' || gate.passed)
  await putMany('b', 1)
  loop.start()
  await until('the rows of b are offered', () => seen('b').length === 1)
  // The loop is already past this queue in the current round.
  await putMany('a', 1)
  loop.wake()
  gate.open()
  await until('the rows of a are offered', () => seen('a').length === 1)
  t.ok(true)
})

t.test('after a look, the loop pauses for nineteen times its duration', async t => {
  const { clock, loop, reads } = await open(t)
  const pausesMs: number[] = []
  const timer: typeof clock.timer = (ms, done) => {
    pausesMs.push(ms)
    return systemClock.timer(ms, done)
  }
  Object.assign(clock, { monotonicMs: () => 10 * reads.lists, timer })
  loop.start()
  await until('it has looked', () => pausesMs.includes(190))
  t.equal(reads.lists, 1)
})

t.test('stopping waits for the offered page and offers no other', async t => {
  const gate = createGate()
  const { loop, pages, putMany } = await open(t, () => gate.passed)
  await putMany('a', 600)
  await putMany('b', 1)
  loop.start()
  await until('a page is read', () => pages.length === 1)
  let isStopped = false
  const stopped = loop.stop().then(() => {
    isStopped = true
  })
  await someTurns()
  t.notOk(isStopped)
  gate.open()
  await stopped
  loop.wake()
  await someTurns()
  t.equal(pages.length, 1)
})
