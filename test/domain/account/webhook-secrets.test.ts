import t from 'tap'
import { account } from '../../../src/domain/account/account.ts'
import { OVERLAP_MS, overlapEndMs, signingGenerations } from '../../../src/domain/account/webhooks.ts'
import { opened, rotateSecret, secretRotated } from '../../support/account-samples.ts'
import { at, given, THEN_MS } from '../../support/given.ts'

const rotated = given(account, opened(), at(THEN_MS, secretRotated(1)))

t.test('the first secret is generation 0, and each rotation makes the next one', async t => {
  const first = given(account, opened())
  for (const nowMs of [0, THEN_MS]) t.same(signingGenerations(first.state, nowMs), [0])
  first.when(rotateSecret()).then(secretRotated(1))
  rotated.when(rotateSecret(), THEN_MS + OVERLAP_MS).then(secretRotated(2))
})

t.test('the secret before signs beside the new one for 24 hours', async t => {
  const { state } = rotated
  for (const passedMs of [0, 1000, OVERLAP_MS - 1]) {
    t.same(signingGenerations(state, THEN_MS + passedMs), [1, 0])
    t.equal(overlapEndMs(state, THEN_MS + passedMs), THEN_MS + OVERLAP_MS)
  }
  t.same(signingGenerations(state, THEN_MS + OVERLAP_MS), [1])
  t.equal(overlapEndMs(state, THEN_MS + OVERLAP_MS), undefined)
  t.equal(OVERLAP_MS, 24 * 60 * 60 * 1000)
})

t.test('there is one rotation at a time', async () => {
  rotated.when(rotateSecret(), THEN_MS + OVERLAP_MS - 1).refused('webhook_secret_rotated', { retryAfterMs: 1 })
})

t.test('a clock that was far ahead does not prolong the overlap', async t => {
  const ahead = given(account, opened(), at(THEN_MS + 10 * OVERLAP_MS, secretRotated(1)))
  t.same(signingGenerations(ahead.state, THEN_MS), [1])
  ahead.when(rotateSecret()).then(secretRotated(2))
  const slightly = given(account, opened(), at(THEN_MS + 1000, secretRotated(1)))
  t.same(signingGenerations(slightly.state, THEN_MS), [1, 0])
})
