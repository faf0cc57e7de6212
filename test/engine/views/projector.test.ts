import t, { type Test } from 'tap'
import { PROJECTIONS_VERSION } from '../../../projections/all.ts'
import type { BalanceRow, DueRow, UploadRow, WebhookRow } from '../../../schemas/views.ts'
import { toMicros } from '../../../src/domain/money.ts'
import { Projector } from '../../../src/engine/views/projector.ts'
import { Reads } from '../../../src/engine/views/reads.ts'
import { ViewFollower } from '../../../src/engine/views/view-follower.ts'
import { type EventLog, NO_STREAM } from '../../../src/ports/event-log.ts'
import { Damaged, Unavailable } from '../../../src/ports/faults.ts'
import { BY_KEY, type ViewStore } from '../../../src/ports/view-store.ts'
import { Accounts } from '../../../src/services/accounts/accounts.ts'
import { accountId, grantCredits, openAccount, runId, uploadId } from '../../support/account-samples.ts'
import { dumpText } from '../../support/dump.ts'
import { noSnapshots, openLog, openViews, silentLogger } from '../../support/engine.ts'
import { writeHistory } from '../../support/history.ts'
import { ManualClock } from '../../support/manual-clock.ts'

const cause = { actor: { kind: 'service' } } as const

/** A projector that has caught up with the log, and is stopped when the test ends. */
const startProjector = async (t: Test, log: EventLog, views: ViewStore, logger = silentLogger): Promise<Projector> => {
  const projector = new Projector(log, views, logger)
  t.teardown(() => projector.stop())
  await projector.start()
  return projector
}

/** What the views of a log must be. */
const viewsOf = async (t: Test, log: EventLog): Promise<string> => {
  const views = await openViews(t)
  const projector = await startProjector(t, log, views)
  await projector.stop()
  return dumpText(views)
}

/** The log in pages of so many events. */
const inPagesOf = (size: number, log: EventLog): EventLog => ({
  ...log,
  async *follow(after, signal) {
    for await (const page of log.follow(after, signal))
      for (let start = 0; start < page.length; start += size) yield page.slice(start, start + size)
  },
})

t.test('the views show what happened', async t => {
  const [log, views] = [await openLog(t), await openViews(t)]
  await writeHistory(log)
  await startProjector(t, log, views)
  t.same(await views.get('balance', accountId(1)), {
    balanceMicros: toMicros(30.5),
    grantedMicros: toMicros(100.5),
    debitedMicros: toMicros(110),
    refundedMicros: toMicros(40),
  })
  const runs = await views.list<{ runId: string; status: string }>('runs', BY_KEY, {
    prefix: `${accountId(2)}/`,
    limit: 20,
  })
  t.same(
    runs.map(({ row }) => [row.runId, row.status]),
    [
      ...['queued', 'processing', 'processing', 'completed', 'failed'],
      ...['processing', 'failed', 'failed', 'failed', 'completed', 'completed'],
    ].map((status, index) => [runId(2001 + index), status]),
  )
  const due = await views.list<DueRow>('due', 'byQueue', { prefix: '', limit: 100 })
  const owed = due.filter(({ row }) => row.accountId === accountId(2)).map(({ row, key }) => [row.queue, key])
  t.same(owed, [
    ['cancel/sandbox', runId(2006)],
    ...[2008, 2010, 2011, 2007].map(number => ['deliver/example.com', runId(number)]),
    ['objects/outputs', `output/${runId(2010)}`],
    ...[2006, 2001, 2002, 2005, 2003, 2004].map(number => ['objects/uploads', uploadId(number)]),
    ['start/sandbox', runId(2001)],
    ...[2002, 2003].map(number => ['watch/sandbox', runId(number)]),
  ])
  const webhooks = await views.list<WebhookRow>('webhooks', BY_KEY, { prefix: `${accountId(2)}/`, limit: 10 })
  t.same(
    webhooks.map(({ row }) => [row.runId, row.status, row.attempts]),
    [
      [runId(2006), 'waiting', 0],
      [runId(2007), 'pending', 1],
      [runId(2008), 'pending', 0],
      [runId(2009), 'abandoned', 1],
      [runId(2010), 'pending', 0],
      [runId(2011), 'pending', 0],
    ],
  )
  const uploads = await views.list<UploadRow>('uploads', BY_KEY, { prefix: `${accountId(2)}/`, limit: 10 })
  t.same(
    uploads.map(({ row }) => [row.uploadId, row.status, row.sealed]),
    [
      [uploadId(2001), 'granted', false],
      [uploadId(2002), 'stored', false],
      [uploadId(2003), 'stored', true],
      [uploadId(2004), 'stored', true],
      [uploadId(2005), 'deleting', false],
      [uploadId(2006), 'deleting', true],
    ],
  )
  t.ok((await views.checkpoint())?.position === (await log.head()))
})

