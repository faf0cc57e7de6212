import { setTimeout as delay } from 'node:timers/promises'
import t, { type Test } from 'tap'
import { accountStream } from '../../../schemas/events.ts'
import { account } from '../../../src/domain/account/account.ts'
import type { AccountCommand } from '../../../src/domain/account/commands.ts'
import { toMicros } from '../../../src/domain/money.ts'
import { Mailbox } from '../../../src/engine/streams/mailbox.ts'
import { Streams } from '../../../src/engine/streams/stream.ts'
import type { AppendResult, EventLog } from '../../../src/ports/event-log.ts'
import { Unavailable } from '../../../src/ports/faults.ts'
import { eventCodec } from '../../../src/services/event-codec.ts'
import { Auditor } from '../../auditor/auditor.ts'
import {
  accountId,
  createKey,
  grantCredits,
  keyId,
  openAccount,
  queueRun,
  runId,
} from '../../support/account-samples.ts'
import { collect } from '../../support/collect.ts'
import { ambient, openLog } from '../../support/engine.ts'
import {
  answerLost,
  countingLog,
  type Fate,
  faultyLog,
  faultyReads,
  notWritten,
  type ReadFate,
  silentFor,
  silentReadFor,
  sound,
  unavailable,
  unreadable,
} from '../../support/faulty-log.ts'
import { ManualClock } from '../../support/manual-clock.ts'
import { until } from '../../support/until.ts'

const STREAM = accountStream(accountId())
const cause = { actor: { kind: 'service' } } as const

/** A mailbox for account 1. */
const openMailbox = (log: EventLog, limits: { maxWaitMs?: number; maxAppendMs?: number } = {}) => {
  const mailbox = new Mailbox(
    STREAM,
    new Streams({ decider: account, codec: eventCodec, log, ...ambient(), ...limits }),
    limits,
  )
  return {
    execute: (command: AccountCommand) => mailbox.execute(command, cause),
    balance: async () => (await mailbox.state()).balanceMicros,
    currentBalance: async () => (await mailbox.currentState()).balanceMicros,
    /** A balance that is at most `ageMs` old. */
    recentBalance: async (ageMs = 0) => (await mailbox.stateSince(performance.now() - ageMs)).balanceMicros,
    get position() {
      return mailbox.position
    },
  }
}

/** A log where account 1 is open with `welcome` credits. */
const openFunded = async (t: Test, welcome = 100) => {
  const log = await openLog(t)
  await openMailbox(log).execute(openAccount({ welcome }))
  return log
}

const eventsOf = (log: EventLog) => collect(log.readStream(STREAM, 0))
const typesOf = async (log: EventLog) => (await eventsOf(log)).map(({ type }) => type)

/** The faults that the auditor finds in the stream. */
const audit = async (log: EventLog): Promise<string[]> => {
  const auditor = new Auditor(STREAM)
  auditor.followChain(await eventsOf(log))
  return auditor.faults
}

const upTo = (count: number) => Array.from({ length: count }, (_, index) => index)

t.test('waiting commands share one append', async t => {
  const log = countingLog(await openFunded(t))
  const mailbox = openMailbox(log)
  const outcomes = await Promise.all(upTo(100).map(() => mailbox.execute(grantCredits(1))))
  t.same(log.appends, [100])
  t.equal(await mailbox.balance(), toMicros(200))
  t.equal(new Set(outcomes.map(outcome => 'position' in outcome && outcome.position)).size, 1)
  t.same(await audit(log), [])
})

t.test('an append never exceeds the size limit of an event store', async t => {
  const base = await openFunded(t, 10_000)
  const sizes: number[] = []
  const log: EventLog = {
    ...base,
    append: (stream, events, expectedRevision) => {
      sizes.push(Buffer.byteLength(JSON.stringify(events)))
      return base.append(stream, events, expectedRevision)
    },
  }
  const mailbox = openMailbox(log)
  const metadata = { note: 'ö'.repeat(8000) }
  const outcomes = await Promise.all(upTo(150).map(run => mailbox.execute(queueRun({ run, metadata }))))
  t.ok(outcomes.every(outcome => 'accept' in outcome))
  t.ok(sizes.length > 4 && sizes.every(size => size < 1024 * 1024), sizes.join())
  t.same(
    (await eventsOf(log))
      .filter(({ type }) => type === 'RunQueued')
      .map(({ data }) => (data as { runId: string }).runId),
    upTo(150).map(run => runId(run)),
    'in the order of the requests',
  )
  t.same(await audit(log), [])
})

