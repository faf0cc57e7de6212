import { setTimeout as delay } from 'node:timers/promises'
import shared, { type UUID } from '@eventstore/db-client/generated/shared_pb.js'
import messages, { type BatchAppendResp } from '@eventstore/db-client/generated/streams_pb.js'
import t, { type Test } from 'tap'
import { BEFORE_FIRST, NO_STREAM } from '../../../../src/ports/event-log.ts'
import { collect } from '../../../support/collect.ts'
import { openLog } from '../../../support/engine.ts'
import {
  type AppendFate,
  accessDenied,
  badRequest,
  maximumAppendSizeExceeded,
  noLeaderInfo,
  notLeader,
  notReady,
  type Refusal,
  serverBusy,
  streamDeleted,
  timedOut,
  unknown,
} from '../../../support/event-store/faults.ts'
import { openRawClient, structured } from '../../../support/event-store/raw-client.ts'
import { startEventStoreServer } from '../../../support/event-store/server.ts'
import { toUuidText } from '../../../support/event-store/uuids.ts'
import { until } from '../../../support/until.ts'

// How the stand-in answers batch appends.

const open = async (t: Test, fates: (AppendFate | undefined)[] = []) => {
  const log = await openLog(t)
  const server = await startEventStoreServer({ log, faults: { append: () => fates.shift() } })
  t.teardown(() => server.close())
  const batch = openRawClient(t, server).batch()
  const written = async () => (await collect(log.readAll(BEFORE_FIRST))).map(({ stream }) => stream)
  return { log, server, written, ...batch }
}

t.test('ids are returned in the form in which they were sent', async t => {
  const { append, answers } = await open(t)
  const ids = [structured(), new shared.UUID().setString(crypto.randomUUID())]
  for (const id of ids) append('account-1', { id })
  await until('2 answers arrive', () => answers.length === 2)
  t.same(idsOf(answers), ids.map(formOf))
})

t.test('responses may be reordered or lost; writes are in order', async t => {
  const { append, answers, written } = await open(t, [{ answeredAfterMs: 100 }, 'unanswered', undefined, 'unheard'])
  const ids = [1, 2, 3, 4].map(number => append(`account-${number}`, { revision: NO_STREAM }))
  await until('2 answers arrive', () => answers.length === 2)
  await delay(50)
  t.same(
    idsOf(answers),
    [ids[2], ids[0]].map(id => formOf(id as UUID)),
  )
  t.same(await written(), ['account-1', 'account-2', 'account-3'])
})

t.test('appends to one stream on one call need not wait for each other', async t => {
  const { append, answers } = await open(t)
  for (let revision = NO_STREAM; revision < 200; revision++) append('account-1', { revision })
  for (let more = 0; more < 20; more++) append('account-1', { events: 2 })
  append('account-1', { revision: 240 })
  await until('222 answers arrive', () => answers.length === 222)
  t.ok(answers.every(answer => answer.hasSuccess()))
  t.equal(answers.at(-1)?.getSuccess()?.getCurrentRevision(), '241')
})

t.test('a single append is refused like by the server, and the others are written', async t => {
  const refusals: [Refusal, string, number, string][] = [
    [accessDenied(), 'event_store.client.AccessDenied', 7, 'AccessDenied'],
    [streamDeleted('account-2'), 'event_store.client.StreamDeleted', 5, 'StreamDeleted'],
    [timedOut(), 'event_store.client.Timeout', 4, 'Timeout'],
    [unknown(new Error('x')), 'event_store.client.Unknown', 2, 'Unknown'],
    [maximumAppendSizeExceeded(9), 'event_store.client.MaximumAppendSizeExceeded', 3, 'MaximumAppendSizeExceeded'],
    [badRequest('x'), 'event_store.client.BadRequest', 3, 'BadRequest'],
    [notReady(), 'google.protobuf.Empty', 0, 'Server Is Not Ready'],
    [serverBusy(), 'google.protobuf.Empty', 0, 'Server Is Busy'],
    [noLeaderInfo(), 'google.protobuf.Empty', 0, 'No leader info available in response'],
  ]
  for (const [refuse, ...expected] of refusals) {
    const { append, answers, written } = await open(t, [undefined, { refuse }, undefined])
    for (const number of [1, 2, 3]) append(`account-${number}`)
    await until('3 answers arrive', () => answers.length === 3)
    t.same(errorsOf(answers), [expected])
    t.same(await written(), ['account-1', 'account-3'])
  }
})

