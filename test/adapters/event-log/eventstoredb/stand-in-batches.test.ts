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

// How the stand-in answers many appends on one call.

const open = async (t: Test, fates: (AppendFate | undefined)[] = []) => {
  const log = await openLog(t)
  const server = await startEventStoreServer({ log, faults: { append: () => fates.shift() } })
  t.teardown(() => server.close())
  const batch = openRawClient(t, server).batch()
  const written = async () => (await collect(log.readAll(BEFORE_FIRST))).map(({ stream }) => stream)
  return { log, server, written, ...batch }
}

t.test('ids are given back in the form in which they came', async t => {
  const { append, answers } = await open(t)
  const ids = [structured(), new shared.UUID().setString(crypto.randomUUID())]
  for (const id of ids) append('account-1', { id })
  await until(() => answers.length === 2)
  t.same(idsOf(answers), ids.map(formOf))
})

t.test('answers come in another order than the appends, and some never; what is written is in order', async t => {
  const { append, answers, written } = await open(t, [{ answeredAfterMs: 100 }, 'unanswered', undefined, 'unheard'])
  const ids = [1, 2, 3, 4].map(number => append(`account-${number}`, { revision: NO_STREAM }))
  await until(() => answers.length === 2)
  await delay(50)
  t.same(
    idsOf(answers),
    [ids[2], ids[0]].map(id => formOf(id as UUID)),
  )
  t.same(await written(), ['account-1', 'account-2', 'account-3'])
})

t.test('appends to one stream on one call need not wait for one another', async t => {
  const { append, answers } = await open(t)
  for (let revision = NO_STREAM; revision < 200; revision++) append('account-1', { revision })
  for (let more = 0; more < 20; more++) append('account-1', { events: 2 })
  append('account-1', { revision: 240 })
  await until(() => answers.length === 222)
  t.ok(answers.every(answer => answer.hasSuccess()))
  t.equal(answers.at(-1)?.getSuccess()?.getCurrentRevision(), '241')
})

t.test('one of many is refused as the server packs it, and the others are written', async t => {
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
  for (const [refuse, ...wanted] of refusals) {
    const { append, answers, written } = await open(t, [undefined, { refuse }, undefined])
    for (const number of [1, 2, 3]) append(`account-${number}`)
    await until(() => answers.length === 3)
    t.same(errorsOf(answers), [wanted])
    t.same(await written(), ['account-1', 'account-3'])
  }
})

t.test('a wrong expectation is refused, whether it is one or is only said to be', async t => {
  const { append, answers, written } = await open(t, [undefined, undefined, { wrongExpected: true, current: 7 }])
  for (const [index, revision] of [3, NO_STREAM, 0].entries()) {
    append('account-1', { revision })
    await until(() => answers.length === index + 1)
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

t.test('an append that is written may be said to have taken too long', async t => {
  const { append, answers, written } = await open(t, [{ writtenBut: timedOut() }])
  append('account-1')
  await until(() => answers.length === 1)
  t.match(errorsOf(answers), [['event_store.client.Timeout']])
  t.same(await written(), ['account-1'])
})

t.test('not-leader ends the whole call, whatever was written of the others', async t => {
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

t.test('an append in parts is one, and one whose rest never comes is answered with a timeout', async t => {
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
  await until(() => answers.length === 2)
  t.same(idsOf(answers), [formOf(whole), ['structured', toUuidText(cut)]], 'with an id in a form of its own')
  t.match(errorsOf(answers), [['event_store.client.Timeout']])
  t.same(await written(), ['account-1', 'account-1'])
  t.same(
    (await collect(log.readStream('account-1', 0))).map(event => event.id),
    eventIds.map(toUuidText),
    'whatever form their ids have',
  )
})

t.test('of a call whose client has ended its half, one more append is answered, and the rest is not', async t => {
  const { append, call, answers, ended, written } = await open(t, [{ answeredAfterMs: 50 }, { answeredAfterMs: 100 }])
  for (const number of [1, 2]) append(`account-${number}`)
  call.end()
  t.equal(await ended, undefined)
  t.equal(answers.length, 1)
  t.same(await written(), ['account-1', 'account-2'])
})

t.test('what is no append is a bad request', async t => {
  const { call, answers } = await open(t)
  const nameless = new messages.BatchAppendReq.Options().setAny(new shared.Empty())
  call.write(new messages.BatchAppendReq().setCorrelationId(structured()).setOptions(nameless).setIsFinal(true))
  await until(() => answers.length === 1)
  t.match(errorsOf(answers), [['event_store.client.BadRequest']])
})

const formOf = (id: UUID) => [id.hasStructured() ? 'structured' : 'text', toUuidText(id)]
const idsOf = (answers: BatchAppendResp[]) => answers.map(answer => formOf(answer.getCorrelationId() as UUID))
const errorsOf = (answers: BatchAppendResp[]) =>
  answers
    .flatMap(answer => answer.getError() ?? [])
    .map(error => [error.getDetails()?.getTypeName(), error.getCode(), error.getMessage()])

const until = async (holds: () => boolean) => {
  for (const started = performance.now(); !holds(); await delay(5))
    if (performance.now() - started > 5000) throw new Error('it has not come in five seconds')
}
