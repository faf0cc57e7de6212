import { EventEmitter, once } from 'node:events'
import { setTimeout as delay } from 'node:timers/promises'
import t, { type Test } from 'tap'
import type { RunQueued } from '../../schemas/account-events.ts'
import type { RunList } from '../../schemas/api/run.ts'
import { accountStream } from '../../schemas/events.ts'
import type { AccountId, RunId } from '../../schemas/primitives.ts'
import type { Metadata } from '../../schemas/recorded.ts'
import type { Core } from '../../src/boot/core.ts'
import type { AccountCommand } from '../../src/domain/account/commands.ts'
import type { EventLog } from '../../src/ports/event-log.ts'
import type { Done, Job, Provider, Submitted, SubmittedJob, Working } from '../../src/ports/provider.ts'
import {
  accountId,
  cancelRun,
  completeRun,
  openAccount as openFirst,
  queueRun,
  recordUndelivered,
  runId,
  startRun,
  submitRun,
} from '../support/account-samples.ts'
import { sandbox } from '../support/client.ts'
import { collect } from '../support/collect.ts'
import { silentLogger } from '../support/engine.ts'
import { auditFolder } from '../support/ledger.ts'
import { checkChains } from '../support/links.ts'
import { ManualClock } from '../support/manual-clock.ts'
import { startReceiver, status, untilRecorded, webhookEvents } from '../support/receiver.ts'
import { openAccount, openFolder, startService } from '../support/service.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'
import { until } from '../support/until.ts'

// A jump that is not handled shows as a wait without end.
t.setTimeout(90_000)

/** More than the longest timer of Node.js, which is about 25 days. */
const JUMP_MS = 40 * 24 * 60 * 60 * 1000

/** As many calls as one process makes to a provider at a time. */
const SLOTS = 64

const environment = { ALLOW_PRIVATE_WEBHOOKS: 'true' }

/** Work ends when the test releases it, or never where the prompt is `hang`; other prompts are answered at once. */
class HeldProvider implements Provider {
  readonly deduplicates = true
  readonly submitted = new Set<RunId>()
  readonly #polls = new Map<RunId, number>()
  readonly #events = new EventEmitter().setMaxListeners(SLOTS)
  #isReleased = false

