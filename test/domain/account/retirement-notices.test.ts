import t from 'tap'
import { account } from '../../../src/domain/account/account.ts'
import { opened } from '../../support/account-samples.ts'
import { at, given, THEN_MS } from '../../support/given.ts'
import { modelRetiring, noticeRaised, noticesSet, raiseRetirement, retirementIn } from '../../support/notice-samples.ts'

const DAY_MS = 24 * 60 * 60 * 1000
const month = retirementIn(40)

t.test('a retirement is told of once at each step', async () => {
  const { when } = given(account, opened(), noticesSet())
  when(raiseRetirement(month), THEN_MS + 10 * DAY_MS - 1).refused('notice_not_due')
  const first = noticeRaised(1, modelRetiring(month, 30))
  when(raiseRetirement(month), THEN_MS + 10 * DAY_MS).then(first)
  const told = given(account, opened(), noticesSet(), first)
  told.when(raiseRetirement(month), THEN_MS + 33 * DAY_MS - 1).refused('notice_not_due')
  told.when(raiseRetirement(month), THEN_MS + 33 * DAY_MS).then(noticeRaised(2, modelRetiring(month, 7)))
  told.when(raiseRetirement(month), THEN_MS + 39 * DAY_MS).then(noticeRaised(2, modelRetiring(month, 1)))
  const last = noticeRaised(2, modelRetiring(month, 1))
  const { when: after } = given(account, opened(), noticesSet(), first, last)
  after(raiseRetirement(month), THEN_MS + 40 * DAY_MS - 1).refused('notice_not_due')
  when(raiseRetirement(month), THEN_MS + 40 * DAY_MS).refused('notice_not_due')
})

t.test('each model and time is told of by itself', async () => {
  const first = noticeRaised(1, modelRetiring(month, 30))
  const { when } = given(account, opened(), noticesSet(), first)
  for (const other of [retirementIn(41), { ...month, model: 'torch' }])
    when(raiseRetirement(other), THEN_MS + 12 * DAY_MS).then(noticeRaised(2, modelRetiring(other, 30)))
})

t.test('an account without notices is told of no retirement', async () => {
  given(account, opened(), noticesSet({ email: false }))
    .when(raiseRetirement(month), THEN_MS + 10 * DAY_MS)
    .refused('notice_not_due')
})

t.test('the state forgets models that have retired', async t => {
  const later = retirementIn(80)
  const { state } = given(
    account,
    ...[opened(), noticesSet(), noticeRaised(1, modelRetiring(month, 30))],
    at(THEN_MS + 50 * DAY_MS, noticeRaised(2, modelRetiring(later, 30))),
  )
  t.same([...state.retirementsTold], [[`lumen ${later.retiresAt}`, 30]])
})