t.test('commands that arrive during an append share the next one', async t => {
  const base = await openFunded(t)
  const mailbox = openMailbox(base)
  await mailbox.balance()
  let late: Promise<unknown>[] = []
  const log = countingLog(
    faultyLog(base, async append => {
      late = upTo(50).map(() => slow.execute(grantCredits(1)))
      return append()
    }),
  )
  const slow = openMailbox(log)
  await slow.execute(grantCredits(1))
  await Promise.all(late)
  t.same(log.appends, [1, 50])
})

t.test('each command is decided on the state after the one before', async t => {
  const mailbox = openMailbox(await openFunded(t, 100))
  const outcomes = await Promise.all([1, 2, 3].map(run => mailbox.execute(queueRun({ run, credits: 60 }))))
  t.same(
    outcomes.map(outcome => ('refuse' in outcome ? outcome.refuse.code : 'accepted')),
    ['accepted', 'insufficient_credits', 'insufficient_credits'],
  )
  t.equal(await mailbox.balance(), toMicros(40))
})

t.test('an outcome holds the events and their position', async t => {
  const log = await openFunded(t)
  const mailbox = openMailbox(log)
  const outcome = await mailbox.execute(queueRun())
  t.match(outcome, { accept: [{ type: 'CreditsDebited' }, { type: 'RunQueued' }], position: await log.head() })
  t.equal(mailbox.position, await log.head())
})

t.test('a command is decided again after another writer has appended', async t => {
  const log = await openFunded(t, 100)
  const [one, other] = [openMailbox(log), openMailbox(log)]
  t.same(await Promise.all([one.balance(), other.balance()]), [toMicros(100), toMicros(100)])
  await one.execute(queueRun({ run: 1, credits: 60 }))
  t.match(await other.execute(queueRun({ run: 2, credits: 60 })), {
    refuse: { code: 'insufficient_credits', balanceMicros: toMicros(40) },
  })
  t.match(await other.execute(queueRun({ run: 3, credits: 40 })), { accept: [{}, {}] })
  t.equal(await other.balance(), 0)
  t.same(await audit(log), [])
})

t.test('concurrent writers all make progress and never spend the same credits twice', async t => {
  const log = await openFunded(t, 100)
  const mailboxes = upTo(4).map(() => openMailbox(log))
  const outcomes = await Promise.all(
    upTo(40).map(run => mailboxes[run % 4]?.execute(queueRun({ run: run + 1, credits: 5 }))),
  )
  t.equal(outcomes.filter(outcome => outcome && 'accept' in outcome).length, 20)
  t.same(await audit(log), [])
})

t.test('a refusal takes grants by other processes into account', async t => {
  const log = await openFunded(t, 0)
  const [stale, operator] = [openMailbox(log), openMailbox(log)]
  t.match(await stale.execute(queueRun()), { refuse: { code: 'insufficient_credits' } })
  await operator.execute(grantCredits(10))
  t.match(await stale.execute(queueRun()), { accept: [{}, {}] })
})

t.test('a repeated request gets a position that includes its run, even from another process', async t => {
  const log = await openFunded(t)
  const [one, other] = [openMailbox(log), openMailbox(log)]
  await Promise.all([one.balance(), other.balance()])
  const first = await one.execute(queueRun({ run: 1, key: 'a' }))
  const again = await other.execute(queueRun({ run: 2, key: 'a' }))
  t.match(again, { accept: [], repeatOf: runId(1) })
  t.ok('position' in again && 'position' in first && again.position >= first.position)
})

