import t from 'tap'
import { MAX_ARCHIVED_RUNS } from '../../../schemas/account-events.ts'
import type { Run } from '../../../schemas/api/run.ts'
import { accountStream } from '../../../schemas/events.ts'
import { BEFORE_FIRST } from '../../../src/ports/event-log.ts'
import type { ProviderOutcome } from '../../../src/ports/provider.ts'
import { RunArchiveReactor } from '../../../src/reactors/upkeep/run-archive.ts'
import { Lookups } from '../../../src/services/operator/lookups.ts'
import { caughtUp } from '../../support/caught-up.ts'
import { collect } from '../../support/collect.ts'
import { doneFor } from '../../support/done.ts'
import { ManualClock } from '../../support/manual-clock.ts'
import { startReceiver, status, untilRecorded } from '../../support/receiver.ts'
import { type Customer, openAccount, openKey, startService } from '../../support/service.ts'
import { temporaryFolder } from '../../support/temporary-folder.ts'
import { until } from '../../support/until.ts'
import { unwrap } from '../../support/unwrap.ts'
import { verified } from '../../support/verified.ts'

const DAY_MS = 24 * 60 * 60 * 1000
const operator = { kind: 'operator', name: 'test' } as const

/** Services on one folder, one after the other, each at its own time. */
const openPlace = async (t: Parameters<typeof startService>[0]) => {
  const [folder, receiver] = [await temporaryFolder(t), await startReceiver(t)]
  const startMs = Date.now()
  const outcomes: Record<string, ProviderOutcome> = {
    fail: { kind: 'failed', code: 'provider_error', message: 'No.' },
  }
  const startAfter = (days: number, environment: Record<string, string> = {}) =>
    startService(t, {
      ...{ folder, clock: new ManualClock(startMs + days * DAY_MS) },
      environment: {
        ALLOW_PRIVATE_WEBHOOKS: 'true',
        OUTPUT_RETENTION_DAYS: '3',
        ...environment,
      },
      providers: { sandbox: { submit: async job => outcomes[String(job.input['prompt'])] ?? doneFor(job) } },
    })
  return { folder, receiver, startAfter }
}

const image = (prompt: string) => ({ model: 'nano-banana-2', input: { prompt } })

const listed = async (client: Customer | ReturnType<Customer['at']>) =>
  (await client.send<{ data: Run[] }>('/v1/runs?limit=100')).body.data.map(({ run_id }) => run_id)

t.test('runs leave the lists long after their end, and are still found by their IDs', async t => {
  const { receiver, startAfter } = await openPlace(t)
  const first = await startAfter(0)
  const owner = await openAccount(first)
  const tests = await openKey(first, owner, { livemode: false })
  const made = [
    await owner.run(image('a pear'), { 'Idempotency-Key': 'one' }),
    await owner.run(image('fail')),
    await owner.run({ model: 'gemini-3-flash', input: { messages: [{ role: 'user', content: 'hello' }] } }),
    await owner.run({ ...image('a plum'), webhook_url: receiver.url }),
  ].map(({ body }) => body.run_id)
  const tested = (await tests.run(image('a test'))).body.run_id
  await untilRecorded(first.core.log, 1, owner.accountId)
  await caughtUp(first.core)
  await first.stop()

  const second = await startAfter(2)
  const client = owner.at(second.url)
  /** What clients read about the runs one by one. The port of the service is another each time. */
  const shown = (url: string) =>
    Promise.all(
      made.flatMap(id =>
        ['', '/events'].map(async part => {
          const { status, text } = await owner.at(url).send(`/v1/runs/${id}${part}`)
          return [status, text.replaceAll(url, '')]
        }),
      ),
    )
  const before = await shown(second.url)
  const facts = async (url: string) =>
    Promise.all(['/v1/balance', '/v1/ledger', '/v1/usage'].map(async path => (await owner.at(url).send(path)).body))
  const sums = await facts(second.url)
  t.equal((await listed(client)).length, 4)
  await second.stop()

  const third = await startAfter(2, { RUN_VIEW_RETENTION_DAYS: '1' })
  const later = owner.at(third.url)
  await until('the runs leave the lists', async () => (await listed(later)).length === 0)
  t.same(await listed(tests.at(third.url)), [])
  t.same(await shown(third.url), before)
  t.match(await tests.at(third.url).send(`/v1/runs/${tested}`), { status: 200, body: { livemode: false } })
  t.equal((await later.send(`/v1/runs/${tested}`)).status, 404, 'it is of the other mode')
  t.equal((await (await openAccount(third)).send(`/v1/runs/${made[0]}`)).status, 404, 'it is of another account')
  t.same(await facts(third.url), sums)
  t.same((await later.send<{ data: unknown[] }>('/v1/webhooks')).body.data ?? [], [])

  const { accounts, refunds, views } = third.core.services
  const caller = { kind: 'key', ...owner, scope: 'full' } as const
  const lookups = new Lookups({ ...third.core, accounts })
  for (const own of [lookups.own(caller, made[1] as string), lookups.any(operator, made[1] as string)])
    t.match(unwrap(await own), [{ kind: 'run', run: { runId: made[1], status: 'failed' } }])
  unwrap(await refunds.refund(operator, made[0] as string, { amountMicros: 1_000_000, reason: 'wrong colours' }))
  unwrap(await refunds.refund(operator, made[0] as string, { reason: 'wrong colours' }))
  t.match((await later.send(`/v1/runs/${made[0]}`)).body, { credits_refunded: 10 })
  t.same(await listed(later), [])
  t.same(unwrap(await views.verify(operator)), [])
  await third.stop()

  // The files are deleted later than the row.
  const fourth = await startAfter(4)
  const deleted = async (id: unknown) =>
    (await owner.at(fourth.url).send<Run>(`/v1/runs/${id}`)).body.output?.deleted_at
  await until('the files are deleted', async () => (await deleted(made[0])) !== undefined)
  t.same(await listed(owner.at(fourth.url)), [], 'without the setting, they do not come back')
  t.same(unwrap(await fourth.core.services.views.verify(operator)), [])
  t.same(unwrap(await fourth.core.services.views.rebuild(operator)), [])
  const { faults } = await verified(await collect(fourth.core.log.readAll(BEFORE_FIRST)), { isDense: true })
  t.same(faults, [])
})

t.test('a run that is owed a webhook stays in the lists, and others leave them a few at a time', async t => {
  const { receiver, startAfter } = await openPlace(t)
  const service = await startAfter(0)
  const owner = await openAccount(service, { credits: 1000 })
  receiver.answer = status(500)
  const owed = (await owner.run({ ...image('a plum'), webhook_url: receiver.url })).body.run_id
  for (let run = 0; run < MAX_ARCHIVED_RUNS + 5; run++) await owner.run(image('a pear'))
  await caughtUp(service.core)
  const { core } = service
  const parts = { ...core, clock: new ManualClock(Date.now() + 2 * DAY_MS), retentionMs: DAY_MS }
  const archives = [new RunArchiveReactor(parts), new RunArchiveReactor(parts)]
  await Promise.all(archives.map(each => each.look()))
  await caughtUp(core)
  t.same(await listed(owner), [owed])
  const events = await collect(core.log.readStream(accountStream(owner.accountId), 0))
  const archived = events.flatMap(({ type, data }) =>
    type === 'RunsArchived' ? (data as { runs: unknown[] }).runs.length : [],
  )
  t.equal(
    archived.reduce((sum, each) => sum + each, 0),
    MAX_ARCHIVED_RUNS + 5,
    'one process archives at a time',
  )
  t.ok(archived.every(count => count <= MAX_ARCHIVED_RUNS))
})
