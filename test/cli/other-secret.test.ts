import { join } from 'node:path'
import t from 'tap'
import { openLmdbViewStore } from '../../src/adapters/view-store/lmdb.ts'
import type { Checkpoint } from '../../src/ports/view-store.ts'
import { operatorOf } from '../support/operator.ts'
import { openAccounts } from '../support/service.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'

const MASTER_SECRET = 'another secret of more than 32 characters'

t.test('a command with another master secret is refused, and harms nothing', async t => {
  const folder = await temporaryFolder(t)
  const [{ accountId }] = await openAccounts(folder, {})
  const other = operatorOf(folder, { MASTER_SECRET })
  t.match(await other.refused(t, 'accounts', 'show', accountId), /made with another MASTER_SECRET/)
  t.match(await operatorOf(folder).json(t, 'accounts', 'list'), [{ account_id: accountId }])
})

t.test('a command that finds single rows which do not fit fails, and works once they are rebuilt', async t => {
  const folder = await temporaryFolder(t)
  const [first, second] = await openAccounts(folder, {}, {})
  const [known = '', forged = ''] = [first.accountId, second.accountId].sort()
  const views = openLmdbViewStore(join(folder, 'views'))
  const at = (await views.checkpoint()) as Checkpoint
  const row = await views.get('accounts', known)
  await views.commit({ from: at, to: at, rows: [{ view: 'accounts', key: forged, row }], entries: [] })
  await views.close()
  const operator = operatorOf(folder)
  t.match(await operator.refused(t, 'accounts', 'list'), /did not match the log .* Repeat the command/)
  t.match(await operator.json(t, 'accounts', 'list'), [{ account_id: known }, { account_id: forged }])
})
