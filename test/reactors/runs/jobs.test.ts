import t, { type Test } from 'tap'
import type { RunId } from '../../../schemas/primitives.ts'
import type { WatchTask } from '../../../schemas/views.ts'
import { systemClock } from '../../../src/adapters/clock/system.ts'
import { systemRandom } from '../../../src/adapters/random/system.ts'
import type { Done, Provider, Working } from '../../../src/ports/provider.ts'
import type { ViewStore } from '../../../src/ports/view-store.ts'
import { ArrivingFiles } from '../../../src/reactors/runs/arriving-files.ts'
import { Jobs } from '../../../src/reactors/runs/jobs.ts'
import { newAccountId, newRunId } from '../../../src/services/ids.ts'
import { openViews, silentLogger } from '../../support/engine.ts'
import { logOf } from '../../support/log-of.ts'
import { instantProvider } from '../../support/service.ts'
import { until } from '../../support/until.ts'

const accountId = newAccountId(systemRandom)

const task = (runId: RunId): WatchTask => ({
  task: 'watch-run',
  queue: 'watch/unresponsive',
  dueAt: new Date().toISOString(),
  accountId,
  runId,
  endpoint: 'lumen-t2v',
  mode: 'async',
  timeoutMs: 60_000,
  queuedRevision: 1,
  startedAt: new Date().toISOString(),
  jobId: runId,
  upstream: { provider: 'unresponsive', model: 'm' },
})

const account = { provider: 'unresponsive', account: 'a' }

type Dependencies = ConstructorParameters<typeof Jobs>[0]
type Poll = NonNullable<Provider['poll']>

/** The jobs of a provider. Only what the parts allow may happen to them. */
const jobsOf = (
  t: Test,
  { poll, ...dependencies }: { poll: Poll } & Pick<Dependencies, 'views'> & Partial<Dependencies>,
) =>
  new Jobs({
    routes: {
      findAcceptedRoute: (_, upstream) => ({
        account: { ...account, client: { ...instantProvider, poll } },
        upstream: { ...upstream, operation: 'run' },
      }),
    },
    log: logOf([]),
    clock: systemClock,
    logger: silentLogger,
    runOf: () => undefined,
    isOpen: async () => true,
    end: async () => t.fail('no job has ended') as never,
    timedOut: () => t.fail('no job is late') as never,
    released: () => t.fail('no job has ended elsewhere'),
    progressed: () => t.fail('no job has progressed'),
    artifacts: { arrivingFiles: () => new ArrivingFiles({ receive: () => t.fail('no file has arrived') as never }) },
    ...dependencies,
  })

const failure = { kind: 'failed', code: 'interrupted', message: 'stopped' } as const

t.test('a poll that waits for its turn is not made after the release', async t => {
  const polled: string[] = []
  let stopped = 0
  const poll: Poll = ({ jobId }, signal) => {
    polled.push(jobId)
    signal.addEventListener('abort', () => stopped++)
    return new Promise(() => undefined)
  }
  const views = await openViews(t)
  // One more than the concurrent polls of one account.
  const tasks = Array.from({ length: 65 }, () => task(newRunId(systemRandom)))
  const rows = tasks.map(row => ({ view: 'due', key: row.runId, row }))
  await views.commit({
    from: undefined,
    to: { position: 0, eventId: 'a', origin: 'event-0', versions: {} },
    rows,
    entries: [],
  })
  const jobs = jobsOf(t, { poll, views })
  for (const one of tasks) jobs.followJob(one, 0)
  jobs.start()
  await until('64 jobs are polled', () => polled.length >= 64)
  jobs.releaseJobs()
  await jobs.stop(failure)
  t.equal(polled.length, 64)
  t.equal(stopped, 64, 'the running polls are aborted')
  t.equal(jobs.size, 0)
})

const done = async (): Promise<Done> => ({ kind: 'done', media: [], text: 'done' })

t.test('a job that is released during its poll is not ended', async t => {
  const row = task(newRunId(systemRandom))
  let reads = 0
  let answer = (_: WatchTask) => {}
  const answered = new Promise<WatchTask>(resolve => {
    answer = resolve
  })
  const get = (() => {
    reads += 1
    return answered
  }) as ViewStore['get']
  const jobs = jobsOf(t, { poll: done, views: { ...(await openViews(t)), get } })
  jobs.followJob(row, 0)
  jobs.start()
  while (reads === 0) await new Promise(setImmediate)
  jobs.releaseJobs()
  answer(row)
  await jobs.stop(failure)
  t.equal(jobs.size, 0)
})

