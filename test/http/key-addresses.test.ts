import t from 'tap'
import { connect, request, revisions } from '../mcp/support.ts'
import { picture } from '../support/client.ts'
import { instantProvider, openAccount, openKey, startService } from '../support/service.ts'

const service = await startService(t, {
  environment: { TRUSTED_PROXIES: '127.0.0.1,198.51.100.0/24' },
  providers: { sandbox: instantProvider },
})
const owner = await openAccount(service)
const held = await openKey(service, owner, { addresses: ['203.0.113.0/24', '2001:db8::/32'] })
const local = await openKey(service, owner, { addresses: ['127.0.0.1'] })
const elsewhere = await openKey(service, owner, { addresses: ['192.0.2.1'] })

const from = (forwarded: string) => ({ headers: { 'X-Forwarded-For': forwarded } })

t.test('a key is refused from other addresses, with a message that names the address', async t => {
  const { status, body } = await held.send('/v1/balance', from('203.0.114.7'))
  t.match(
    { status, body },
    { status: 403, body: { error: { code: 'forbidden', message: /used from 203\.0\.114\.7: it is/ } } },
  )
  for (const address of ['203.0.113.7', '2001:db8::7', '::ffff:203.0.113.7'])
    t.equal((await held.send('/v1/balance', from(address))).status, 200, address)
})

t.test('the address is the last one that no trusted proxy has', async t => {
  const cases: [forwarded: string, status: number][] = [
    ['203.0.113.7, 198.51.100.9', 200],
    ['203.0.113.7, 192.0.2.1', 403],
    ['192.0.2.1, 203.0.113.7', 200],
    ['203.0.113.7, unknown', 403],
    ['nonsense', 403],
    ['192.0.2.1, 203.0.113.7:51234', 200],
    ['[2001:db8::7]:443, 198.51.100.9:443', 200],
    ['"203.0.113.7"', 200],
  ]
  for (const [forwarded, status] of cases)
    t.equal((await held.send('/v1/balance', from(forwarded))).status, status, forwarded)
  for (const forwarded of ['192.0.2.1:51234', '"[2001:db9::7]"', 'unknown', ''])
    t.equal((await local.send('/v1/balance', from(forwarded))).status, 403, `${forwarded} is not the proxy`)
  t.match((await local.send('/v1/balance', from('unknown'))).body.error.message, /used from an unknown address/)
  t.equal((await held.send('/v1/balance')).status, 403, 'the proxy itself')
  t.equal((await local.send('/v1/balance')).status, 200)
})

t.test('every request with the key is refused from elsewhere, before its body is read and without a trace', async t => {
  const activeKey = async () => (await service.core.accounts.state(owner.accountId)).activeKeys.get(elsewhere.keyId)
  const { headers, message } = request('2025-11-25', 'tools/list')
  const replies = [
    await elsewhere.send('/v1/key'),
    await elsewhere.run(picture),
    await elsewhere.post('/v1/run?dry_run=true', picture),
    await elsewhere.send('/v1/run', {
      method: 'POST',
      headers: { 'Content-Type': 'application/json' },
      body: 'no JSON',
    }),
    await elsewhere.send('/v1/runs/run_01h455vb4pex5vsknk084sn02q/events'),
    await elsewhere.post('/mcp', message, headers),
    await elsewhere.send('/llms.txt'),
  ]
  for (const { status, body } of replies) t.match({ status, code: body.error.code }, { status: 403, code: 'forbidden' })
  t.equal((await activeKey())?.usedOn, undefined)
})

for (const revision of revisions)
  t.test(`${revision}: tools can be called from an allowed address`, async t => {
    const client = await connect(t, local, revision)
    const result = await client.callTool({ name: 'get_balance', arguments: {} })
    t.notOk(result.isError)
    await t.rejects(connect(t, elsewhere, revision), /403|restricted to other addresses/)
  })

t.test('tools run and list only the models of a key', async t => {
  const limited = await openKey(service, owner, { models: ['gpt-6-1-terra'] })
  const client = await connect(t, limited, '2025-11-25')
  const refused = await client.callTool({ name: 'run_model', arguments: { ...picture } })
  t.match(JSON.stringify(refused.content), /forbidden.*restricted to gpt-6-1-terra/)
  const quoted = await client.callTool({ name: 'quote_run', arguments: { ...picture } })
  t.match(JSON.stringify(quoted.content), /forbidden/)
  const listed = await client.callTool({ name: 'list_models', arguments: { brief: true } })
  t.match(listed.structuredContent, { data: [{ id: 'gpt-6-1-terra' }] })
  t.equal((listed.structuredContent as { data: object[] }).data.length, 1)
})
