import t, { type Test } from 'tap'
import { accountStream } from '../../../schemas/events.ts'
import { account } from '../../../src/domain/account/account.ts'
import { toMicros } from '../../../src/domain/money.ts'
import { link } from '../../../src/engine/log/hash-chain.ts'
import { Mailbox } from '../../../src/engine/streams/mailbox.ts'
import { Streams } from '../../../src/engine/streams/stream.ts'
import { type EventLog, type NewEvent, NO_STREAM } from '../../../src/ports/event-log.ts'
import { eventCodec } from '../../../src/services/event-codec.ts'
import { accountId, digest, grantCredits, openAccount } from '../../support/account-samples.ts'
import { collect } from '../../support/collect.ts'
import { ambient, openLog } from '../../support/engine.ts'
import { ManualClock } from '../../support/manual-clock.ts'

const STREAM = accountStream(accountId())
const MINUTE_MS = 60_000

const streamsOf = (log: EventLog) => new Streams({ decider: account, codec: eventCodec, log, ...ambient() })

/** An account in an empty log, by a clock that the test sets, with the warnings that were logged. */
const openMailbox = async (t: Test) => {
  const log = await openLog(t)
  const clock = new ManualClock()
  const warnings: unknown[] = []
  const logger = { warn: (...warning: unknown[]) => warnings.push(warning) }
  const mailbox = new Mailbox(
    STREAM,
    new Streams({ decider: account, codec: eventCodec, log, ...ambient(clock), logger }),
  )
  const execute = (command: Parameters<typeof mailbox.execute>[0]) =>
    mailbox.execute(command, { actor: { kind: 'service' } })
  const times = async () =>
    (await collect(log.readStream(STREAM, 0))).map(({ metadata }) => {
      const { at, clock } = metadata as { at: string; clock?: string }
      return clock === undefined ? { at } : { at, clock }
    })
  return { log, clock, warnings, execute, times }
}

t.test('where the clock is behind, an event has the time of the one before it, and the clock beside it', async t => {
  const { clock, warnings, execute, times } = await openMailbox(t)
  await execute(openAccount({ welcome: 0 }))
  await execute(grantCredits(1))
  t.same(warnings, [], 'the same time is not behind')
  clock.advance(-MINUTE_MS)
  await execute(grantCredits(2))
  clock.advance(30_000)
  await execute(grantCredits(3))
  clock.advance(MINUTE_MS)
  await execute(grantCredits(4))
  t.same(await times(), [
    { at: '2026-01-01T00:00:00.000Z' },
    { at: '2026-01-01T00:00:00.000Z' },
    { at: '2026-01-01T00:00:00.000Z', clock: '2025-12-31T23:59:00.000Z' },
    { at: '2026-01-01T00:00:00.000Z', clock: '2025-12-31T23:59:30.000Z' },
    { at: '2026-01-01T00:00:30.000Z' },
  ])
  const message = 'the clock is behind the event log; check the time of this machine'
  t.same(warnings, [[{ stream: STREAM, behindMs: MINUTE_MS }, message]], 'one warning for many events')
})

t.test('a process with a clock that is behind goes on after one that was ahead', async t => {
  const { log, clock, execute } = await openMailbox(t)
  clock.advance(MINUTE_MS)
  await execute(openAccount({ welcome: 0 }))
  const streams = streamsOf(log)
  const other = new Mailbox(STREAM, streams)
  await other.execute(grantCredits(1), { actor: { kind: 'service' } })
  const [, granted] = await collect(log.readStream(STREAM, 0))
  t.match(granted?.metadata, { at: '2026-01-01T00:01:00.000Z', clock: '2026-01-01T00:00:00.000Z' })
  t.equal((await streams.load(STREAM)).folded.state.balanceMicros, toMicros(1))
})

type Time = { format?: 2 | 3 | 4; at: string; clock?: string }

