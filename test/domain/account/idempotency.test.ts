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

t.test('an idempotency key is remembered for 24 hours', async t => t.equal(REMEMBER_MS, 24 * 60 * 60 * 1000))

t.test('a repeated request returns the same run after the run has ended', async () => {
  once.when(queueRun({ run: 2, key: 'a' })).repeats(runId(1))
  once.when(queueRun({ run: 2, key: 'a' }), DAY_LATER - 1).repeats(runId(1))
})

t.test('a repeated request returns the same run after the credits are spent', async () => {
  once.when(queueRun({ run: 2, key: 'a', credits: 1000 })).repeats(runId(1))
})

t.test('a different request with the same key is refused', async () => {
  once.when(queueRun({ run: 2, key: 'a', hash: digest('c') })).refused('idempotency_mismatch')
})

t.test('a request with another key or without a key is a new run', async () => {
  for (const key of ['b', 'A', undefined])
    once.when(queueRun({ run: 2, key })).then(debited(10, { run: 2, after: 80 }), queued({ run: 2, key }))
})

t.test('a key can be reused after 24 hours', async () => {
  const again = queueRun({ run: 2, key: 'a', hash: digest('c') })
  once.when(again, DAY_LATER).then(debited(10, { run: 2, after: 80 }), queued({ run: 2, key: 'a', hash: digest('c') }))
})

t.test('a reused key is remembered for another 24 hours', async () => {
  const again = accepted({ run: 2, key: 'a', after: 80 }).map(event => at(DAY_LATER, event))
  given(account, opened(), granted(100), ...accepted({ key: 'a', after: 90 }), ...again)
    .when(queueRun({ run: 3, key: 'a' }), DAY_LATER + REMEMBER_MS - 1)
    .repeats(runId(2))
})

t.test('dropping an expired request is not dropping it early', async t => {
  const { state } = given(account, queued({ run: 1, key: 'a' }), at(DAY_LATER, queued({ run: 2, key: 'b' })))
  t.same([...state.requests.keys()], ['b'])
  t.equal(state.hasDroppedEarly, false)
})

t.test('a reused key does not keep expired requests in the state', async t => {
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

t.test('a full state drops its oldest request early and records that it has', async t => {
  let state = initialAccount
  const ask = (run: number, laterMs = 0) => {
    state = evolve(state, at(THEN_MS + laterMs, queued({ run, key: `key-${run}` })))
  }
  for (let run = 1; run <= MAX_REMEMBERED; run++) ask(run)
  t.equal(state.requests.size, MAX_REMEMBERED)
  t.equal(state.hasDroppedEarly, false)

  ask(MAX_REMEMBERED + 1)
  t.equal(state.requests.size, MAX_REMEMBERED)
  t.equal(state.hasDroppedEarly, true)
  t.notOk(state.requests.has('key-1'))
  t.ok(state.requests.has('key-2'))
  t.ok(state.requests.has(`key-${MAX_REMEMBERED + 1}`))

  ask(MAX_REMEMBERED + 2, REMEMBER_MS)
  t.equal(state.requests.size, 1, 'a day later only the newest request is left')
  t.equal(state.hasDroppedEarly, true, 'the record stays')
})
