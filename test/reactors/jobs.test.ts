import t from 'tap'
import type { RunId } from '../../schemas/primitives.ts'
import type { WatchTask } from '../../schemas/views.ts'
import { systemClock } from '../../src/adapters/clock/system.ts'
import { systemRandom } from '../../src/adapters/random/system.ts'
import type { Provider } from '../../src/ports/provider.ts'
import { Jobs } from '../../src/reactors/jobs.ts'
import { newAccountId, newRunId } from '../../src/services/ids.ts'
import { openViews, silentLogger } from '../support/engine.ts'
import { instantProvider } from '../support/service.ts'
import { until } from '../support/until.ts'

const task = (runId: RunId): WatchTask => ({
  task: 'watch-run',
  queue: 'watch/unresponsive',
  dueAt: new Date().toISOString(),
  accountId: newAccountId(systemRandom),
  runId,
  endpoint: 'lumen-t2v',
  mode: 'async',
  provider: 'unresponsive',
  timeoutMs: 60_000,
  input: {},
  startedAt: new Date().toISOString(),
  jobId: runId,
})

t.test('a poll that waits for its turn is not made after the release', async t => {
  const polled: string[] = []
  let stopped = 0
  const unresponsive: Provider = {
    ...instantProvider,
    poll: ({ jobId }, signal) => {
      polled.push(jobId)
      signal.addEventListener('abort', () => stopped++)
      return new Promise(() => undefined)
    },
  }
  const views = await openViews(t)
  // One more than the provider's concurrent polls.
  const tasks = Array.from({ length: 65 }, () => task(newRunId(systemRandom)))
  const rows = tasks.map(row => ({ view: 'due', key: row.runId, row }))
  await views.commit({
    from: undefined,
    to: { position: 0, eventId: 'a', origin: 'event-0', versions: {} },
    rows,
    entries: [],
  })
  const jobs = new Jobs({
    providers: { unresponsive },
    views,
    clock: systemClock,
    logger: silentLogger,
    end: async () => t.fail('no job has ended') as never,
    released: () => t.fail('no job has ended elsewhere'),
    progressed: () => t.fail('no job has progressed'),
  })
  for (const one of tasks) jobs.follow(one, 0)
  jobs.start()
  await until('64 jobs are polled', () => polled.length >= 64)
  jobs.release()
  await jobs.stop({ kind: 'failed', code: 'interrupted', message: 'stopped' })
  t.equal(polled.length, 64)
  t.equal(stopped, 64, 'the running polls are aborted')
  t.equal(jobs.size, 0)
})
