import t, { type Test } from 'tap'
import { accountStream } from '../../../schemas/recorded.ts'
import { account } from '../../../src/domain/account/account.ts'
import { toMicros } from '../../../src/domain/money.ts'
import { Mailbox } from '../../../src/engine/streams/mailbox.ts'
import { Streams } from '../../../src/engine/streams/stream.ts'
import { type EventLog, RevisionConflict } from '../../../src/ports/event-log.ts'
import { Unavailable } from '../../../src/ports/faults.ts'
import { accountId, grantCredits, openAccount } from '../../support/account-samples.ts'
import { collect } from '../../support/collect.ts'
import { openLog } from '../../support/engine.ts'
import {
  answerLost,
  changed,
  doubled,
  type Fate,
  faultyLog,
  faultyReads,
  notWritten,
  silentFor,
  silentReadFor,
  swapped,
  unavailable,
  unreadable,
  withoutFirst,
} from '../../support/faulty-log.ts'
import { ManualClock } from '../../support/manual-clock.ts'

const STREAM = accountStream(accountId())
const cause = { actor: { kind: 'service' } } as const
const IN_DOUBT = { name: 'Unavailable', message: /whether it has written is not known/ }

/** A log in which account 1 is open, with 103 credits: five events, the last of which has revision 4. */
const openFunded = async (t: Test) => {
  const log = await openLog(t)
  const mailbox = new Mailbox(STREAM, new Streams(account, log), new ManualClock())
  await mailbox.execute(openAccount({ welcome: 100 }), cause)
  for (let grant = 0; grant < 3; grant++) await mailbox.execute(grantCredits(1), cause)
  return log
}

const streamsOf = (log: EventLog, limits?: { maxAppendMs: number }) => new Streams(account, log, undefined, limits)

/** Appends a grant of a credit to the funded account. */
const grantOn = async (log: EventLog, base: EventLog, limits?: { maxAppendMs: number }) => {
  const streams = streamsOf(log, limits)
  const { folded } = await streamsOf(base).load(STREAM)
  const decision = account.decide(grantCredits(1), folded.state)
  if ('refuse' in decision) throw new TypeError(decision.refuse.code)
  const event = decision.accept[0] as (typeof decision.accept)[number]
  const extended = streams.extend(STREAM, folded, event, '2026-01-01T00:00:00.000Z', cause)
  return streams.append(STREAM, [extended.event], folded.revision)
}

const misplaced = {
  twice: { fate: doubled, damage: `${STREAM} has revision 0 where 1 belongs` },
  'in another order': { fate: swapped, damage: `${STREAM} has revision 4 where 0 belongs` },
  'with a gap': { fate: withoutFirst, damage: `${STREAM} has revision 1 where 0 belongs` },
}
for (const [name, { fate, damage }] of Object.entries(misplaced))
  t.test(`a stream that comes ${name} is read once more, and then counts as damaged`, async t => {
    const base = await openFunded(t)
    const healed = faultyReads(base, fate)
    const { folded } = await streamsOf(healed).load(STREAM)
    t.same(folded, (await streamsOf(base).load(STREAM)).folded)
    t.equal(folded.state.balanceMicros, toMicros(103))
    t.equal(healed.reads, 2)

    const damaged = faultyReads(base, fate, fate)
    await t.rejects(streamsOf(damaged).load(STREAM), { name: 'Damaged', message: damage })
    t.equal(damaged.reads, 2)
  })

t.test('an old event at the seam of a later read is nothing new', async t => {
  const log = await openFunded(t)
  const streams = streamsOf(log)
  const { folded } = await streams.load(STREAM)
  const [old] = await collect(log.readStream(STREAM, 4))
  await grantOn(log, log)
  const seam = faultyReads(
    log,
    changed(page => (old ? [old, ...page] : page)),
  )
  const later = await streamsOf(seam).load(STREAM, folded)
  t.same([later.folded.revision, later.folded.state.balanceMicros], [5, toMicros(104)])
})

