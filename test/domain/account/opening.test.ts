import t from 'tap'
import { account } from '../../../src/domain/account/account.ts'
import {
  accountId,
  completeRun,
  createKey,
  failRun,
  grantCredits,
  openAccount,
  opened,
  queueRun,
  revokeKey,
  startRun,
  submitRun,
  welcomed,
} from '../../support/account-samples.ts'
import { given } from '../../support/given.ts'

t.test('an account opens with its welcome credits', async () => {
  given(account)
    .when(openAccount({ welcome: 100 }))
    .then(opened(), welcomed(100))
})

t.test('opening an account without welcome credits records no grant', async () => {
  given(account)
    .when(openAccount({ welcome: 0, tester: true }))
    .then(opened({ tester: true }))
})

t.test('an account opens only once', async () => {
  given(account, opened()).when(openAccount()).refused('account_exists')
  given(account, opened())
    .when(openAccount({ account: 2, welcome: 0 }))
    .refused('account_exists')
})

t.test('the state holds the account id and whether the account is a tester', async t => {
  const { state } = given(account, opened({ account: 7, tester: true }))
  t.equal(state.accountId, accountId(7))
  t.equal(state.tester, true)
})

t.test('an unopened account refuses every other command', async () => {
  const others = [
    ...[grantCredits(1), createKey(), revokeKey()],
    ...[queueRun(), startRun(), submitRun(), completeRun(), failRun()],
  ]
  for (const command of others) given(account).when(command).refused('account_not_found')
})
