import t from 'tap'
import type { RunList } from '../../schemas/api/run.ts'
import { type Client, picture, sandbox } from '../support/client.ts'
import { instantProvider, openAccount, startService } from '../support/service.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'

const service = await startService(t)

const withKey = (key: string) => ({ 'Idempotency-Key': key })
const countRuns = async (client: Client) => (await client.send<RunList>('/v1/runs')).body.data.length

t.test('a hundred requests with one key make one run', async t => {
  const customer = await openAccount(service)
  const replies = await Promise.all(Array.from({ length: 100 }, () => customer.run(picture, withKey('once'))))
  t.same(new Set(replies.map(reply => reply.status)), new Set([200]))
  t.equal(new Set(replies.map(reply => reply.text)).size, 1)
  t.equal(replies.filter(reply => reply.headers.get('Idempotent-Replayed') === 'true').length, 99)
  t.equal(await customer.balance(), 90)
  t.equal(await countRuns(customer), 1)
})

t.test('a different request with the same key is refused and not charged', async t => {
  const customer = await openAccount(service, { tester: true })
  const request = { ...sandbox(), metadata: { a: 1, b: [2] } }
  const { body: first } = await customer.run(request, withKey('used'))
  const others = [
    sandbox(),
    { ...request, metadata: { a: 1, b: [3] } },
    { ...request, input: { prompt: 'another' } },
    { ...request, model: 'nano' },
    { ...request, webhook_url: 'https://example.com/' },
  ]
  for (const other of others) {
    const { status, body } = await customer.run(other, withKey('used'))
    t.equal(status, 422)
    t.equal(body.error.code, 'idempotency_mismatch')
  }
  // The order of fields does not make a different request.
  const { metadata, model, input } = request
  const again = await customer.run({ metadata: { b: metadata.b, a: metadata.a }, input, model }, withKey('used'))
  t.same(again.body, first)
  t.equal(await customer.balance(), 99)
})

t.test('a key reused before its run has ended returns the same run', async t => {
  const customer = await openAccount(service, { tester: true })
  const request = sandbox({ delay_ms: 1500 })
  const first = await customer.run(request, { ...withKey('slow'), Prefer: 'wait=1' })
  t.equal(first.status, 202)
  const second = await customer.run(request, withKey('slow'))
  t.equal(second.status, 200)
  t.match(second.body, { run_id: first.body.run_id, status: 'completed' })
  t.equal(await customer.balance(), 99)
})

t.test('a failed run is replayed, not run again', async t => {
  const customer = await openAccount(service, { tester: true })
  const request = sandbox({ outcome: 'content_rejected' })
  const first = await customer.run(request, withKey('failed'))
  const second = await customer.run(request, withKey('failed'))
  t.equal(second.text, first.text)
  t.equal(await countRuns(customer), 1)
  t.equal(await customer.balance(), 100)
})

t.test('a refused request does not use up its key', async t => {
  const customer = await openAccount(service, { credits: 1, tester: true })
  t.equal((await customer.run(picture, withKey('free'))).status, 402)
  t.equal((await customer.run({ ...picture, input: {} }, withKey('free'))).status, 400)
  const { status, headers } = await customer.run(sandbox(), withKey('free'))
  t.equal(status, 200)
  t.equal(headers.get('Idempotent-Replayed'), null)
})

t.test('quotes around a key are ignored', async t => {
  const customer = await openAccount(service, { tester: true })
  const bare = await customer.run(sandbox(), withKey('quoted'))
  const quoted = await customer.run(sandbox(), withKey('"quoted"'))
  t.equal(quoted.body.run_id, bare.body.run_id)
  t.equal(quoted.headers.get('Idempotent-Replayed'), 'true')
})

t.test('a malformed key is refused and not charged', async t => {
  const customer = await openAccount(service, { tester: true })
  for (const key of ['', '""', 'a b', 'é', 'x'.repeat(256), `"${'x'.repeat(256)}"`]) {
    const { status, body } = await customer.run(sandbox(), withKey(key))
    t.equal(status, 400, JSON.stringify(key))
    t.match(body.error, { code: 'invalid_request', errors: [{ path: '/headers/Idempotency-Key' }] })
  }
  for (const key of ['x', 'x'.repeat(255), '!~"{}/\\,;='])
    t.equal((await customer.run(sandbox(), withKey(key))).status, 200, key)
  t.equal(await customer.balance(), 97)
})

t.test('two accounts can use the same key', async t => {
  const [one, other] = await Promise.all([openAccount(service), openAccount(service)])
  const [first, second] = await Promise.all([one.run(picture, withKey('ours')), other.run(picture, withKey('ours'))])
  t.not(first.body.run_id, second.body.run_id)
  t.equal(second.headers.get('Idempotent-Replayed'), null)
  t.equal(await other.balance(), 90)
})

t.test('a key is remembered across a restart', async t => {
  const folder = await temporaryFolder(t)
  // Addresses of results hold the service's own.
  const options = {
    folder,
    providers: { sandbox: instantProvider },
    environment: { CDN_URL: 'https://files.test' },
  }
  const before = await startService(t, options)
  const customer = await openAccount(before)
  const first = await customer.run(picture, withKey('kept'))
  await before.stop()

  const after = await startService(t, options)
  const again = customer.at(after.url)
  const second = await again.run(picture, withKey('kept'))
  t.same(second.body, first.body)
  t.equal(second.headers.get('Idempotent-Replayed'), 'true')
  t.equal((await again.run({ ...picture, metadata: {} }, withKey('kept'))).status, 422)
  t.equal(await again.balance(), 90)
})