t.test('a job is polled only once the views show it and its id', async t => {
  const row = task(newRunId(systemRandom))
  const { jobId, ...early } = row
  const rows = [undefined, early, row]
  const polled: string[] = []
  const poll: Poll = job => {
    polled.push(job.jobId)
    return done()
  }
  const views = { ...(await openViews(t)), get: (async () => rows.shift()) as ViewStore['get'] }
  const ended = new Promise<void>(resolve => {
    const jobs = jobsOf(t, { poll, views, end: async () => [], released: () => undefined })
    t.teardown(() => jobs.stop(failure))
    jobs.followJob(row, 0, () => resolve())
    jobs.start()
  })
  await ended
  t.same(polled, [jobId])
})

t.test('a job whose run another process has ended is not polled', async t => {
  const row = task(newRunId(systemRandom))
  const poll: Poll = async () => t.fail('no job is polled') as never
  const views = await openViews(t)
  const events = await new Promise<unknown[]>(resolve => {
    const jobs = jobsOf(t, { poll, views, isOpen: async () => false, released: () => undefined })
    t.teardown(() => jobs.stop(failure))
    jobs.followJob(row, 0, resolve)
    jobs.start()
  })
  t.same(events, [])
})

t.test('other work is done between the polls of jobs whose rows take long to read', async t => {
  let [nowMs, begun] = [1_000, 0]
  const order: string[] = []
  const rows = Array.from({ length: 6 }, () => task(newRunId(systemRandom)))
  const get = (async (_view: string, key: string) => {
    // The time that only this test's reads take.
    nowMs += 3
    begun += 1
    order.push(`read ${begun}`)
    if (begun === 1) setImmediate(() => order.push('other work'))
    return rows.find(({ runId }) => runId === key)
  }) as ViewStore['get']
  const poll: Poll = () => new Promise(() => undefined)
  const clock = { ...systemClock, monotonicMs: () => nowMs }
  const jobs = jobsOf(t, { poll, views: { get } as ViewStore, clock })
  for (const row of rows) jobs.followJob(row, 0)
  nowMs += 1_000
  jobs.start()
  await until('all reads', () => begun === rows.length)
  t.same(order.slice(0, 4), ['read 1', 'read 2', 'other work', 'read 3'])
  jobs.releaseJobs()
  await jobs.stop(failure)
})

/** A job whose polls answer when the test says. */
const polledJob = async (t: Test) => {
  const row = task(newRunId(systemRandom))
  const views = { ...(await openViews(t)), get: (async () => row) as ViewStore['get'] }
  const answers: ((outcome: Done | Working) => void)[] = []
  const poll: Poll = () => new Promise(resolve => answers.push(resolve))
  const released: string[] = []
  const end: Dependencies['end'] = async () => []
  const jobs = jobsOf(t, { poll, views, end, released: runId => released.push(runId) })
  t.teardown(() => {
    jobs.releaseJobs()
    return jobs.stop(failure)
  })
  jobs.start()
  const nextPoll = (count: number) => until(`poll ${count}`, () => answers.length === count, { maxWaitMs: 30_000 })
  return { row, jobs, answers, released, nextPoll }
}

const working: Working = { kind: 'working', pollAfterMs: 60_000 }

t.test('a stop ends although the views show no job, and the run is left to another process', async t => {
  const views = { get: async () => undefined } as unknown as ViewStore
  const jobs = jobsOf(t, { poll: async () => t.fail('the job is polled') as never, views })
  const run = task(newRunId(systemRandom))
  const ended = new Promise(resolve => jobs.followJob(run, 60_000, resolve))
  await jobs.stop(failure)
  t.same(await ended, [])
})

t.test('a job that is reported during a poll is polled once more', async t => {
  const { row, jobs, answers, released, nextPoll } = await polledJob(t)
  jobs.followJob(row, 0)
  await nextPoll(1)
  jobs.pollJob(row)
  answers[0]?.(working)
  await nextPoll(2)
  answers[1]?.(await done())
  await until('the end', () => released.length)
  t.equal(jobs.size, 0)
  t.equal(answers.length, 2)
})

t.test('a reported job of another process is polled once, and is not held', async t => {
  const { row, jobs, answers, nextPoll } = await polledJob(t)
  jobs.pollJob(row)
  await nextPoll(1)
  t.notOk(jobs.hasJob(row.runId))
  answers[0]?.(working)
  await until('the visit is over', () => jobs.size === 0)
})

t.test('a reported job that is taken over during its poll is followed on', async t => {
  const { row, jobs, answers, nextPoll } = await polledJob(t)
  let ended: unknown
  jobs.pollJob(row)
  await nextPoll(1)
  jobs.followJob(row, 60_000, events => {
    ended = events
  })
  t.ok(jobs.hasJob(row.runId))
  answers[0]?.(working)
  await new Promise(setImmediate)
  t.ok(jobs.hasJob(row.runId))
  jobs.pollJob(row)
  await nextPoll(2)
  answers[1]?.(await done())
  await until('the end is told', () => ended)
})
