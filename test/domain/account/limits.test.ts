import t from 'tap'
import type { AccountEvent } from '../../../schemas/account-events.ts'
import { account } from '../../../src/domain/account/account.ts'
import { limitOf } from '../../../src/domain/account/limits.ts'
import {
  accepted,
  completed,
  failed,
  granted,
  keyCreated,
  keyId,
  limitsSet,
  opened,
  queueRun,
  refunded,
  setLimits,
  started,
} from '../../support/account-samples.ts'
import { at, given, THEN_MS } from '../../support/given.ts'

const funded = [opened(), granted(100), keyCreated(1), keyCreated(2)]
const runsInFlight = { perKey: 1, perAccount: 2 }

/** A run that a key has asked for. */
const acceptedOf = (key: number, run: number) =>
  accepted({ run, credits: 10, after: 100 - 10 * run }).map((event: AccountEvent) => {
    const past = at(THEN_MS, event)
    return { ...past, metadata: { ...past.metadata, actor: { kind: 'key', keyId: keyId(key) } } }
  })
const ask = (key: number | undefined, run: number) => ({
  ...queueRun({ run, credits: 1, ...(key && { askedWith: key }) }),
  runsInFlight,
})
const refusal = (of: string, limit: number) => ({ of, limit, retryAfterMs: 10_000 })

t.test('limits are set one by one, and the defaults hold again together', async () => {
  given(account, opened())
    .when(setLimits({ requestsPerMinute: 5 }))
    .then(limitsSet({ requestsPerMinute: 5 }))
  given(account, opened(), limitsSet({ requestsPerMinute: 5 }))
    .when(setLimits({ runsInFlight: 7 }))
    .then(limitsSet({ requestsPerMinute: 5, runsInFlight: 7 }))
  given(account, opened(), limitsSet({ requestsPerMinute: 5 }))
    .when(setLimits({ requestsPerMinute: 'default', runsInFlight: 7 }))
    .then(limitsSet({ runsInFlight: 7 }))
  given(account, opened(), limitsSet({ requestsPerMinute: 5 }))
    .when(setLimits('default'))
    .then(limitsSet({}))
})

t.test('an exception replaces the limits of the account and of its keys', async t => {
  const byDefault = { perKey: 1, perAccount: 2 }
  const { state } = given(account, opened(), limitsSet({ requestsPerMinute: 5 }))
  t.same(limitOf('requestsPerMinute', state, byDefault), { perKey: Number.POSITIVE_INFINITY, perAccount: 5 })
  t.same(limitOf('runsInFlight', state, byDefault), byDefault)
})

t.test('a key may have only so many runs in flight, and an account', async () => {
  given(account, ...funded, ...acceptedOf(1, 1))
    .when(ask(1, 2))
    .refused('too_many_runs_in_flight', refusal('key', 1))
  given(account, ...funded, ...acceptedOf(1, 1), ...acceptedOf(2, 2))
    .when(ask(undefined, 3))
    .refused('too_many_runs_in_flight', refusal('account', 2))
})

t.test('another key may go on, and the same one once its run has ended', async t => {
  const one = [...funded, ...acceptedOf(1, 1)]
  t.equal(given(account, ...one).when(ask(2, 2)).refusal, undefined)
  t.equal(given(account, ...one).when(ask(undefined, 2)).refusal, undefined, 'a signed-in owner uses no key')
  t.equal(given(account, ...one, started(), completed()).when(ask(1, 2)).refusal, undefined)
  const { state } = given(account, ...one, failed(), refunded(10, { after: 100 }))
  t.equal(state.openRunsOf.size, 0)
  t.equal(given(account, ...one).state.openRunsOf.get(keyId(1)), 1)
})

t.test('an exception is shared by all keys, and the last word', async () => {
  const two = [...funded, ...acceptedOf(1, 1), ...acceptedOf(1, 2)]
  given(account, ...two, limitsSet({ runsInFlight: 2 }))
    .when(ask(2, 3))
    .refused('too_many_runs_in_flight', refusal('account', 2))
})

t.test('without limits, all may run', async t => {
  const two = [...funded, ...acceptedOf(1, 1), ...acceptedOf(1, 2)]
  t.equal(given(account, ...two).when(queueRun({ run: 3, credits: 1, askedWith: 1 })).refusal, undefined)
  t.equal(given(account, ...two, limitsSet({ runsInFlight: 3 })).when(ask(1, 3)).refusal, undefined)
})