t.test('views that are thrown away come back byte for byte', async t => {
  const [log, views] = [await openLog(t), await openViews(t)]
  await writeHistory(log)
  await (await startProjector(t, log, views)).stop()
  const before = await dumpText(views)
  await views.clear()
  await (await startProjector(t, log, views)).stop()
  t.equal(await dumpText(views), before)
})

t.test('it makes no difference how the events come', async t => {
  const log = await openLog(t)
  await writeHistory(log)
  const expected = await viewsOf(t, log)
  for (const size of [1, 2, 7]) t.equal(await viewsOf(t, inPagesOf(size, log)), expected, `${size} at a time`)
})

t.test('views that were followed live are those that are built afterwards', async t => {
  const [log, views] = [await openLog(t), await openViews(t)]
  const projector = await startProjector(t, log, views)
  await writeHistory(log)
  await projector.passed(await log.head(), 5000)
  t.equal(await dumpText(views), await viewsOf(t, log))
})

t.test('two projectors on one store do not disturb each other', async t => {
  const [log, views] = [await openLog(t), await openViews(t)]
  await writeHistory(log)
  const projectors = await Promise.all([1, 3].map(size => startProjector(t, inPagesOf(size, log), views)))
  await writeHistory(log, { first: 10, accounts: 10 })
  const head = await log.head()
  await Promise.all(projectors.map(projector => projector.passed(head, 10_000)))
  t.equal(await dumpText(views), await viewsOf(t, log))
})

t.test('views from another log are built anew', async t => {
  const [log, other, views] = [await openLog(t), await openLog(t), await openViews(t)]
  await Promise.all([writeHistory(log), writeHistory(other, { first: 5, accounts: 6 })])
  await (await startProjector(t, other, views)).stop()
  const warnings: string[] = []
  await (await startProjector(t, log, views, { ...silentLogger, warn: (_, text) => warnings.push(text) })).stop()
  t.same(warnings, ['the views do not fit the log and are built anew'])
  t.equal(await dumpText(views), await viewsOf(t, log))
})

t.test('views of other projections are built anew', async t => {
  const [log, views] = [await openLog(t), await openViews(t)]
  await writeHistory(log)
  await (await startProjector(t, log, views)).stop()
  const from = await views.checkpoint()
  const stale = [{ view: 'balance', key: accountId(1), row: { balance: 1 } }]
  if (from) await views.commit({ from, to: { ...from, version: 0 }, rows: stale, entries: [] })
  await (await startProjector(t, log, views)).stop()
  t.equal(await dumpText(views), await viewsOf(t, log))
})

t.test('views that the service of another log has taken over are left alone, and are not shown', async t => {
  const [log, other, views] = [await openLog(t), await openLog(t), await openViews(t)]
  await Promise.all([writeHistory(log), writeHistory(other)])
  const projector = await startProjector(t, log, views)
  const follower = new ViewFollower(log, views, silentLogger)
  t.teardown(() => follower.stop())
  await follower.start()
  await startProjector(t, other, views)
  const taken = await dumpText(views)
  await writeHistory(log, { first: 7 })
  for (const progress of [projector, follower]) {
    await t.rejects(progress.passed(await log.head(), 5000), { message: /another log/ })
    t.ok(progress.areWrong)
  }
  t.equal(await dumpText(views), taken)
})

t.test('whoever waits no longer is forgotten', async t => {
  const [log, views] = [await openLog(t), await openViews(t)]
  class Watched extends Projector {
    get isWaitedFor() {
      return this.isAwaited
    }
  }
  const projector = new Watched(log, views, silentLogger)
  t.teardown(() => projector.stop())
  await projector.start()
  const waiting = projector.passed(1, 50)
  t.ok(projector.isWaitedFor)
  await t.rejects(waiting, Unavailable)
  t.notOk(projector.isWaitedFor)
})

t.test('views that another version has taken over are left alone', async t => {
  const [log, views] = [await openLog(t), await openViews(t)]
  await writeHistory(log)
  const errors: string[] = []
  const logger = {
    ...silentLogger,
    error: (facts: object) => errors.push(String((facts as { err: Error }).err.message)),
  }
  const projector = await startProjector(t, log, views, logger)
  const from = await views.checkpoint()
  const newer = from && { ...from, version: PROJECTIONS_VERSION + 1 }
  if (newer) await views.commit({ from, to: newer, rows: [], entries: [] })
  const before = await dumpText(views)
  await writeHistory(log, { first: 7 })
  await t.rejects(projector.passed(await log.head(), 300), Unavailable)
  t.match(errors[0], 'another version')
  t.same(await views.checkpoint(), newer)
  t.equal(await dumpText(views), before)
})

