import t from 'tap'
import { account } from '../../../src/domain/account/account.ts'
import {
  accountId,
  completeRun,
  createKey,
  failRun,
  grantCredits,
  granted,
  openAccount,
  opened,
  queueRun,
  revokeKey,
  startRun,
  submitRun,
} from '../../support/account-samples.ts'
import { given } from '../../support/given.ts'

t.test('an account opens with its welcome credits', async () => {
  given(account)
    .when(openAccount({ welcome: 100 }))
    .then(opened(), granted(100, { reason: 'welcome' }))
})

t.test('a welcome of nothing is no grant', async () => {
  given(account)
    .when(openAccount({ welcome: 0, tester: true }))
    .then(opened({ tester: true }))
})

t.test('an account opens once, whoever asks', async () => {
  given(account, opened()).when(openAccount()).refused('account_exists')
  given(account, opened())
    .when(openAccount({ account: 2, welcome: 0 }))
    .refused('account_exists')
})

t.test('the state knows whose account it is', async t => {
  const { state } = given(account, opened({ account: 7, tester: true }))
  t.equal(state.accountId, accountId(7))
  t.equal(state.tester, true)
})

t.test('an account that was never opened takes no other command', async () => {
  const others = [
    ...[grantCredits(1), createKey(), revokeKey()],
    ...[queueRun(), startRun(), submitRun(), completeRun(), failRun()],
  ]
  for (const command of others) given(account).when(command).refused('account_not_found')
})