t.test('an event that was changed is damage at once', async t => {
  const forged = faultyReads(
    await openFunded(t),
    changed(page => page.with(2, { ...page[1], revision: 2, position: 2 } as (typeof page)[number])),
  )
  await t.rejects(streamsOf(forged).load(STREAM), { name: 'Damaged', message: /broken at revision 2/ })
  t.equal(forged.reads, 1)
})

t.test('an append is found again among events that come twice', async t => {
  const base = await openFunded(t)
  const [old] = await collect(base.readStream(STREAM, 4))
  const seam = changed(page => (old ? [old, ...page, old] : page))
  // A server that has forgotten the ids calls the repetition a conflict.
  const conflict: Fate = async () => {
    throw new RevisionConflict(STREAM, 4)
  }
  const log = faultyReads(faultyLog(base, answerLost, conflict), seam)
  t.same(await grantOn(log, base), { revision: 5, position: await base.head() })
  t.equal(log.reads, 1)
})

t.test('an append that another outran conflicts, also when the log takes no more', async t => {
  const base = await openFunded(t)
  const outrun: Fate = async () => {
    await grantOn(base, base)
    throw new Error('the connection broke before the append')
  }
  await t.rejects(grantOn(faultyLog(base, outrun, unavailable), base), RevisionConflict)
})

t.test('a log that cannot be read back is asked again', async t => {
  const base = await openFunded(t)
  const log = faultyReads(faultyLog(base, answerLost, unavailable, unavailable), unreadable, unreadable)
  t.same(await grantOn(log, base), { revision: 5, position: await base.head() })
  t.equal(log.reads, 3)
})

t.test('an append without an answer is in doubt when the log cannot be read back either', async t => {
  const base = await openFunded(t)
  const log = faultyReads(faultyLog(base, answerLost, unavailable, unavailable), unreadable, unreadable)
  await t.rejects(grantOn(log, base, { maxAppendMs: 1000 }), IN_DOUBT)
  t.equal(log.reads, 2)
  t.equal((await collect(base.readStream(STREAM, 5))).length, 1, 'it was written')
})

t.test('a conflict that cannot be looked into is no conflict yet', async t => {
  const base = await openFunded(t)
  const conflict: Fate = async () => {
    throw new RevisionConflict(STREAM, 4)
  }
  const log = faultyReads(faultyLog(base, answerLost, conflict), unreadable)
  t.same(await grantOn(log, base), { revision: 5, position: await base.head() })
})

const silences: Record<string, (base: EventLog) => EventLog> = {
  'appends hang': base => faultyLog(base, silentFor(5000)),
  'appends take long to fail': base => faultyLog(base, silentFor(150), silentFor(150), silentFor(150)),
  'reads hang': base => faultyReads(faultyLog(base, notWritten, unavailable), silentReadFor(5000)),
}
for (const [name, silent] of Object.entries(silences))
  t.test(`where ${name} an append is given up in time`, async t => {
    const base = await openFunded(t)
    const startMs = performance.now()
    await t.rejects(grantOn(silent(base), base, { maxAppendMs: 400 }), IN_DOUBT)
    const tookMs = performance.now() - startMs
    t.ok(tookMs < 900, `${tookMs} ms`)
  })

t.test('nothing is sent any more once an append was given up', async t => {
  const base = await openFunded(t)
  let sent = 0
  const slow: Fate = async () => {
    sent += 1
    await new Promise(resolve => setTimeout(resolve, 300))
    throw new Error('no answer')
  }
  await t.rejects(grantOn(faultyLog(base, slow, slow, slow), base, { maxAppendMs: 200 }), IN_DOUBT)
  await new Promise(resolve => setTimeout(resolve, 800))
  t.equal(sent, 1)
})

t.test('a log that takes no writes is no reason to wait, or to doubt', async t => {
  const base = await openFunded(t)
  const failure = await grantOn(faultyLog(base, unavailable), base).catch(error => error)
  t.ok(failure instanceof Unavailable)
  t.notMatch(failure.message, /is not known/)
})
