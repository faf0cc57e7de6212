import t from 'tap'
import { account } from '../../../src/domain/account/account.ts'
import { MAX_TESTS } from '../../../src/domain/account/webhooks.ts'
import { opened, recordTest, requestTest, testRequested, webhookTested } from '../../support/account-samples.ts'
import { at, given, THEN_MS } from '../../support/given.ts'

const MINUTE_MS = 60_000
const HOUR_MS = 60 * MINUTE_MS

/** The first tests that an account may have in an hour, one a minute. */
const five = Array.from({ length: MAX_TESTS }, (_, index) => at(THEN_MS + index * MINUTE_MS, testRequested(index + 1)))

t.test('a test is counted when it is requested, whether or not it has a result', async t => {
  t.equal(MAX_TESTS, 5)
  given(account, opened(), ...five.slice(1))
    .when(requestTest(1))
    .then(testRequested(1))
  for (const results of [
    [],
    [webhookTested(1), webhookTested(2), webhookTested(3), webhookTested(4), webhookTested(5)],
  ])
    given(account, opened(), ...five, ...results)
      .when(requestTest(6), THEN_MS + 10 * MINUTE_MS)
      .refused('too_many_webhook_tests', { limit: 5, retryAfterMs: 50 * MINUTE_MS })
})

t.test('five tests are allowed in each hour', async () => {
  const full = given(account, opened(), ...five)
  full.when(requestTest(6), THEN_MS + HOUR_MS - 1).refused('too_many_webhook_tests', { limit: 5, retryAfterMs: 1 })
  full.when(requestTest(6), THEN_MS + HOUR_MS).then(testRequested(6))
  given(account, opened(), ...five, at(THEN_MS + HOUR_MS, testRequested(6)))
    .when(requestTest(7), THEN_MS + HOUR_MS)
    .refused('too_many_webhook_tests', { limit: 5, retryAfterMs: MINUTE_MS })
})

t.test('a clock that was far ahead does not use up the tests', async () => {
  const ahead = (ms: number) => five.map((_, index) => at(THEN_MS + ms, testRequested(index + 1)))
  given(account, opened(), ...ahead(24 * HOUR_MS))
    .when(requestTest(6))
    .then(testRequested(6))
  given(account, opened(), ...ahead(1000))
    .when(requestTest(6))
    .refused('too_many_webhook_tests', { limit: 5, retryAfterMs: HOUR_MS + 1000 })
})

t.test('a result is recorded once', async () => {
  given(account, opened(), testRequested()).when(recordTest()).then(webhookTested())
  given(account, opened(), testRequested(), webhookTested()).when(recordTest()).refused('webhook_not_pending')
  given(account, opened(), testRequested(2)).when(recordTest()).refused('webhook_not_pending')
})

t.test('the state holds no more tests than count', async t => {
  const many = Array.from({ length: 20 }, (_, index) => testRequested(index + 1))
  t.equal(given(account, opened(), ...many).state.webhookTests.length, MAX_TESTS)
})