t.test('a command is decided in the time that its events record, however long it waited', async t => {
  const log = await openLog(t)
  const clock = new ManualClock(Date.parse('2026-11-25T23:59:59.000Z'))
  let isHeld = false
  let release: (() => void) | undefined
  const slow: EventLog = {
    ...log,
    append: async (...args) => {
      if (isHeld)
        await new Promise<void>(resolve => {
          release = resolve
        })
      return log.append(...args)
    },
  }
  const streams = new Streams({ decider: account, codec: eventCodec, log: slow, ...ambient(clock) })
  const mailbox = new Mailbox(STREAM, streams)
  const actor = { actor: { kind: 'key', keyId: keyId(1) } } as const
  const run = (number: number) => queueRun({ run: number, askedWith: 1 })
  const budget = { amountMicros: toMicros(10), period: 'day' } as const
  await mailbox.execute(openAccount(), cause)
  await mailbox.execute(createKey(1, 'full', { budget }), cause)
  t.match(await mailbox.execute(run(1), actor), { accept: [{}, {}] })
  t.match(await mailbox.execute(run(2), actor), { refuse: { code: 'budget_exceeded' } })

  isHeld = true
  const before = mailbox.execute(grantCredits(1), cause)
  await until('the append has begun', () => release)
  const waiting = mailbox.execute(run(3), actor)
  clock.advance(1_000)
  isHeld = false
  release?.()
  await before
  t.match(await waiting, { accept: [{ metadata: { at: '2026-11-26T00:00:00.000Z' } }, {}] })
  t.match(await mailbox.execute(run(4), actor), { refuse: { code: 'budget_exceeded' } }, 'it counts in the next day')
})

t.test('a full mailbox refuses commands and loses none that it accepted', async t => {
  const mailbox = openMailbox(await openFunded(t))
  const outcomes = await Promise.allSettled(upTo(2010).map(() => mailbox.execute(grantCredits(1))))
  const rejections = outcomes.filter(outcome => outcome.status === 'rejected')
  t.equal(rejections.length, 10)
  t.ok(rejections.every(({ reason }) => reason instanceof Unavailable))
  t.equal(await mailbox.balance(), toMicros(2100))
})

t.test('an append with a lost answer is settled by reading back', async t => {
  const log = await openFunded(t)
  const mailbox = openMailbox(faultyLog(log, answerLost))
  const outcome = await mailbox.execute(queueRun())
  t.match(outcome, { accept: [{}, {}], position: await log.head() })
  t.same(await typesOf(log), ['AccountOpened', 'CreditsGranted', 'CreditsDebited', 'RunQueued'])
  t.match(await mailbox.execute(grantCredits(1)), { accept: [{}] })
  t.same(await audit(log), [])
})

t.test('an append that was never written is retried and written once', async t => {
  const log = await openFunded(t)
  const outcome = await openMailbox(faultyLog(log, notWritten, answerLost)).execute(queueRun())
  t.match(outcome, { accept: [{}, {}], position: await log.head() })
  t.equal((await eventsOf(log)).length, 4)
  t.same(await audit(log), [])
})

t.test('a command is decided again when another writer took the place of its lost append', async t => {
  const log = await openFunded(t, 100)
  const other = openMailbox(log)
  const mailbox = openMailbox(
    faultyLog(log, async () => {
      await other.execute(queueRun({ run: 2, credits: 60 }))
      throw new Error('the connection broke before the append')
    }),
  )
  t.match(await mailbox.execute(queueRun({ run: 1, credits: 60 })), { refuse: { code: 'insufficient_credits' } })
  t.equal((await eventsOf(log)).length, 4)
})

t.test('an append with a lost answer is settled even if the log refuses writes', async t => {
  const log = await openFunded(t)
  const outcome = await openMailbox(faultyLog(log, answerLost, unavailable)).execute(queueRun())
  t.match(outcome, { accept: [{}, {}], position: await log.head() })
})

t.test('an append that arrives late succeeds even if the log refused writes in the meantime', async t => {
  const log = await openFunded(t)
  let late: () => Promise<AppendResult>
  const underWay: Fate = async append => {
    late = append
    throw new Error('the answer timed out')
  }
  const arrived: Fate = async append => {
    await late()
    return append()
  }
  const outcome = await openMailbox(faultyLog(log, underWay, unavailable, arrived)).execute(queueRun())
  t.match(outcome, { accept: [{}, {}], position: await log.head() })
  t.equal((await eventsOf(log)).length, 4)
})