const at = (minutes: number): string => new Date(Date.UTC(2026, 0, 1, 0, minutes)).toISOString()
const format1 = (minutes: number): Time => ({ at: at(minutes) })
const format2 = (minutes: number): Time => ({ format: 2, at: at(minutes) })
const format3 = (minutes: number): Time => ({ format: 3, at: at(minutes) })
const format4 = (minutes: number): Time => ({ format: 4, at: at(minutes) })

/** Loads an account with an event for each of these times, well chained. */
const load = async (t: Test, ...times: Time[]) => {
  const log = await openLog(t)
  const events: NewEvent[] = []
  let previous: string | undefined
  for (const [revision, time] of times.entries()) {
    const id = crypto.randomUUID()
    const metadata = { ...time, actor: { kind: 'service' } }
    const unlinked = { id, stream: STREAM, revision, ...happened(revision), metadata }
    previous = link(previous, unlinked)
    events.push({ id, ...happened(revision), metadata: { ...metadata, hash: previous } })
  }
  await log.append(STREAM, events, NO_STREAM)
  return streamsOf(log).load(STREAM)
}

/** The account is opened, and then gets a microcredit with each event. */
const happened = (revision: number) =>
  revision === 0
    ? { type: 'AccountOpened', data: { accountId: accountId(), email: 'a@example.com', tester: false } }
    : { type: 'CreditsGranted', data: { amountMicros: 1, balanceAfterMicros: revision, reason: 'a test' } }

const sound: Record<string, Time[]> = {
  'format 1, in which time goes back': [format1(2), format1(1), format1(3)],
  'format 2 after format 1': [format1(1), format1(1), format2(1), format2(2)],
  'format 2 alone': [format2(1), format2(1), format2(2)],
  'format 3 after format 2': [format2(1), format2(2), format3(2), format3(3)],
  'format 4 after format 3': [format3(1), format3(2), format4(2), format4(3)],
}
for (const [name, times] of Object.entries(sound))
  t.test(`a stream is sound: ${name}`, async t => {
    const { folded } = await load(t, ...times)
    t.equal(folded.state.balanceMicros, times.length - 1)
    t.match(folded.last, { at: times.at(-1)?.at, format: times.at(-1)?.format ?? 1 })
  })

const damaged: Record<string, { times: Time[]; damage: string }> = {
  'the format falls': {
    times: [format1(1), format2(1), format1(2)],
    damage: `${STREAM} is damaged at revision 2: format 1 follows format 2`,
  },
  'the format falls again': {
    times: [format2(1), format3(1), format2(2)],
    damage: `${STREAM} is damaged at revision 2: format 2 follows format 3`,
  },
  'the format falls from the present one': {
    times: [format3(1), format4(1), format3(2)],
    damage: `${STREAM} is damaged at revision 2: format 3 follows format 4`,
  },
  'time goes back within format 2': {
    times: [format2(1), format2(3), format2(2)],
    damage: `${STREAM} is damaged at revision 2: its time ${at(2)} is before that of the event before it`,
  },
  'time goes back between the formats': {
    times: [format1(2), format2(1)],
    damage: `${STREAM} is damaged at revision 1: its time ${at(1)} is before that of the event before it`,
  },
}
for (const [name, { times, damage }] of Object.entries(damaged))
  t.test(`a stream is damaged where ${name}`, async t => {
    await t.rejects(load(t, ...times), { name: 'Damaged', message: damage })
  })

t.test('an event of a later format is named as unreadable', async t => {
  const log = await openLog(t)
  const metadata = { ...format2(1), format: 5, actor: { kind: 'service' }, hash: digest('a') }
  await log.append(STREAM, [{ id: crypto.randomUUID(), ...happened(0), metadata }], NO_STREAM)
  const place = `${STREAM} holds an unreadable AccountOpened at revision 0 (position 0)`
  const found = `${place}: it has ledger format 5, and this version knows none above 4`
  const message = `${found}; start the newer version that wrote it, or restore it from a backup`
  await t.rejects(streamsOf(log).load(STREAM), { name: 'Damaged', message })
})
