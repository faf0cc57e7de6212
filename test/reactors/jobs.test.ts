import t from 'tap'
import type { RunId } from '../../schemas/primitives.ts'
import type { WatchTask } from '../../schemas/views.ts'
import { systemClock } from '../../src/adapters/clock/system.ts'
import type { Provider } from '../../src/ports/provider.ts'
import { Jobs } from '../../src/reactors/jobs.ts'
import { newAccountId, newRunId } from '../../src/services/ids.ts'
import { openViews, silentLogger } from '../support/engine.ts'
import { instantProvider } from '../support/service.ts'

const task = (runId: RunId): WatchTask => ({
  task: 'watch-run',
  queue: 'watch/deaf',
  dueAt: new Date().toISOString(),
  accountId: newAccountId(),
  runId,
  endpoint: 'lumen-t2v',
  mode: 'async',
  provider: 'deaf',
  timeoutMs: 60_000,
  input: {},
  startedAt: new Date().toISOString(),
  jobId: runId,
})

t.test('a poll that is no longer wanted when its turn comes is not made', async t => {
  const polled: string[] = []
  let stopped = 0
  const deaf: Provider = {
    ...instantProvider,
    poll: ({ jobId }, signal) => {
      polled.push(jobId)
      signal.addEventListener('abort', () => stopped++)
      return new Promise(() => undefined)
    },
  }
  const views = await openViews(t)
  // One more than the provider is asked after at a time.
  const tasks = Array.from({ length: 65 }, () => task(newRunId()))
  const rows = tasks.map(row => ({ view: 'due', key: row.runId, row }))
  await views.commit({
    from: undefined,
    to: { position: 0, eventId: 'a', origin: 'event-0', version: 1 },
    rows,
    entries: [],
  })
  const jobs = new Jobs({
    providers: { deaf },
    views,
    clock: systemClock,
    logger: silentLogger,
    end: async () => t.fail('nothing has ended') as never,
    left: () => t.fail('nobody else has ended it'),
    progressed: () => t.fail('nothing goes on'),
  })
  for (const { runId } of tasks) jobs.follow(runId, 0)
  jobs.start()
  while (polled.length < 64) await new Promise(setImmediate)
  jobs.release()
  await jobs.stop({ kind: 'failed', code: 'interrupted', message: 'stopped' })
  t.equal(polled.length, 64)
  t.equal(stopped, 64, 'and the others are told that nobody waits')
  t.equal(jobs.size, 0)
})
