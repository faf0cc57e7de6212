import { join } from 'node:path'
import t from 'tap'
import { openLmdbEventLog } from '../../src/adapters/event-log/lmdb.ts'
import { Unavailable } from '../../src/ports/faults.ts'
import { openAccount, startService } from '../support/service.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'

t.test('a position that cannot be checked is neither accepted nor refused', async t => {
  const folder = await temporaryFolder(t)
  const log = openLmdbEventLog(join(folder, 'log'), error => t.fail(error.message))
  let answers = true
  const head = () => (answers ? log.head() : Promise.reject(new Unavailable('the log does not answer')))
  const service = await startService(t, { folder, log: { ...log, head } })
  const customer = await openAccount(service)
  answers = false
  const ahead = await customer.send('/v1/balance', { headers: { 'Tollgate-Position': '1000000' } })
  t.match(ahead, { status: 503, body: { error: { code: 'unavailable', message: /omit the header/ } } })
  answers = true
})
