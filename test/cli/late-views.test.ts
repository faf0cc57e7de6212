import t from 'tap'
import { openAccounts, openFolder } from '../support/service.ts'
import { ScriptProcess } from '../support/service-process.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'

// Each command starts a process, and waits ten seconds for the views.
t.setTimeout(120_000)

t.test('without a projector, a command prints its result and warns, and the next one does not start', async t => {
  const folder = await temporaryFolder(t)
  const [{ accountId }] = await openAccounts(folder, { credits: 1 })
  const tollgate = (...args: string[]) => {
    const command = new ScriptProcess('src/cli.ts', args, { DATA_DIR: folder, ROLES: 'api' })
    t.teardown(() => command.end('SIGKILL'))
    return command.ended
  }
  const granted = await tollgate('credits', 'grant', accountId, '5', '--reason', 'a gift', '--json')
  t.match(granted, { code: 0, stderr: /^Warning: the service may not show the latest changes yet: / })
  const { reference, ...rest } = JSON.parse(granted.stdout)
  t.same(rest, { account_id: accountId, credits_granted: 5, repeated: false, credits_balance: 6 })
  t.type(reference, 'string')

  const late = await tollgate('accounts', 'list')
  t.match(late, { code: 1, stdout: '', stderr: /^the views are behind the log; .* projector/ })
  t.notMatch(late.stderr, /^ +at /m)

  const core = await openFolder(folder)
  t.teardown(() => core.close())
  t.equal((await core.accounts.state(accountId)).balanceMicros, 6_000_000)
})
