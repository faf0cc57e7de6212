import { EventEmitter } from 'node:events'
import { setTimeout as delay } from 'node:timers/promises'
import shared from '@eventstore/db-client/generated/shared_pb.js'
import messages, { type BatchAppendReq } from '@eventstore/db-client/generated/streams_pb.js'
import t from 'tap'
import { Appends } from '../../../../src/adapters/event-log/eventstoredb/appends.ts'
import { toAppendMessage } from '../../../../src/adapters/event-log/eventstoredb/messages.ts'
import { NO_STREAM } from '../../../../src/ports/event-log.ts'
import { Unavailable } from '../../../../src/ports/faults.ts'
import {
  accessDenied,
  consumerTooSlow,
  maximumAppendSizeExceeded,
  notLeader,
  notReady,
  type Refusal,
  streamDeleted,
} from '../../../support/event-store/faults.ts'

// How the end of a call affects its appends, step by step. No server can be made to do this in a fixed order.

class Call extends EventEmitter {
  readonly written: BatchAppendReq[] = []
  isCancelled = false
  write(request: BatchAppendReq) {
    this.written.push(request)
  }
  cancel() {
    this.isCancelled = true
  }
  answer(index: number) {
    const id = this.written[index]?.getCorrelationId() ?? new shared.UUID()
    const success = new messages.BatchAppendResp.Success().setCurrentRevision('0')
    this.emit('data', new messages.BatchAppendResp().setCorrelationId(id).setSuccess(success))
  }
}

const open = (appendTimeoutMs = 1000) => {
  const call = new Call()
  const options = { slowAfterMs: 10_000, onSlow: () => undefined, appendTimeoutMs }
  const appends = new Appends(call as never, 'EventStoreDB at test', options)
  const append = (stream: string) => {
    const { message } = toAppendMessage(stream, [], NO_STREAM)
    return appends.append({ stream, expectedRevision: NO_STREAM, message }).catch(error => error)
  }
  return { call, appends, append }
}

const notSent = Object.assign(new Error(), { code: 14, details: 'No connection established. Last error: refused' })

t.test('the end of a call leaves every unanswered append in doubt, unless it rules out a write', async t => {
  const ends: [string, Error | Refusal, 'none' | 'one', boolean][] = [
    ['never sent', notSent, 'none', true],
    ['access denied before any answer', accessDenied(), 'none', true],
    ['access denied after an answer', accessDenied(), 'one', false],
    ['not ready before any answer', notReady(), 'none', false],
    ['too large', maximumAppendSizeExceeded(1), 'none', false],
    ['a stream was deleted', streamDeleted('account-1'), 'none', false],
    ['too slow', consumerTooSlow(), 'none', false],
    ['a broken connection', Object.assign(new Error('Connection dropped'), { code: 14 }), 'none', false],
  ]
  for (const [name, end, answers, isCertain] of ends) {
    const { call, append } = open()
    const appended = [append('account-1'), append('account-2'), append('account-3')]
    if (answers === 'one') call.answer(0)
    call.emit('error', end)
    for (const failure of (await Promise.all(appended)).slice(answers === 'one' ? 1 : 0))
      t.equal(failure instanceof Unavailable, isCertain, `${name}: ${failure.message}`)
  }
})

t.test('a server that does not lead has not written the only append of a call', async t => {
  const { call, append } = open()
  const [first, second] = [append('account-1'), append('account-2')]
  call.answer(0)
  await first
  call.emit('error', notLeader('127.0.0.1', 1))
  t.ok((await second) instanceof Unavailable)
})

t.test('after an append has timed out, the others are in doubt', async t => {
  const { call, append } = open(200)
  const givenUp = append('account-1')
  await delay(150)
  const other = append('account-2')
  t.match(await givenUp, { message: /did not answer an append within 200 ms/ })
  call.emit('error', notLeader('127.0.0.1', 1))
  t.notOk((await other) instanceof Unavailable, 'the server may have refused the append that timed out')
})

t.test('a call with a timed-out append accepts no more, and is cancelled once it is empty', async t => {
  // A busy machine may be a second late.
  const { call, appends, append } = open(3_000)
  const givenUp = append('account-1')
  await delay(1_500)
  const other = append('account-2')
  await givenUp
  t.equal(appends.isOpen, false)
  t.equal(call.isCancelled, false, 'another append is pending')
  call.answer(1)
  t.match(await other, { revision: 0 })
  t.equal(call.isCancelled, true)
})

t.test('responses to unknown appends are ignored', async t => {
  const { call, append } = open()
  const appended = append('account-1')
  call.emit('data', new messages.BatchAppendResp())
  call.emit('data', new messages.BatchAppendResp().setCorrelationId(new shared.UUID().setString(crypto.randomUUID())))
  call.answer(0)
  call.answer(0)
  t.match(await appended, { revision: 0 })
})