t.test('a command that the log refuses to write changes nothing', async t => {
  const log = await openFunded(t)
  const mailbox = openMailbox(faultyLog(log, unavailable))
  await t.rejects(mailbox.execute(queueRun()), Unavailable)
  t.equal((await eventsOf(log)).length, 2)
  t.match(await mailbox.execute(queueRun()), { accept: [{}, {}] })
  t.equal(await mailbox.balance(), toMicros(90))
})

t.test('after a timeout the log is read again for the next command', async t => {
  const log = await openFunded(t)
  const mailbox = openMailbox(faultyLog(log, notWritten, notWritten, notWritten, notWritten, answerLost))
  await t.rejects(mailbox.execute(queueRun()), {
    name: 'Unavailable',
    message: /it is unknown whether the events were written/,
  })
  t.match(await mailbox.execute(queueRun({ run: 2 })), { accept: [{}, {}] })
  t.equal(await mailbox.balance(), toMicros(80))
  t.same(await audit(log), [])
})

/** An append that takes `ms`. */
const after =
  (ms: number): Fate =>
  async append => {
    await delay(ms)
    return append()
  }

t.test('a command that waited too long is refused before the batch ahead of it ends', async t => {
  const log = await openFunded(t)
  const mailbox = openMailbox(faultyLog(log, after(1000)), { maxWaitMs: 200 })
  const first = mailbox.execute(grantCredits(1))
  await delay(20)
  const order: string[] = []
  const second = mailbox.execute(grantCredits(1)).catch(error => order.push(error.message))
  await Promise.all([first.then(() => order.push('the first is done')), second])
  t.match(order, [/waited too long for the event log/, 'the first is done'])
})

t.test('only commands that waited too long are refused', async t => {
  const log = await openFunded(t)
  const counted = countingLog(faultyLog(log, after(1000)))
  const mailbox = openMailbox(counted, { maxWaitMs: 700 })
  const first = mailbox.execute(grantCredits(1))
  await delay(20)
  const late = Promise.allSettled(upTo(3).map(() => mailbox.execute(grantCredits(10))))
  await delay(700)
  const inTime = mailbox.execute(grantCredits(100))
  for (const { status, reason } of (await late) as PromiseRejectedResult[]) {
    t.equal(status, 'rejected')
    t.match(reason, { name: 'Unavailable', message: /waited too long for the event log/ })
  }
  t.match(await first, { accept: [{}] }, 'a slow append is not cancelled')
  t.match(await inTime, { accept: [{}] })
  t.same(counted.appends, [1, 1])
  t.equal(await mailbox.balance(), toMicros(201))
})

t.test('a command is not appended after a slow read', async t => {
  const slowly: ReadFate = async function* (pages) {
    await delay(200)
    yield* pages
  }
  const log = countingLog(faultyReads(await openFunded(t), slowly))
  const mailbox = openMailbox(log, { maxWaitMs: 100 })
  await t.rejects(mailbox.execute(grantCredits(1)), { name: 'Unavailable', message: /waited too long/ })
  t.same(log.appends, [])
  t.match(await mailbox.execute(grantCredits(1)), { accept: [{}] }, 'the state is kept for the next command')
})

t.test('a command is not decided again after a slow conflict', async t => {
  const log = await openFunded(t)
  const other = openMailbox(log)
  const overtaken: Fate = async append => {
    await other.execute(grantCredits(1))
    await delay(200)
    return append()
  }
  const mailbox = openMailbox(faultyLog(log, overtaken), { maxWaitMs: 100 })
  await t.rejects(mailbox.execute(grantCredits(10)), { name: 'Unavailable', message: /waited too long/ })
  t.equal(await other.balance(), toMicros(101))
})

t.test('during an outage a command does not wait for each of those ahead of it', async t => {
  const log = faultyReads(
    faultyLog(await openFunded(t), silentFor(1000)),
    sound,
    ...upTo(2).map(() => silentReadFor(1000)),
  )
  const mailbox = openMailbox(log, { maxWaitMs: 200, maxAppendMs: 300 })
  await mailbox.balance()
  const startMs = performance.now()
  const outcomes = await Promise.allSettled(upTo(1200).map(() => mailbox.execute(grantCredits(1))))
  const tookMs = performance.now() - startMs
  t.ok(tookMs < 900, `${tookMs} ms`)
  const reasons = outcomes.map(outcome => outcome.status === 'rejected' && (outcome.reason as Unavailable))
  t.ok(reasons.every(reason => reason instanceof Unavailable))
  const isInDoubt = reasons.map(reason => reason && /it is unknown whether/.test(reason.message))
  t.same([isInDoubt.indexOf(false), isInDoubt.lastIndexOf(true)], [500, 499], 'only sent commands are in doubt')
  t.equal(log.reads, 1, 'late commands cause no read')
})

