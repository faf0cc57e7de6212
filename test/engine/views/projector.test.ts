import t, { type Test } from 'tap'
import { projections as all } from '../../../projections/all.ts'
import type { BalanceRow, DueRow, RunRow, UploadRow, WebhookRow } from '../../../schemas/views.ts'
import { toMicros } from '../../../src/domain/money.ts'
import { type EventLog, NO_STREAM } from '../../../src/ports/event-log.ts'
import { Damaged, Unavailable } from '../../../src/ports/faults.ts'
import { BY_KEY, type Checkpoint, type ViewStore } from '../../../src/ports/view-store.ts'
import { accountId, grantCredits, openAccount, runId, uploadId } from '../../support/account-samples.ts'
import { dumpText } from '../../support/dump.ts'
import { accountsOn, openLog, openViews, silentLogger } from '../../support/engine.ts'
import { refundInHistory, writeHistory } from '../../support/history.ts'
import { until } from '../../support/until.ts'
import { differences, followerOf, openScratch, projectorOf, readsOf } from '../../support/views.ts'

const caller = { kind: 'service' } as const

/** A projector that has caught up with the log. It stops at the end of the test. */
const startProjector = async (
  t: Test,
  log: EventLog,
  views: ViewStore,
  logger = silentLogger,
  projections = all,
): Promise<ReturnType<typeof projectorOf>> => {
  const projector = projectorOf(log, views, logger, projections)
  t.teardown(() => projector.stop())
  await projector.start()
  return projector
}

/** The views that a log must lead to. */
const viewsOf = async (t: Test, log: EventLog): Promise<string> => {
  const views = await openViews(t)
  const projector = await startProjector(t, log, views)
  await projector.stop()
  return dumpText(views)
}

/** The log in pages of `size` events. */
const inPagesOf = (size: number, log: EventLog): EventLog => ({
  ...log,
  async *follow(after, signal) {
    for await (const page of log.follow(after, signal))
      for (let start = 0; start < page.length; start += size) yield page.slice(start, start + size)
  },
})