t.test('views that fit are not built anew', async t => {
  const [log, views] = [await openLog(t), await openViews(t)]
  await writeHistory(log)
  await (await startProjector(t, log, views)).stop()
  await writeHistory(log, { first: 7 })
  let firstPosition = -1
  const watched: EventLog = {
    ...log,
    follow: (after, signal) => {
      firstPosition = Math.max(firstPosition, after)
      return log.follow(after, signal)
    },
  }
  const reached = (await views.checkpoint())?.position
  await startProjector(t, watched, views)
  t.equal(firstPosition, reached)
})

t.test('a read waits for what this process wrote', async t => {
  const [log, views] = [await openLog(t), await openViews(t)]
  const gate = new Gate()
  const slow: ViewStore = { ...views, commit: batch => gate.passed.then(() => views.commit(batch)) }
  const projector = await startProjector(t, log, slow)
  const accounts = new Accounts(log, noSnapshots, new ManualClock())
  const reads = new Reads(slow, projector, accounts)
  const balance = async () => {
    await reads.ownWrites(accountId())
    return ((await reads.get('balance', accountId())) as BalanceRow | undefined)?.balanceMicros
  }

  await accounts.execute(accountId(), openAccount({ welcome: 100 }), cause)
  await accounts.execute(accountId(), grantCredits(1), cause)
  const reading = balance()
  t.ok(projector.position < accounts.lastPosition(accountId()), 'the views are behind')
  gate.open()
  t.equal(await reading, toMicros(101))
  for (const credits of [102, 103, 104]) {
    await accounts.execute(accountId(), grantCredits(1), cause)
    t.equal(await balance(), toMicros(credits))
  }
  t.equal(reads.ownWrites(accountId(2)), undefined, 'nobody waits for an account that nobody wrote to')
})

t.test('waiting for a position ends when it does not come', async t => {
  const projector = await startProjector(t, await openLog(t), await openViews(t))
  await t.rejects(projector.passed(0, 1), Unavailable)
})

t.test('many who wait ask the views once for all', async t => {
  const [log, views] = [await openLog(t), await openViews(t)]
  let asked = 0
  const counted: ViewStore = {
    ...views,
    checkpoint: async () => {
      asked += 1
      return views.checkpoint()
    },
  }
  const projector = await startProjector(t, log, counted)
  asked = 0
  const waiting = Array.from({ length: 500 }, () => projector.passed(0, 400))
  t.ok((await Promise.allSettled(waiting)).every(({ status }) => status === 'rejected'))
  t.ok(asked > 0 && asked < 100, `${asked} times`)
})

t.test('nobody waits for views that do not answer', async t => {
  const [log, views] = [await openLog(t), await openViews(t)]
  let answers = true
  const silent = () => Promise.reject(new Unavailable('the views do not answer'))
  const shaky: ViewStore = {
    ...views,
    checkpoint: () => (answers ? views.checkpoint() : silent()),
    commit: batch => (answers ? views.commit(batch) : silent()),
  }
  const projector = await startProjector(t, log, shaky)
  answers = false
  await writeHistory(log)
  await t.rejects(projector.passed(await log.head(), 1e9), { message: 'the views do not answer' })
  answers = true
  await projector.passed(await log.head(), 10_000)
})

t.test('a log that cannot be read is said to be damaged, and not waited for', async t => {
  const [log, views] = [await openLog(t), await openViews(t)]
  await log.append('account-x', [{ id: crypto.randomUUID(), type: 'Unheard', data: {}, metadata: {} }], NO_STREAM)
  await t.rejects(startProjector(t, log, views), Damaged)
})

t.test('a store that stumbles is tried again', async t => {
  const [log, views] = [await openLog(t), await openViews(t)]
  await writeHistory(log)
  let stumbles = 2
  const shaky: ViewStore = {
    ...views,
    commit: async batch => {
      if (stumbles-- > 0) throw new Error('the disk is slow today')
      await views.commit(batch)
    },
  }
  const errors: string[] = []
  await startProjector(t, log, shaky, { ...silentLogger, error: (_, text) => errors.push(text) })
  t.equal(errors.length, 2)
  t.equal(await dumpText(views), await viewsOf(t, log))
})

/** Something that everybody waits for. */
class Gate {
  open: () => void = () => undefined
  readonly passed = new Promise<void>(resolve => {
    this.open = resolve
  })
}
