import t, { type Test } from 'tap'
import type { Balance } from '../../schemas/api/balance.ts'
import { type Client, picture, sandbox } from '../support/client.ts'
import { openAccounts } from '../support/service.ts'
import { startServiceProcess } from '../support/service-process.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'

t.setTimeout(180_000)

/** Starts one process for each list of roles on the same stores, and returns a client for each. */
const start = async (t: Test, ...roles: string[]) => {
  const folder = await temporaryFolder(t)
  const [customer] = await openAccounts(folder, { credits: 1000, tester: true })
  // A process without a projector waits for another's views, so all start together.
  const processes = await Promise.all(roles.map(each => startServiceProcess(t, folder, { ROLES: each })))
  const clients = processes.map(({ url }) => customer.at(url))
  return clients as [Client, Client, Client]
}

t.test('a process with only the api role sees the work of others, which serve only the health check', async t => {
  const [client, ...others] = await start(t, 'api', 'projector', 'reactors')
  const done = await client.run(picture)
  t.match(done, { status: 200, body: { status: 'completed', credits_charged: 10 } })
  t.equal(await client.balance(), 990, 'its reads show its own writes')
  const failed = await client.run(sandbox({ outcome: 'provider_error' }))
  t.match(failed.body, { status: 'failed', credits_refunded: 1 })
  t.equal(await client.balance(), 990)
  const film = { model: 'gemini-omni-flash', input: { prompt: 'waves', duration: 4, resolution: '360p' } }
  t.match(await client.run(film, { Prefer: 'wait=60' }), { status: 200, body: { status: 'completed' } })

  for (const other of others) {
    t.equal((await other.send('/healthz')).status, 200)
    t.equal((await other.send('/readyz')).status, 200)
    // The OpenAPI document does not describe this process, so fetch skips the check against it.
    t.equal((await fetch(`${other.url}/v1/balance`)).status, 404)
  }
})

t.test('a read with Tollgate-Position sees the writes of another process', async t => {
  const [one, other] = await start(t, 'api,projector,reactors', 'api')
  for (let spent = 1; spent <= 20; spent++) {
    const { headers } = await one.run(sandbox())
    const position = String(headers.get('Tollgate-Position'))
    t.match(position, /^\d+$/)
    const seen = await other.send<Balance>('/v1/balance', { headers: { 'Tollgate-Position': position } })
    t.equal(seen.body.credits_balance, 1000 - spent)
  }
  t.equal((await one.send('/v1/balance')).headers.get('Tollgate-Position'), null, 'a read has written nothing')
  for (const given of ['soon', '1.5', '99999999999999999999', '1000000'])
    t.match(await one.send('/v1/balance', { headers: { 'Tollgate-Position': given } }), {
      status: 400,
      body: { error: { code: 'invalid_request', errors: [{ path: '/headers/Tollgate-Position' }] } },
    })
})
