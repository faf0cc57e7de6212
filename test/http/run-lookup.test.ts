import t from 'tap'
import { TypeID } from 'typeid-js'
import { sandbox } from '../support/client.ts'
import { openAccount, startService } from '../support/service.ts'

const service = await startService(t)
const customer = await openAccount(service, { tester: true })
const stranger = await openAccount(service)
const { body: run } = await customer.run(sandbox())
const uuid = TypeID.fromString(run.run_id).toUUID()

t.test('a run is found by either form of its id', async t => {
  for (const id of [run.run_id, uuid, uuid.toUpperCase()]) {
    const { status, body } = await customer.send(`/v1/runs/${id}`)
    t.equal(status, 200, id)
    t.same(body, run)
  }
})

t.test('a malformed run id returns 404', async t => {
  const absent = [
    run.run_id.toUpperCase(),
    run.run_id.replace('run_', 'key_'),
    run.run_id.slice(0, -1),
    `${run.run_id}0`,
    `${run.run_id}%2f`,
    `${run.run_id}%00`,
    `%2f..%2f${run.run_id}`,
    `%20${run.run_id}`,
    `{${uuid}}`,
    uuid.replaceAll('-', ''),
    '%ff',
    'run_81h455vb4pex5vsknk084sn02q',
    '0'.repeat(5000),
  ]
  for (const id of absent) {
    const { status, text } = await customer.sendRaw(`/v1/runs/${id}`)
    t.equal(status, 404, id)
    t.equal(JSON.parse(text).error.code, 'run_not_found', id)
  }
})

t.test('a run of another account is reported as absent', async t => {
  const headers = { 'X-Request-Id': 'same' }
  const missing = 'run_01h455vb4pex5vsknk084sn02q'
  const absent = await stranger.send(`/v1/runs/${missing}`, { headers })
  for (const id of [run.run_id, uuid]) {
    const foreign = await stranger.send(`/v1/runs/${id}`, { headers })
    t.equal(foreign.status, 404)
    t.equal(foreign.text, absent.text)
    t.same(comparable(foreign.headers), comparable(absent.headers))
  }
})

const comparable = (headers: Headers) =>
  Object.fromEntries([...headers].filter(([name]) => !['date', 'ratelimit'].includes(name)))
