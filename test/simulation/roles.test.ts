import t, { type Test } from 'tap'
import type { Balance } from '../../schemas/api/balance.ts'
import { type Client, picture, sandbox } from '../support/client.ts'
import { openAccounts } from '../support/service.ts'
import { startServiceProcess } from '../support/service-process.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'

t.setTimeout(180_000)

/** Processes on the same stores, one for each list of roles, as a client of each sees them. */
const start = async (t: Test, ...roles: string[]) => {
  const folder = await temporaryFolder(t)
  const [customer] = await openAccounts(folder, { credits: 1000, tester: true })
  // A process without a projector waits for the views of another, so they all start together.
  const processes = await Promise.all(roles.map(each => startServiceProcess(t, folder, { ROLES: each })))
  const clients = processes.map(({ url }) => customer.at(url))
  return clients as [Client, Client, Client]
}

t.test('a process that only answers hears of what others do', async t => {
  const [client] = await start(t, 'api', 'projector', 'reactors')
  const done = await client.run(picture)
  t.match(done, { status: 200, body: { status: 'completed', credits_charged: 10 } })
  t.equal(await client.balance(), 990, 'and its reads show what it wrote')
  const failed = await client.run(sandbox({ outcome: 'provider_error' }))
  t.match(failed.body, { status: 'failed', credits_refunded: 1 })
  t.equal(await client.balance(), 990)
  const film = { model: 'seedance-1-5-pro', input: { prompt: 'waves', duration: 4, resolution: '480p' } }
  t.match(await client.run(film, { Prefer: 'wait=60' }), { status: 200, body: { status: 'completed' } })
})

t.test('a process without the role to answer says only that it lives', async t => {
  const [projector, reactors, api] = await start(t, 'projector', 'reactors', 'api')
  for (const client of [projector, reactors]) {
    t.equal((await client.send('/healthz')).status, 200)
    t.equal((await client.send('/readyz')).status, 200)
    // It is no service by the document, so it is asked without the check by it.
    t.equal((await fetch(`${client.url}/v1/balance`)).status, 404)
  }
  t.equal((await api.send('/v1/balance')).status, 200)
})

t.test('what was written through one process is seen through another by its position', async t => {
  const [one, other] = await start(t, 'api,projector,reactors', 'api')
  for (let spent = 1; spent <= 20; spent++) {
    const { headers } = await one.run(sandbox())
    const position = String(headers.get('Tollgate-Position'))
    t.match(position, /^\d+$/)
    const seen = await other.send<Balance>('/v1/balance', { headers: { 'Tollgate-Position': position } })
    t.equal(seen.body.credits_balance, 1000 - spent)
  }
  t.equal((await one.send('/v1/balance')).headers.get('Tollgate-Position'), null, 'a read has written nothing')
  for (const given of ['soon', '1.5', '99999999999999999999'])
    t.match(await one.send('/v1/balance', { headers: { 'Tollgate-Position': given } }), {
      status: 400,
      body: { error: { code: 'invalid_request', errors: [{ path: '/headers/Tollgate-Position' }] } },
    })
  t.equal((await one.send('/v1/balance', { headers: { 'Tollgate-Position': '1000000' } })).status, 503, 'not there yet')
})