t.test('the current state takes one read each time', async t => {
  const base = await openFunded(t, 100)
  const log = faultyReads(base)
  const mailbox = openMailbox(log)
  t.equal(await mailbox.currentBalance(), toMicros(100))
  t.equal(log.reads, 1)
  await openMailbox(base).execute(grantCredits(1))
  t.equal(await mailbox.balance(), toMicros(100))
  t.equal(await mailbox.currentBalance(), toMicros(101))
  t.equal(log.reads, 2)
})

t.test('recent states share reads, and take none while they are recent enough', async t => {
  const base = await openFunded(t, 100)
  const log = faultyReads(base)
  const mailbox = openMailbox(log)
  t.same(await Promise.all(upTo(5).map(() => mailbox.recentBalance(10_000))), Array(5).fill(toMicros(100)))
  t.equal(log.reads, 1)
  await openMailbox(base).execute(grantCredits(1))
  t.equal(await mailbox.recentBalance(10_000), toMicros(100))
  t.equal(log.reads, 1)
  t.equal(await mailbox.recentBalance(), toMicros(101))
})

for (const [name, ...earlier] of [['a first read'], ['a later read', sound]] as const)
  t.test(`a state is as old as the start of ${name}, however slow`, async t => {
    const base = await openFunded(t, 100)
    let grant = () => {}
    const granted = new Promise<void>(resolve => {
      grant = resolve
    })
    const slowly: ReadFate = async function* (pages) {
      const read = await collect(pages)
      await granted
      yield read
    }
    const mailbox = openMailbox(faultyReads(base, ...earlier, slowly))
    for (const _ of earlier) await mailbox.balance()
    const stale = mailbox.currentBalance()
    await openMailbox(base).execute(grantCredits(1))
    const grantedAtMs = performance.now()
    grant()
    t.equal(await stale, toMicros(100))
    t.equal(await mailbox.recentBalance(performance.now() - grantedAtMs), toMicros(101))
  })

t.test('while the log is unavailable, the last state is recent', async t => {
  const mailbox = openMailbox(faultyReads(await openFunded(t, 100), sound, unreadable))
  await mailbox.balance()
  t.equal(await mailbox.recentBalance(), toMicros(100))
})

t.test('while the log is silent, the last state is recent, and few reads wait', async t => {
  const base = await openFunded(t, 100)
  let end = () => {}
  const silence = new Promise<void>(resolve => {
    end = resolve
  })
  const silent: ReadFate = async function* (pages) {
    await silence
    yield* pages
  }
  const log = faultyReads(base, sound, ...upTo(100).map(() => silent))
  const mailbox = openMailbox(log)
  await mailbox.balance()
  await openMailbox(base).execute(grantCredits(1))
  for (const _ of upTo(200)) t.equal(await mailbox.recentBalance(), toMicros(100))
  t.ok(log.reads < 10, `${log.reads} reads`)
  end()
  await mailbox.currentBalance()
  t.equal(await mailbox.recentBalance(), toMicros(101))
})

t.test('a first read is awaited, however slow', async t => {
  const slowly: ReadFate = async function* (pages) {
    await delay(1000)
    yield* pages
  }
  t.equal(await openMailbox(faultyReads(await openFunded(t, 100), slowly)).recentBalance(), toMicros(100))
})

t.test('a command on a stream with a broken chain fails', async t => {
  const log = await openFunded(t)
  const [first, second] = await eventsOf(log)
  const forged = { ...second, id: crypto.randomUUID(), type: 'CreditsGranted' }
  await log.append(STREAM, [forged as NonNullable<typeof first>], 1)
  await t.rejects(openMailbox(log).execute(queueRun()), {
    name: 'Damaged',
    message: /damaged at revision 2: the chain is broken/,
  })
})