t.test('the views show the history of the log', async t => {
  const [log, views] = [await openLog(t), await openViews(t)]
  await writeHistory(log)
  await startProjector(t, log, views)
  t.match(await views.get('balance', accountId(1)), {
    balanceMicros: toMicros(30.5),
    grantedMicros: toMicros(100.5),
    withdrawnMicros: 0,
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
    ['cancel/nano-banana-2-t2i', runId(2006)],
    ['deliver/charged/example.com', runId(2011)],
    ...[2008, 2010, 2007].map(number => ['deliver/free/example.com', runId(number)]),
    ['objects/outputs', `output/${runId(2010)}`],
    ...[2006, 2001, 2002, 2005, 2003, 2004].map(number => ['objects/uploads', uploadId(number)]),
    ['start/nano-banana-2-t2i', runId(2001)],
    ...[2002, 2003].map(number => ['watch/nano-banana-2-t2i', runId(number)]),
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

t.test('deleted views are rebuilt byte for byte', async t => {
  const [log, views] = [await openLog(t), await openViews(t)]
  await writeHistory(log)
  await (await startProjector(t, log, views)).stop()
  const before = await dumpText(views)
  await views.clear()
  await (await startProjector(t, log, views)).stop()
  t.equal(await dumpText(views), before)
})

t.test('views that are emptied are rebuilt without waiting for an event', async t => {
  const [log, views] = [await openLog(t), await openViews(t)]
  await writeHistory(log)
  await startProjector(t, log, views)
  const before = await dumpText(views)
  await views.clear()
  await until('the views as before', async () => (await dumpText(views)) === before)
})

t.test('a commit that is answered after the views were read again does not set their position back', async t => {
  const [log, views] = [await openLog(t), await openViews(t)]
  await writeHistory(log)
  let answer = () => {}
  const answered = new Promise<void>(resolve => {
    answer = resolve
  })
  let answerComes = Promise.resolve()
  const store: ViewStore = { ...views, commit: batch => views.commit(batch).then(() => answerComes) }
  const { progress } = await startProjector(t, log, store)
  const before = progress.position

  answerComes = answered
  const accounts = accountsOn(log)
  await accounts.execute(caller, accountId(8), openAccount({ account: 8 }))
  await until('the unanswered commit', async () => ((await views.checkpoint())?.position ?? -1) > before)
  answerComes = Promise.resolve()
  await accounts.execute(caller, accountId(9), openAccount({ account: 9 }))
  await views.clear()
  const head = await log.head()
  await until('views that are rebuilt', () => progress.position === head)
  answer()
  // The late answer is handled before this read ends.
  await views.checkpoint()
  await new Promise(setImmediate)
  t.equal(progress.position, head)
  t.ok(progress.isReadable('balance'))
})

t.test('the page size makes no difference to the views', async t => {
  const log = await openLog(t)
  await writeHistory(log)
  const expected = await viewsOf(t, log)
  for (const size of [1, 2, 7]) t.equal(await viewsOf(t, inPagesOf(size, log)), expected, `${size} at a time`)
})

t.test('views built live equal views built afterwards', async t => {
  const [log, views] = [await openLog(t), await openViews(t)]
  const projector = await startProjector(t, log, views)
  await writeHistory(log)
  await projector.progress.passed(await log.head(), 5000)
  t.equal(await dumpText(views), await viewsOf(t, log))
})

t.test('two projectors on one store do not disturb each other', async t => {
  const [log, views] = [await openLog(t), await openViews(t)]
  await writeHistory(log)
  const projectors = await Promise.all([1, 3].map(size => startProjector(t, inPagesOf(size, log), views)))
  await writeHistory(log, { first: 10, accounts: 10 })
  const head = await log.head()
  await Promise.all(projectors.map(projector => projector.progress.passed(head, 10_000)))
  t.equal(await dumpText(views), await viewsOf(t, log))
})

t.test('views of another log are rebuilt', async t => {
  const [log, other, views] = [await openLog(t), await openLog(t), await openViews(t)]
  await Promise.all([writeHistory(log), writeHistory(other, { first: 5, accounts: 6 })])
  await (await startProjector(t, other, views)).stop()
  const warnings: string[] = []
  await (await startProjector(t, log, views, { ...silentLogger, warn: (_, text) => warnings.push(text) })).stop()
  t.same(warnings, ['the views do not fit the log; rebuilding them'])
  t.equal(await dumpText(views), await viewsOf(t, log))
})

t.test('views of older releases, which have no versions, are rebuilt', async t => {
  const [log, views] = [await openLog(t), await openViews(t)]
  await writeHistory(log)
  await (await startProjector(t, log, views)).stop()
  const from = await views.checkpoint()
  const stale = [{ view: 'balance', key: accountId(1), row: { balance: 1 } }]
  const older = { ...from, versions: undefined, version: 5 } as unknown as Checkpoint
  await views.commit({ from, to: older, rows: stale, entries: [] })
  await (await startProjector(t, log, views)).stop()
  t.equal(await dumpText(views), await viewsOf(t, log))
})

t.test('a new version of a projection rebuilds its view and no other', async t => {
  const [log, views] = [await openLog(t), await openViews(t)]
  await writeHistory(log)
  await (await startProjector(t, log, views)).stop()
  // Both rows are wrong; only a rebuild of their view corrects them.
  const wrong = ['balance', 'accounts'].map(view => ({ view, key: accountId(1), row: { wrong: true } }))
  const from = await views.checkpoint()
  if (!from) throw new Error('the views are empty')
  await views.commit({ from, to: from, rows: wrong, entries: [] })

  const raised = all.map(projection => (projection.view === 'balance' ? { ...projection, version: 99 } : projection))
  await (await startProjector(t, log, views, silentLogger, raised)).stop()
  t.match(await views.get('balance', accountId(1)), { grantedMicros: Number })
  t.same(await views.get('accounts', accountId(1)), { wrong: true })
  t.equal((await views.checkpoint())?.versions['balance'], 'balance 99')
  t.equal((await views.checkpoint())?.position, from.position)
})

t.test('a view of another version is rebuilt beside the others, which go on', async t => {
  const [log, views] = [await openLog(t), await openViews(t)]
  await writeHistory(log)
  await (await startProjector(t, log, views)).stop()
  const raised = all
    .filter(({ view }) => view !== 'statement')
    .map(projection => (projection.view === 'balance' ? { ...projection, version: 99 } : projection))

  let release = () => undefined as unknown
  const released = new Promise(resolve => (release = () => resolve(undefined)))
  const held = { rebuildsFirst: false, openScratch: () => released.then(openScratch) }
  const projector = projectorOf(log, views, silentLogger, raised, held)
  t.teardown(() => projector.stop())
  await projector.start()
  const { progress } = projector
  t.same(
    ['balance', 'statement', 'runs'].map(view => progress.isReadable(view)),
    [false, false, true],
  )
  // The others follow the log, while nobody writes to the old view.
  const before = await views.get('balance', accountId(1))
  await writeHistory(log, { first: 7 })
  await progress.passed(await log.head(), 5000)
  t.ok(await views.get('accounts', accountId(7)))
  t.same(await views.get('balance', accountId(1)), before)
  t.notOk(await views.get('balance', accountId(7)))

  // A projector of the same version that starts meanwhile goes on with it.
  const other = projectorOf(log, views, silentLogger, raised, held)
  t.teardown(() => other.stop())
  await other.start()
  release()
  await until('the view is rebuilt', () => progress.isReadable('balance'))
  t.ok(await views.get('balance', accountId(7)))
  t.same(await views.list('statement', BY_KEY, { prefix: '', limit: 1 }), [])
  await writeHistory(log, { first: 13 })
  await progress.passed(await log.head(), 5000)
  t.ok(await views.get('balance', accountId(13)))
  await Promise.all([projector.stop(), other.stop()])
  const fresh = await openViews(t)
  await (await startProjector(t, log, fresh, silentLogger, raised)).stop()
  t.equal(await dumpText(views), await dumpText(fresh))
})

t.test('a view without a projection is removed', async t => {
  const [log, views] = [await openLog(t), await openViews(t)]
  await writeHistory(log)
  await (await startProjector(t, log, views)).stop()
  const fewer = all.filter(({ view }) => view !== 'statement')
  await (await startProjector(t, log, views, silentLogger, fewer)).stop()
  t.same(await views.list('statement', BY_KEY, { prefix: '', limit: 1 }), [])
  t.notOk((await views.checkpoint())?.versions['statement'])
})

for (const when of ['while a projector runs', 'while none runs'])
  t.test(`no event counts twice after the checkpoint was set back ${when}`, async t => {
    const [log, views] = [await openLog(t), await openViews(t)]
    const projector = await startProjector(t, log, views)
    await writeHistory(log)
    await projector.progress.passed(await log.head(), 5000)
    const earlier = (await views.checkpoint()) as Checkpoint
    await refundInHistory(log)
    await writeHistory(log, { first: 7 })
    await projector.progress.passed(await log.head(), 5000)
    if (when === 'while none runs') await projector.stop()
    await views.commit({ from: await views.checkpoint(), to: earlier, rows: [], entries: [] })

    await accountsOn(log).execute(caller, accountId(1), grantCredits(1))
    const { progress } = when === 'while none runs' ? await startProjector(t, log, views) : projector
    await progress.passed(await log.head(), 5000)
    t.match(await views.get<BalanceRow>('balance', accountId(1)), {
      balanceMicros: toMicros(35.5),
      grantedMicros: toMicros(101.5),
      refundedMicros: toMicros(44),
    })
    const run = await views.get<RunRow>('runs', `${accountId(1)}/${runId(1004)}`)
    t.equal(run?.refundedMicros, toMicros(4))
    t.same(await differences(t, log, views), [])
  })

t.test('views taken over by the service of another log are neither changed nor read', async t => {
  const [log, other, views] = [await openLog(t), await openLog(t), await openViews(t)]
  await Promise.all([writeHistory(log), writeHistory(other)])
  const projector = await startProjector(t, log, views)
  const follower = followerOf(log, views)
  t.teardown(() => follower.stop())
  await follower.start()
  await startProjector(t, other, views)
  const taken = await dumpText(views)
  await writeHistory(log, { first: 7 })
  for (const { progress } of [projector, follower]) {
    await t.rejects(progress.passed(await log.head(), 5000), { message: /another log/ })
    t.notOk(progress.isReadable('runs'))
  }
  t.equal(await dumpText(views), taken)
})

t.test('views that named a position beyond the log are read again once they are rebuilt', async t => {
  const [log, views] = [await openLog(t), await openViews(t)]
  await writeHistory(log)
  await startProjector(t, log, views)
  const follower = followerOf(log, views)
  t.teardown(() => follower.stop())
  await follower.start()
  const from = (await views.checkpoint()) as Checkpoint
  const beyond = from.position + 1_000_000
  await views.commit({ from, to: { ...from, position: beyond }, rows: [], entries: [] })
  await until('the position beyond the log', () => follower.progress.position === beyond)
  await writeHistory(log, { first: 7 })
  const head = await log.head()
  await until('views that are rebuilt', () => follower.progress.position === head)
  await until('views that may be read', () => follower.progress.isReadable('runs'))
})

t.test('a wait that timed out is forgotten', async t => {
  const [log, views] = [await openLog(t), await openViews(t)]
  const { progress } = await startProjector(t, log, views)
  const waiting = progress.passed(1, 50)
  t.ok(progress.isAwaited)
  await t.rejects(waiting, Unavailable)
  t.notOk(progress.isAwaited)
})

t.test('views taken over by another version are not changed', async t => {
  const [log, views] = [await openLog(t), await openViews(t)]
  await writeHistory(log)
  const errors: string[] = []
  const logger = {
    ...silentLogger,
    error: (facts: object) => errors.push(String((facts as { err: Error }).err.message)),
  }
  const projector = await startProjector(t, log, views, logger)
  const from = await views.checkpoint()
  const newer = from && { ...from, versions: { ...from.versions, balance: 'balance 99' } }
  if (newer) await views.commit({ from, to: newer, rows: [], entries: [] })
  const before = await dumpText(views)
  await writeHistory(log, { first: 7 })
  await t.rejects(projector.progress.passed(await log.head(), 300), Unavailable)
  t.match(errors[0], 'another version')
  t.notOk(projector.progress.isReadable('balance'))
  t.ok(projector.progress.isReadable('runs'), 'this view is the same in both versions')
  t.same(await views.checkpoint(), newer)
  t.equal(await dumpText(views), before)
})

t.test('matching views are not rebuilt', async t => {
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

t.test('a read waits for the writes of this process', async t => {
  const [log, views] = [await openLog(t), await openViews(t)]
  const gate = new Gate()
  const slow: ViewStore = { ...views, commit: batch => gate.passed.then(() => views.commit(batch)) }
  const projector = await startProjector(t, log, slow)
  const accounts = accountsOn(log)
  const reads = readsOf(slow, projector.progress, accounts)
  const balance = async () => {
    await reads.ownWrites(accountId())
    return ((await reads.get('balance', accountId())) as BalanceRow | undefined)?.balanceMicros
  }

  await accounts.execute(caller, accountId(), openAccount({ welcome: 100 }))
  await accounts.execute(caller, accountId(), grantCredits(1))
  const reading = balance()
  t.ok(projector.progress.position < accounts.lastPosition(accountId()), 'the views are behind')
  gate.open()
  t.equal(await reading, toMicros(101))
  for (const credits of [102, 103, 104]) {
    await accounts.execute(caller, accountId(), grantCredits(1))
    t.equal(await balance(), toMicros(credits))
  }
  t.equal(reads.ownWrites(accountId(2)), undefined, 'reads of an account without writes do not wait')
})

t.test('waiting for a position that never comes times out', async t => {
  const projector = await startProjector(t, await openLog(t), await openViews(t))
  await t.rejects(projector.progress.passed(0, 1), Unavailable)
})

t.test('concurrent waits share the checkpoint reads', async t => {
  const [log, views] = [await openLog(t), await openViews(t)]
  let checkpointReads = 0
  const counted: ViewStore = {
    ...views,
    checkpoint: async () => {
      checkpointReads += 1
      return views.checkpoint()
    },
  }
  const projector = await startProjector(t, log, counted)
  checkpointReads = 0
  const waiting = Array.from({ length: 500 }, () => projector.progress.passed(0, 400))
  t.ok((await Promise.allSettled(waiting)).every(({ status }) => status === 'rejected'))
  t.ok(checkpointReads > 0 && checkpointReads < 100, `${checkpointReads} times`)
})

t.test('a wait fails at once when the views do not answer', async t => {
  const [log, views] = [await openLog(t), await openViews(t)]
  let answers = true
  const silent = () => Promise.reject(new Unavailable('the views do not answer'))
  const unreliable: ViewStore = {
    ...views,
    checkpoint: () => (answers ? views.checkpoint() : silent()),
    commit: batch => (answers ? views.commit(batch) : silent()),
  }
  const projector = await startProjector(t, log, unreliable)
  answers = false
  await writeHistory(log)
  await t.rejects(projector.progress.passed(await log.head(), 1e9), { message: 'the views do not answer' })
  answers = true
  await projector.progress.passed(await log.head(), 10_000)
})

t.test('starting on an unreadable log fails as damaged', async t => {
  const [log, views] = [await openLog(t), await openViews(t)]
  await log.append('account-x', [{ id: crypto.randomUUID(), type: 'Unheard', data: {}, metadata: {} }], NO_STREAM)
  await t.rejects(startProjector(t, log, views), Damaged)
})

t.test('a failed commit is retried', async t => {
  const [log, views] = [await openLog(t), await openViews(t)]
  await writeHistory(log)
  let failures = 2
  const unreliable: ViewStore = {
    ...views,
    commit: async batch => {
      if (failures-- > 0) throw new Error('the disk is busy')
      await views.commit(batch)
    },
  }
  const errors: string[] = []
  await startProjector(t, log, unreliable, { ...silentLogger, error: (_, text) => errors.push(text) })
  t.equal(errors.length, 2)
  t.equal(await dumpText(views), await viewsOf(t, log))
})

/** Holds everyone that awaits `passed` until it is opened. */
class Gate {
  open: () => void = () => undefined
  readonly passed = new Promise<void>(resolve => {
    this.open = resolve
  })
}
