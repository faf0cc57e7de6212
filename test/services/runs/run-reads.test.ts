import { NEVER, Subject } from 'rxjs'
import t from 'tap'
import type { RunRow } from '../../../schemas/views.ts'
import { systemClock } from '../../../src/adapters/clock/system.ts'
import { Watch } from '../../../src/engine/views/watch.ts'
import { Unavailable } from '../../../src/ports/faults.ts'
import type { RowChange } from '../../../src/ports/view-store.ts'
import { RunReads } from '../../../src/services/runs/run-reads.ts'
import type { Reads } from '../../../src/services/views/reads.ts'
import { until } from '../../support/until.ts'

const queued = { accountId: 'acct_1', runId: 'run_1', revision: 1, status: 'queued' } as unknown as RunRow
const processing: RunRow = { ...queued, revision: 2, status: 'processing' }
const completed: RunRow = { ...queued, revision: 3, status: 'completed' }

/** Reads of one run. `show` changes its row; reads fail while it is an error. */
const openReads = () => {
  let shown: RunRow | Error = queued
  let count = 0
  const changes = new Subject<RowChange[]>()
  const watch = new Watch(changes, systemClock)
  const getOwn = async () => {
    count += 1
    if (shown instanceof Error) throw shown
    return shown
  }
  const runReads = new RunReads({
    reads: { getOwn } as unknown as Reads,
    log: {} as never,
    watch,
    clock: systemClock,
    progress: NEVER,
  })
  const show = (next: RunRow | Error) => {
    shown = next
    changes.next([{ view: 'runs', key: 'acct_1/run_1', row: {} }])
  }
  return { runReads, watch, show, count: () => count }
}

/** Follows a run, and collects the revisions that it is shown and how it ended. */
const follow = (runReads: RunReads, row: RunRow) => {
  const leaving = new AbortController()
  const revisions: number[] = []
  const ended = runReads
    .changes(row, leaving.signal)
    .forEach(({ revision }) => void revisions.push(revision))
    .then(() => 'ended', String)
  return { revisions, ended, leave: () => leaving.abort() }
}

const settled = () => new Promise(resolve => setImmediate(resolve))

t.test('followers of a run share one read per change', async t => {
  const { runReads, show, count } = openReads()
  const followers = Array.from({ length: 50 }, () => follow(runReads, queued))
  const waits = Array.from({ length: 50 }, () => runReads.whenEnded(queued, 60_000))
  await settled()
  t.equal(count(), 1)
  show(processing)
  await settled()
  t.equal(count(), 2)
  show(completed)
  t.same(await Promise.all(waits), Array(50).fill(completed))
  for (const { revisions, ended } of followers) {
    t.equal(await ended, 'ended')
    t.same(revisions, [1, 2, 3])
  }
  t.equal(count(), 3)
})

t.test('a follower is shown nothing older than the row that it found', async t => {
  const { runReads, show } = openReads()
  const first = follow(runReads, queued)
  await settled()
  // The views show what the second follower's process wrote, but the change is not reported yet.
  const second = follow(runReads, processing)
  await settled()
  t.same([first.revisions, second.revisions], [[1], [2]])
  show(completed)
  await Promise.all([first.ended, second.ended])
  t.same(
    [first.revisions, second.revisions],
    [
      [1, 3],
      [2, 3],
    ],
  )
})

t.test('a late follower gets the shared row if it is newer', async t => {
  const { runReads, show, count } = openReads()
  const first = follow(runReads, queued)
  await settled()
  show(processing)
  await settled()
  const late = follow(runReads, queued)
  t.same(late.revisions, [1, 2])
  t.equal(count(), 2)
  first.leave()
  late.leave()
})

t.test('a follower that leaves ends only its own wait', async t => {
  const { runReads, show, count } = openReads()
  const [first, second] = [follow(runReads, queued), follow(runReads, queued)]
  await settled()
  first.leave()
  t.equal(await first.ended, 'ended')
  show(processing)
  await settled()
  t.same([first.revisions, second.revisions], [[1], [1, 2]])
  second.leave()
  t.equal(await second.ended, 'ended')
  show(completed)
  await settled()
  t.equal(count(), 2, 'nobody follows the run, so nothing reads it')
  const again = follow(runReads, processing)
  t.equal(await again.ended, 'ended')
  t.same(again.revisions, [2, 3])
})

t.test('unavailable views end every follower, and the next one reads again', async t => {
  const { runReads, show } = openReads()
  const followers = [follow(runReads, queued), follow(runReads, queued)]
  const wait = runReads.whenEnded(queued, 60_000)
  await settled()
  show(new Unavailable('the views are down'))
  for (const { ended } of followers) t.match(await ended, /the views are down/)
  await t.rejects(wait, Unavailable)
  show(completed)
  const next = follow(runReads, queued)
  t.equal(await next.ended, 'ended')
  t.same(next.revisions, [1, 3])
})

t.test('a stop ends every follower and wait', async t => {
  const { runReads, watch } = openReads()
  const followers = [follow(runReads, queued), follow(runReads, queued)]
  const wait = runReads.whenEnded(queued, 60_000)
  await settled()
  watch.close()
  for (const { ended } of followers) t.equal(await ended, 'ended')
  t.equal(await wait, queued)
})

t.test('a wait that is over returns the latest row', async t => {
  const { runReads, show } = openReads()
  const gone = new AbortController()
  const waits = [runReads.whenEnded(queued, 50), runReads.whenEnded(queued, 60_000, gone.signal)]
  await settled()
  show(processing)
  await until('the short wait is over', async () => (await waits[0]) === processing)
  gone.abort()
  t.equal(await waits[1], processing)
  t.equal(await runReads.whenEnded(queued, 0), queued)
  t.equal(await runReads.whenEnded(queued, 60_000, gone.signal), queued)
})
