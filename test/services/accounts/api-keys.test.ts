import t from 'tap'
import type { KeyScope } from '../../../schemas/actor.ts'
import type { Caller } from '../../../src/services/caller.ts'
import { caughtUp } from '../../support/caught-up.ts'
import { openAccount, openFolder } from '../../support/service.ts'
import { temporaryFolder } from '../../support/temporary-folder.ts'
import { unwrap } from '../../support/unwrap.ts'

const core = await openFolder(await temporaryFolder(t))
t.teardown(() => core.close())
const { keys } = core.services
const place = { core, url: 'http://localhost' }

const open = async (scope: KeyScope) => {
  const { accountId, keyId } = await openAccount(place, { scope })
  const caller: Caller = { kind: 'key', accountId, keyId, scope }
  return { accountId, caller }
}

t.test('a keys key creates, lists and revokes keys of its account', async t => {
  const { accountId, caller } = await open('keys')
  const { keyId } = unwrap(await keys.create(caller, accountId, { name: 'reader', scope: 'read' }))
  await caughtUp(core)
  t.match(await keys.list(caller, accountId), { value: [{ scope: 'keys' }, { keyId, scope: 'read' }] })
  t.same(await keys.revoke(caller, accountId, keyId), { value: undefined })
})

t.test('a keys key cannot create keys of its own scope', async t => {
  const { accountId, caller } = await open('keys')
  const refused = await keys.create(caller, accountId, { name: 'successor', scope: 'keys' })
  t.same(refused, { refuse: { code: 'key_scope_not_grantable', scope: 'keys' } })
  const operator = { kind: 'operator', name: 'ada' } as const
  t.match(await keys.create(operator, accountId, { name: 'successor', scope: 'keys' }), { value: {} })
})

t.test('a keys key cannot reach other accounts', async t => {
  const { caller } = await open('keys')
  const { accountId: other } = await open('full')
  const refusal = { refuse: { code: 'account_not_found' } }
  t.same(await keys.create(caller, other, { name: 'mine' }), refusal)
  t.same(await keys.list(caller, other), refusal)
  t.same(await keys.revoke(caller, other, 'key_01h455vb4pex5vsknk084sn02q'), refusal)
})

t.test('keys of other scopes cannot manage keys', async t => {
  for (const scope of ['full', 'read'] as const) {
    const { accountId, caller } = await open(scope)
    t.same(await keys.list(caller, accountId), { refuse: { code: 'forbidden', scope } })
    t.same(await keys.create(caller, accountId, { name: 'another' }), { refuse: { code: 'forbidden', scope } })
  }
})

t.test('a malformed account id is reported as account_not_found', async t => {
  const operator = { kind: 'operator', name: 'ada' } as const
  for (const text of ['', 'acct_', '../x', 'a'.repeat(5000)])
    t.same(await keys.create(operator, text, { name: 'any' }), { refuse: { code: 'account_not_found' } })
})
