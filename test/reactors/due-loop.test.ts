import { setImmediate as turn } from 'node:timers/promises'
import { Subject } from 'rxjs'
import t, { type Test } from 'tap'
import type { StartTask } from '../../schemas/views.ts'
import type { RowChange } from '../../src/ports/view-store.ts'
import { DueLoop } from '../../src/reactors/due-loop.ts'
import { newAccountId, newRunId } from '../../src/services/ids.ts'
import { openViews, silentLogger } from '../support/engine.ts'
import { ManualClock } from '../support/manual-clock.ts'

/** So long that no test sees it: a loop looks when it is started and when it is woken. */
const NEVER_MS = 2 ** 30

const accountId = newAccountId()

const rowOf = (provider: string, dueAtMs: number): StartTask => ({
  task: 'start-run',
  queue: `start/${provider}`,
  dueAt: new Date(dueAtMs).toISOString(),
  accountId,
  runId: newRunId(),
  endpoint: 'lumen-t2i',
  mode: 'async',
  provider,
  timeoutMs: 1000,
  input: {},
})

const changeOf = (row: StartTask): RowChange => ({ view: 'due', key: row.runId, row })

/** A loop on a view store, where `take` says what becomes of each page that is offered. */
const open = async (t: Test, take: (page: StartTask[]) => boolean | Promise<boolean> = () => true) => {
  const views = await openViews(t)
  const clock = new ManualClock()
  const pages: StartTask[][] = []
  const offered = (page: StartTask[]) => {
    pages.push(page)
    return Promise.resolve(take(page))
  }
  const loop = new DueLoop<StartTask>(
    { views, clock, logger: silentLogger },
    { queues: 'start/', pollMs: NEVER_MS, take: offered },
  )
  t.teardown(() => loop.stop())

  let position = 0
  const put = async (...rows: StartTask[]) => {
    const place = ({ queue, dueAt, runId }: StartTask) => `${queue}/${dueAt}/${runId}`
    const from = await views.checkpoint()
    position += 1
    await views.commit({
      from,
      to: { position, eventId: String(position), origin: '1', version: 1 },
      rows: rows.map(changeOf),
      entries: rows.map(row => ({ view: 'due', index: 'byQueue', place: place(row), key: row.runId })),
    })
    return rows
  }
  /** Rows that became due one after another, the last of them now. */
  const putMany = (provider: string, count: number) =>
    put(...Array.from({ length: count }, (_, index) => rowOf(provider, clock.nowMs() - count + 1 + index)))
  const seen = (queue: string) => pages.flat().filter(row => row.queue === `start/${queue}`)
  return { clock, loop, pages, put, putMany, seen }
}

/** What is taken only when the gate is opened. */
const createGate = () => {
  let open = () => {}
  const passed = new Promise<boolean>(resolve => {
    open = () => resolve(true)
  })
  return { passed, open: () => open() }
}

const until = async (holds: () => boolean) => {
  while (!holds()) await turn()
}

t.test('more rows than a page holds are offered page by page, in the order in which they became due', async t => {
  const { loop, pages, putMany, seen } = await open(t)
  const rows = await putMany('a', 1203)
  loop.start()
  await until(() => seen('a').length >= 1203)
  t.ok(pages.length > 1)
  t.same(pages.flat(), rows)
})

t.test('a queue that is full hides no other, and is not offered its next page', async t => {
  const { loop, pages, putMany, seen } = await open(t, ([row]) => row?.provider !== 'b')
  for (const provider of ['a', 'b', 'c']) await putMany(provider, 600)
  loop.start()
  await until(() => seen('c').length >= 600)
  t.equal(seen('a').length, 600)
  t.equal(pages.filter(([row]) => row?.provider === 'b').length, 1)
  t.ok(seen('b').length < 600)
})

t.test('a queue that breaks hides no other', async t => {
  const { loop, putMany, seen } = await open(t, async ([row]) => {
    if (row?.provider === 'a') throw new Error('this provider is not to be had')
    return true
  })
  await putMany('a', 1)
  await putMany('b', 1)
  loop.start()
  await until(() => seen('b').length === 1)
  t.equal(seen('a').length, 1)
})

t.test('queues whose names begin alike are told apart', async t => {
  const { loop, pages, putMany, seen } = await open(t)
  const names = ['a', 'a-b', 'a-b-c', 'a0', 'ab', 'b']
  for (const name of names) await putMany(name, 2)
  loop.start()
  await until(() => seen('b').length > 0)
  t.equal(pages.length, names.length)
  for (const name of names) t.equal(seen(name).length, 2, name)
})

t.test('what is due now is offered, and what is due a millisecond later is not, until then', async t => {
  const { clock, loop, put, seen } = await open(t)
  const [now, later] = await put(rowOf('a', clock.nowMs()), rowOf('a', clock.nowMs() + 1))
  const [last] = await put(rowOf('b', clock.nowMs()))
  loop.start()
  await until(() => seen('b').length === 1)
  t.same(seen('a'), [now])
  clock.advance(1)
  loop.wake()
  await until(() => seen('b').length === 2)
  t.same(seen('a'), [now, now, later])
  t.same(seen('b'), [last, last])
})

t.test('a change that brings work wakes the loop, and another does not', async t => {
  const { clock, loop, put, pages } = await open(t)
  const changes = new Subject<RowChange[]>()
  loop.start(changes)
  const [row] = (await put(rowOf('a', clock.nowMs()))) as [StartTask]
  await turn()
  const before = pages.length
  changes.next([{ view: 'due', key: row.runId, row: undefined }])
  changes.next([changeOf({ ...row, queue: 'watch/a' })])
  changes.next([{ ...changeOf(row), view: 'runs' }])
  for (let turns = 0; turns < 20; turns++) await turn()
  t.equal(pages.length, before)
  changes.next([changeOf(row)])
  await until(() => pages.length > before)
  t.same(pages.at(-1), [row])
})

t.test('who wakes the loop while it looks makes it look once more', async t => {
  const gate = createGate()
  const { loop, putMany, seen } = await open(t, ([row]) => row?.provider !== 'b' || gate.passed)
  await putMany('b', 1)
  loop.start()
  await until(() => seen('b').length === 1)
  // The loop has passed this queue in its present round.
  await putMany('a', 1)
  loop.wake()
  gate.open()
  await until(() => seen('a').length === 1)
  t.ok(true)
})

t.test('a stop waits for the page that was offered, and then no other is', async t => {
  const gate = createGate()
  const { loop, pages, putMany } = await open(t, () => gate.passed)
  await putMany('a', 600)
  await putMany('b', 1)
  loop.start()
  await until(() => pages.length === 1)
  let isStopped = false
  const stopped = loop.stop().then(() => {
    isStopped = true
  })
  for (let turns = 0; turns < 20; turns++) await turn()
  t.notOk(isStopped)
  gate.open()
  await stopped
  loop.wake()
  for (let turns = 0; turns < 20; turns++) await turn()
  t.equal(pages.length, 1)
})