  async submit({ runId, endpoint, input }: Job): Promise<Done | Submitted> {
    this.submitted.add(runId)
    // A time limit that overflows the timer ends before this.
    await delay(50)
    if (endpoint.endsWith('-i2v')) return { kind: 'submitted', jobId: `job of ${runId}`, pollAfterMs: 100 }
    if (input['prompt'] === 'hold' && !this.#isReleased) await once(this.#events, 'release')
    return done
  }

  async poll({ runId, input }: SubmittedJob): Promise<Done | Working> {
    this.#polls.set(runId, this.pollsOf(runId) + 1)
    return this.#isReleased && (await input())['prompt'] !== 'hang' ? done : { kind: 'working', pollAfterMs: 100 }
  }

  async cancel() {}

  async close() {}

  pollsOf(runId: RunId): number {
    return this.#polls.get(runId) ?? 0
  }

  release() {
    this.#isReleased = true
    this.#events.emit('release')
  }
}

const done: Done = { kind: 'done', media: [], text: 'done' }

/** Waits for two polls of a job, so that one of them began after the clock was set. */
const polledTwice = async (provider: HeldProvider, runId: RunId) => {
  const before = provider.pollsOf(runId)
  await until('the job is polled twice', () => provider.pollsOf(runId) >= before + 2)
}

const deliveredRuns = async (log: EventLog, account: AccountId) =>
  (await webhookEvents(log, account)).filter(({ type }) => type === 'WebhookDelivered').map(({ data }) => data.runId)

const isIdle = async ({ accounts }: Core, account: AccountId) => {
  const { openRuns, deliveries } = await accounts.currentState(account)
  return openRuns.isEmpty() && deliveries.isEmpty()
}

/** Checks that the chain holds, that time never goes back, and that the log, the views and the money agree. */
const checkLog = async (t: Test, folder: string, account: AccountId) => {
  t.same((await auditFolder(folder)).faults, [])
  const core = await openFolder(folder)
  const events = await collect(core.log.readStream(accountStream(account), 0))
  await core.close()
  checkChains(events)
  const times = events.map(({ metadata }) => metadata as Metadata)
  t.same(
    times.map(({ at }) => at),
    times.map(({ at }) => at).sort(),
  )
  t.ok(
    times.some(({ clock }) => clock !== undefined),
    'events after the jump back show the clock',
  )
  t.ok(times.every(({ at, clock = '' }) => clock < at))
}

t.test('a clock that jumps 40 days ahead and back delays no run and no webhook', async t => {
  const folder = await temporaryFolder(t)
  const clock = new ManualClock()
  const provider = new HeldProvider()
  const warnings: string[] = []
  const logger = { ...silentLogger, warn: (_: object, message: string) => warnings.push(message) }
  const service = await startService(t, { folder, clock, logger, environment, providers: { sandbox: provider } })
  const customer = await openAccount(service, { credits: 1000, tester: true })
  const { accountId } = customer
  const receiver = await startReceiver(t, status(500))
  const run = async (prompt: string, more: object = {}, headers = {}) =>
    (await customer.run({ ...sandbox({ prompt }), ...more }, headers)).body
  const job = (prompt: string) => run(prompt, { input: { prompt, image_url: 'none' } })
  const webhook = { webhook_url: receiver.url }

  const before = await run('at once', {}, { 'Idempotency-Key': 'before' })
  clock.advance(JUMP_MS)

  const ahead = await run('at once', webhook, { 'Idempotency-Key': 'ahead' })
  t.equal(ahead.status, 'completed')
  await untilRecorded(service.core.log, 1, accountId)
  const held = await job('hold')
  const hanging = await job('hang')
  await polledTwice(provider, hanging.run_id)
  const calls = Array.from({ length: SLOTS }, () => run('hold'))
  await until('all jobs are submitted', () => provider.submitted.size === SLOTS + 4)
  const queued = Array.from({ length: 3 }, () => run('hold', webhook))
  await until(
    'three runs are queued',
    async () => (await customer.send<RunList>('/v1/runs?status=queued')).body.data.length === 3,
  )
  clock.advance(-JUMP_MS)

  t.same(warnings, [])
  receiver.answer = status(204)
  provider.release()
  const ended = await Promise.all([...calls, ...queued])
  t.ok(ended.every(({ status }) => status === 'completed'))
  const after = await run('at once')
  t.equal(after.status, 'completed')
  t.ok(warnings.includes('the clock is behind the event log; check the time of this machine'))
  const runIds = [ahead, ...(await Promise.all(queued))].map(({ run_id }) => run_id)
  await until(
    'all webhooks are delivered',
    async () => (await deliveredRuns(service.core.log, accountId)).length === runIds.length,
  )
  t.same((await deliveredRuns(service.core.log, accountId)).sort(), runIds.sort())

  const repeat = async () => {
    t.equal((await run('at once', {}, { 'Idempotency-Key': 'before' })).run_id, before.run_id)
    t.equal((await run('at once', webhook, { 'Idempotency-Key': 'ahead' })).run_id, ahead.run_id)
  }
  await repeat()
  await run('at once', {}, { 'Idempotency-Key': 'after' })
  await repeat()

  await polledTwice(provider, hanging.run_id)
  clock.advance(15 * 60_000)
  await until('no run is open', () => isIdle(service.core, accountId))
  const endOf = async ({ run_id }: { run_id: RunId }) => (await customer.send(`/v1/runs/${run_id}`)).body
  t.match(await endOf(held), { status: 'completed' })
  t.match(await endOf(hanging), { status: 'failed', error: { code: 'provider_timeout' } })
  // One credit for each run but the one that failed.
  t.equal(await customer.balance(), 1000 - (ended.length + 5))
  await service.stop()
  await checkLog(t, folder, accountId)
})

t.test('work that a process left while its clock was 40 days ahead is taken up at once', async t => {
  const folder = await temporaryFolder(t)
  const receiver = await startReceiver(t)
  const clock = new ManualClock()
  clock.advance(JUMP_MS)
  const queue = (run: number, prompt: string, change: Partial<RunQueued> = {}): AccountCommand => {
    const command = queueRun({ run, webhook: true, mode: 'async' })
    const work = { endpoint: 'sandbox-i2v', input: { prompt }, webhookUrl: receiver.url, ...change }
    return { ...command, run: { ...command.run, ...work } }
  }
  const begin = (run: number, prompt: string, change?: Partial<RunQueued>) => [
    queue(run, prompt, change),
    startRun(run),
  ]
  const nextAttempt = new Date(clock.nowMs() + 60_000).toISOString()
  const left: Record<string, AccountCommand[]> = {
    'queued async': [queue(1, 'hold')],
    'queued sync': [queue(2, 'at once', { mode: 'sync', endpoint: 'sandbox-t2t' })],
    'begun async': begin(3, 'hold'),
    'begun sync': begin(4, 'hold', { mode: 'sync', endpoint: 'sandbox-t2t' }),
    submitted: [...begin(5, 'hold'), submitRun(5)],
    'submitted and hanging': [...begin(6, 'hang'), submitRun(6)],
    'cancelled while submitted': [...begin(7, 'hang'), submitRun(7), cancelRun(7)],
    completed: [...begin(8, 'hold'), completeRun(8)],
    'completed and not delivered': [
      ...begin(9, 'hold'),
      completeRun(9),
      recordUndelivered(1, { run: 9, next: nextAttempt }),
    ],
  }
  const runs = Object.keys(left).map((_, index) => runId(index + 1))
  const first = await openFolder(folder, { clock })
  for (const command of [openFirst({ welcome: 1000 }), ...Object.values(left).flat()]) {
    const outcome = await first.accounts.execute({ kind: 'service' }, accountId(), command)
    if ('refuse' in outcome) throw new Error(`${command.type}: ${outcome.refuse.code}`)
  }
  // The process was killed, so its leases stay.
  const leases = runs.flatMap(runId => [`run/${runId}`, `webhook/${runId}`])
  await first.views.lease(leases, 'the killed process', clock.nowMs(), clock.nowMs() + 15_000)
  await first.close()

  clock.advance(-JUMP_MS)
  const provider = new HeldProvider()
  const { core, stop } = await startService(t, { folder, clock, environment, providers: { sandbox: provider } })
  provider.release()
  await polledTwice(provider, runId(6))
  await until('one run is open', async () => (await core.accounts.currentState(accountId())).openRuns.size === 1)
  clock.advance(2 * 60_000)
  await until('no run is open', () => isIdle(core, accountId()))
  t.same((await deliveredRuns(core.log, accountId())).sort(), runs)
  const ends = await Promise.all(
    runs.map(async runId => {
      const row = await core.reads.getOwn(accountId(), 'runs', `${accountId()}/${runId}`)
      return row?.error?.code ?? row?.status
    }),
  )
  t.same(Object.fromEntries(Object.keys(left).map((name, index) => [name, ends[index]])), {
    'queued async': 'completed',
    'queued sync': 'completed',
    'begun async': 'completed',
    'begun sync': 'interrupted',
    submitted: 'completed',
    'submitted and hanging': 'provider_timeout',
    'cancelled while submitted': 'cancelled',
    completed: 'completed',
    'completed and not delivered': 'completed',
  })
  await stop()
  await checkLog(t, folder, accountId())
})
