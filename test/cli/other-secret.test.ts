import t from 'tap'
import { operatorOf } from '../support/operator.ts'
import { openAccount, openAccounts, openFolder } from '../support/service.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'

const MASTER_SECRET = 'another secret of more than 32 characters'

t.test('a command waits for the rebuild of views that another master secret signed', async t => {
  const folder = await temporaryFolder(t)
  const [{ accountId }] = await openAccounts(folder, {})
  for (const operator of [operatorOf(folder, { MASTER_SECRET }), operatorOf(folder)]) {
    t.match(await operator.json(t, 'accounts', 'list'), [{ account_id: accountId }])
    t.match(await operator.json(t, 'accounts', 'show', accountId), { account_id: accountId })
  }
})

t.test('a command that finds single rows which do not fit fails, and works once they are rebuilt', async t => {
  const folder = await temporaryFolder(t)
  const [{ accountId }] = await openAccounts(folder, {})
  const operator = operatorOf(folder)
  const core = await openFolder(folder, { environment: { MASTER_SECRET } })
  await openAccount({ core, url: '' })
  await core.close()
  t.match(await operator.refused(t, 'accounts', 'list'), /did not match the log .* Repeat the command/)
  t.match(await operator.json(t, 'accounts', 'list'), [{ account_id: accountId }, {}])
})
