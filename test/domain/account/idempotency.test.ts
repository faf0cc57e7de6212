import t from 'tap'
import { account } from '../../../src/domain/account/account.ts'
import { evolve } from '../../../src/domain/account/evolve.ts'
import { initialAccount, MAX_REMEMBERED, REMEMBER_MS } from '../../../src/domain/account/state.ts'
import {
  accepted,
  completed,
  debited,
  digest,
  granted,
  opened,
  queued,
  queueRun,
  runId,
  started,
} from '../../support/account-samples.ts'
import { at, given, THEN_MS } from '../../support/given.ts'

const DAY_LATER = THEN_MS + REMEMBER_MS
const once = given(account, opened(), granted(100), ...accepted({ key: 'a', after: 90 }), started(), completed())

t.test('a key is remembered for a day', async t => t.equal(REMEMBER_MS, 24 * 60 * 60 * 1000))

t.test('the same request gets the same run, also when it is over', async () => {
  once.when(queueRun({ run: 2, key: 'a' })).repeats(runId(1))
  once.when(queueRun({ run: 2, key: 'a', atMs: DAY_LATER - 1 })).repeats(runId(1))
})

t.test('the same request gets the same run, also when the credits are gone', async () => {
  once.when(queueRun({ run: 2, key: 'a', credits: 1000 })).repeats(runId(1))
})

t.test('another request under the key is refused', async () => {
  once.when(queueRun({ run: 2, key: 'a', hash: digest('c') })).refused('idempotency_mismatch')
})

t.test('another key, or none, is another run', async () => {
  for (const key of ['b', 'A', undefined])
    once.when(queueRun({ run: 2, key })).then(debited(10, { run: 2, after: 80 }), queued({ run: 2, key }))
})

t.test('after 24 hours the key is free', async () => {
  const again = queueRun({ run: 2, key: 'a', hash: digest('c'), atMs: DAY_LATER })
  once.when(again).then(debited(10, { run: 2, after: 80 }), queued({ run: 2, key: 'a', hash: digest('c') }))
})

t.test('a key that was used again counts from its new use', async () => {
  const again = accepted({ run: 2, key: 'a', after: 80 }).map(event => at(DAY_LATER, event))
  given(account, opened(), granted(100), ...accepted({ key: 'a', after: 90 }), ...again)
    .when(queueRun({ run: 3, key: 'a', atMs: DAY_LATER + REMEMBER_MS - 1 }))
    .repeats(runId(2))
})

t.test('a request is forgotten when its day is over, without the state becoming forgetful', async t => {
  const { state } = given(account, queued({ run: 1, key: 'a' }), at(DAY_LATER, queued({ run: 2, key: 'b' })))
  t.same([...state.requests.keys()], ['b'])
  t.equal(state.forgetful, false)
})

t.test('a key that was used again does not keep older ones from being forgotten', async t => {
  const HOUR_MS = 60 * 60 * 1000
  const { state } = given(
    account,
    queued({ run: 1, key: 'a' }),
    at(THEN_MS + HOUR_MS, queued({ run: 2, key: 'b' })),
    at(DAY_LATER, queued({ run: 3, key: 'a' })),
    at(DAY_LATER + HOUR_MS, queued({ run: 4, key: 'c' })),
  )
  t.same([...state.requests.keys()], ['a', 'c'])
})

t.test('past its cap the state lets go of the oldest request and knows that it is forgetful', async t => {
  let state = initialAccount
  const ask = (run: number, laterMs = 0) => {
    state = evolve(state, at(THEN_MS + laterMs, queued({ run, key: `key-${run}` })))
  }
  for (let run = 1; run <= MAX_REMEMBERED; run++) ask(run)
  t.equal(state.requests.size, MAX_REMEMBERED)
  t.equal(state.forgetful, false)

  ask(MAX_REMEMBERED + 1)
  t.equal(state.requests.size, MAX_REMEMBERED)
  t.equal(state.forgetful, true)
  t.notOk(state.requests.has('key-1'))
  t.ok(state.requests.has('key-2'))
  t.ok(state.requests.has(`key-${MAX_REMEMBERED + 1}`))

  ask(MAX_REMEMBERED + 2, REMEMBER_MS)
  t.equal(state.requests.size, 1, 'a day later only the new one is left')
  t.equal(state.forgetful, true, 'and what was forgotten before stays so')
})
