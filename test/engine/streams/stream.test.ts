import t, { type Test } from 'tap'
import { accountStream } from '../../../schemas/events.ts'
import { account } from '../../../src/domain/account/account.ts'
import { toMicros } from '../../../src/domain/money.ts'
import { Mailbox } from '../../../src/engine/streams/mailbox.ts'
import { Streams } from '../../../src/engine/streams/stream.ts'
import { type EventLog, RevisionConflict } from '../../../src/ports/event-log.ts'
import { Unavailable } from '../../../src/ports/faults.ts'
import { eventCodec } from '../../../src/services/event-codec.ts'
import { accountId, grantCredits, openAccount } from '../../support/account-samples.ts'
import { collect } from '../../support/collect.ts'
import { ambient, openLog } from '../../support/engine.ts'
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

const STREAM = accountStream(accountId())
const cause = { actor: { kind: 'service' } } as const
const IN_DOUBT = { name: 'Unavailable', message: /it is unknown whether the events were written/ }

/** A log where account 1 is open with 103 credits: five events, revisions 0 to 4. */
const openFunded = async (t: Test) => {
  const log = await openLog(t)
  const mailbox = new Mailbox(STREAM, new Streams({ decider: account, codec: eventCodec, log, ...ambient() }))
  await mailbox.execute(openAccount({ welcome: 100 }), cause)
  for (let grant = 0; grant < 3; grant++) await mailbox.execute(grantCredits(1), cause)
  return log
}

const streamsOf = (log: EventLog, limits?: { maxAppendMs: number }) =>
  new Streams({ decider: account, codec: eventCodec, log, ...ambient(), ...limits })

/** Grants one credit to the funded account: decides on `base` and appends to `log`. */
const grantOn = async (log: EventLog, base: EventLog, limits?: { maxAppendMs: number }) => {
  const streams = streamsOf(log, limits)
  const { folded } = await streamsOf(base).load(STREAM)
  const decision = account.decide(grantCredits(1), folded.state, 0)
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
  t.test(`a stream read ${name} is read once more, then reported as damaged`, async t => {
    const base = await openFunded(t)
    const recovered = faultyReads(base, fate)
    const { folded } = await streamsOf(recovered).load(STREAM)
    t.same(folded, (await streamsOf(base).load(STREAM)).folded)
    t.equal(folded.state.balanceMicros, toMicros(103))
    t.equal(recovered.reads, 2)

    const damaged = faultyReads(base, fate, fate)
    await t.rejects(streamsOf(damaged).load(STREAM), { name: 'Damaged', message: damage })
    t.equal(damaged.reads, 2)
  })

t.test('an old event at the start of a later read is ignored', async t => {
  const log = await openFunded(t)
  const streams = streamsOf(log)
  const { folded } = await streams.load(STREAM)
  const [old] = await collect(log.readStream(STREAM, 4))
  await grantOn(log, log)
  const repeating = faultyReads(
    log,
    changed(page => (old ? [old, ...page] : page)),
  )
  const later = await streamsOf(repeating).load(STREAM, folded)
  t.same([later.folded.revision, later.folded.state.balanceMicros], [5, toMicros(104)])
})

t.test('a changed event is reported as damage at once', async t => {
  const forged = faultyReads(
    await openFunded(t),
    changed(page => page.with(2, { ...page[1], revision: 2, position: 2 } as (typeof page)[number])),
  )
  await t.rejects(streamsOf(forged).load(STREAM), {
    name: 'Damaged',
    message: /damaged at revision 2: the chain is broken/,
  })
  t.equal(forged.reads, 1)
})

t.test('an append is found among repeated events', async t => {
  const base = await openFunded(t)
  const [old] = await collect(base.readStream(STREAM, 4))
  const repeated = changed(page => (old ? [old, ...page, old] : page))
  // A server that has forgotten the ids reports the retry as a conflict.
  const conflict: Fate = async () => {
    throw new RevisionConflict(STREAM, 4)
  }
  const log = faultyReads(faultyLog(base, answerLost, conflict), repeated)
  t.same(await grantOn(log, base), { revision: 5, position: await base.head() })
  t.equal(log.reads, 1)
})

t.test('a lost append that another writer overtook is a conflict even if the log refuses writes', async t => {
  const base = await openFunded(t)
  const overtaken: Fate = async () => {
    await grantOn(base, base)
    throw new Error('the connection broke before the append')
  }
  await t.rejects(grantOn(faultyLog(base, overtaken, unavailable), base), RevisionConflict)
})

t.test('reading back is retried', async t => {
  const base = await openFunded(t)
  const log = faultyReads(faultyLog(base, answerLost, unavailable, unavailable), unreadable, unreadable)
  t.same(await grantOn(log, base), { revision: 5, position: await base.head() })
  t.equal(log.reads, 3)
})

t.test('an append is in doubt when neither the answer nor the log can be read', async t => {
  const base = await openFunded(t)
  const log = faultyReads(faultyLog(base, answerLost, unavailable, unavailable), unreadable, unreadable)
  await t.rejects(grantOn(log, base, { maxAppendMs: 1000 }), IN_DOUBT)
  // A busy machine leaves no time for the second one.
  t.ok(log.reads >= 1)
  t.equal((await collect(base.readStream(STREAM, 5))).length, 1, 'the event was written')
})

t.test('a conflict is not reported before the log could be read back', async t => {
  const base = await openFunded(t)
  const conflict: Fate = async () => {
    throw new RevisionConflict(STREAM, 4)
  }
  const log = faultyReads(faultyLog(base, answerLost, conflict), unreadable)
  t.same(await grantOn(log, base), { revision: 5, position: await base.head() })
})

const silences: Record<string, (base: EventLog) => EventLog> = {
  'appends hang': base => faultyLog(base, silentFor(5000)),
  'appends fail slowly': base => faultyLog(base, silentFor(150), silentFor(150), silentFor(150)),
  'reads hang': base => faultyReads(faultyLog(base, notWritten, unavailable), silentReadFor(5000)),
}
for (const [name, silent] of Object.entries(silences))
  t.test(`when ${name}, an append times out`, async t => {
    const base = await openFunded(t)
    const startMs = performance.now()
    await t.rejects(grantOn(silent(base), base, { maxAppendMs: 400 }), IN_DOUBT)
    const tookMs = performance.now() - startMs
    t.ok(tookMs < 900, `${tookMs} ms`)
  })

t.test('an append that timed out is not sent again', async t => {
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

t.test('an append to a log that refuses writes fails at once and is not in doubt', async t => {
  const base = await openFunded(t)
  const failure = await grantOn(faultyLog(base, unavailable), base).catch(error => error)
  t.ok(failure instanceof Unavailable)
  t.notMatch(failure.message, /it is unknown whether/)
})

t.test('other work is done between the pages of a long stream', async t => {
  const log = await openFunded(t)
  const events = await collect(log.readStream(STREAM, 0))
  let turns = 0
  async function* readStream() {
    for (const event of events) {
      setImmediate(() => {
        turns += 1
      })
      yield [event]
    }
  }
  const { folded } = await streamsOf({ ...log, readStream }).load(STREAM)
  t.equal(folded.revision, events.length - 1)
  t.ok(turns >= events.length - 1, 'between all of them')
})