t.test('a wrong expected revision is refused, whether real or injected', async t => {
  const { append, answers, written } = await open(t, [undefined, undefined, { wrongExpected: true, current: 7 }])
  for (const [index, revision] of [3, NO_STREAM, 0].entries()) {
    append('account-1', { revision })
    await until('the next answer arrives', () => answers.length === index + 1)
  }
  t.same(
    errorsOf(answers),
    Array.from({ length: 2 }, () => ['event_store.client.WrongExpectedVersion', 6, 'WrongExpectedVersion']),
  )
  const details = answers.flatMap(answer => answer.getError()?.getDetails() ?? [])
  const unpacked = details.map(detail =>
    detail.unpack(shared.WrongExpectedVersion.deserializeBinary, 'event_store.client.WrongExpectedVersion'),
  )
  t.ok(unpacked[0]?.hasCurrentNoStream())
  t.equal(unpacked[1]?.getCurrentStreamRevision(), '7')
  t.equal(unpacked[1]?.getExpectedStreamPosition(), '0')
  t.same(await written(), ['account-1'])
})

t.test('a written append may report a timeout', async t => {
  const { append, answers, written } = await open(t, [{ writtenBut: timedOut() }])
  append('account-1')
  await until('1 answers arrive', () => answers.length === 1)
  t.match(errorsOf(answers), [['event_store.client.Timeout']])
  t.same(await written(), ['account-1'])
})

t.test('not-leader ends the whole call, whatever was written', async t => {
  const refuse = notLeader('127.0.0.1', 2113)
  const whole = await open(t, [{ answeredAfterMs: 50 }, { afterMs: 50 }, 'unheard', { refuse }])
  for (const number of [1, 2, 3, 4]) whole.append(`account-${number}`)
  const other = await open(t, [{ writtenBut: refuse }])
  other.append('account-5')
  for (const { ended, answers } of [whole, other]) {
    const failure = await ended
    t.match(failure, { code: 5, details: 'Leader info available' })
    t.equal(failure?.metadata.get('exception')[0], 'not-leader')
    t.same(answers, [])
  }
  await delay(100)
  t.same(await whole.written(), ['account-1', 'account-2'])
  t.same(await other.written(), ['account-5'])
})

t.test('an append in parts is one append, and an incomplete one times out', async t => {
  const { call, answers, written, log } = await open(t)
  const options = () =>
    new messages.BatchAppendReq.Options()
      .setStreamIdentifier(new shared.StreamIdentifier().setStreamName(Buffer.from('account-1')))
      .setAny(new shared.Empty())
  const id = () => new shared.UUID().setString(crypto.randomUUID())
  const [whole, cut] = [id(), id()]
  call.write(new messages.BatchAppendReq().setCorrelationId(cut).setOptions(options()))
  call.write(new messages.BatchAppendReq().setCorrelationId(whole).setOptions(options()))
  const eventIds = [id(), structured()]
  for (const [index, isFinal] of [false, true].entries()) {
    const proposal = new messages.BatchAppendReq.ProposedMessage().setId(eventIds[index]).setData(Buffer.from('{}'))
    proposal.getMetadataMap().set('type', 'SomethingHappened').set('content-type', 'application/json')
    const part = new messages.BatchAppendReq().setCorrelationId(whole).setIsFinal(isFinal)
    call.write(part.setProposedMessagesList([proposal]))
  }
  await until('2 answers arrive', () => answers.length === 2)
  t.same(idsOf(answers), [formOf(whole), ['structured', toUuidText(cut)]], 'with an id in the server’s own form')
  t.match(errorsOf(answers), [['event_store.client.Timeout']])
  t.same(await written(), ['account-1', 'account-1'])
  t.same(
    (await collect(log.readStream('account-1', 0))).map(event => event.id),
    eventIds.map(toUuidText),
    'in any form of id',
  )
})

t.test('after the client ends its half of a call, one more append is answered, and the rest is not', async t => {
  const { append, call, answers, ended, written } = await open(t, [{ answeredAfterMs: 50 }, { answeredAfterMs: 100 }])
  for (const number of [1, 2]) append(`account-${number}`)
  call.end()
  t.equal(await ended, undefined)
  t.equal(answers.length, 1)
  t.same(await written(), ['account-1', 'account-2'])
})

t.test('an invalid append is a bad request', async t => {
  const { call, answers } = await open(t)
  const nameless = new messages.BatchAppendReq.Options().setAny(new shared.Empty())
  call.write(new messages.BatchAppendReq().setCorrelationId(structured()).setOptions(nameless).setIsFinal(true))
  await until('1 answers arrive', () => answers.length === 1)
  t.match(errorsOf(answers), [['event_store.client.BadRequest']])
})

const formOf = (id: UUID) => [id.hasStructured() ? 'structured' : 'text', toUuidText(id)]
const idsOf = (answers: BatchAppendResp[]) => answers.map(answer => formOf(answer.getCorrelationId() as UUID))
const errorsOf = (answers: BatchAppendResp[]) =>
  answers
    .flatMap(answer => answer.getError() ?? [])
    .map(error => [error.getDetails()?.getTypeName(), error.getCode(), error.getMessage()])
