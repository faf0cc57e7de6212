import t from 'tap'
import { createReplicateCallback } from '../../../../src/adapters/provider/replicate/callback.ts'
import { PREDICTION, REPLICATE_BODY, replicateCallback } from '../../../support/vendors/callbacks.ts'
import { REPLICATE_KEY, startReplicate } from '../../../support/vendors/replicate.ts'
import { deadAddress, vendorDependencies } from '../../../support/vendors/vendor-parts.ts'

const NOW_MS = Date.parse('2026-11-24T04:00:00Z')
const MINUTE_MS = 60_000

const ID = PREDICTION
const BODY = REPLICATE_BODY
const OTHER_SECRET = `whsec_${Buffer.alloc(24, 9).toString('base64')}`

const callback = (options: Parameters<typeof replicateCallback>[0] = {}) =>
  replicateCallback({ atMs: NOW_MS, ...options })

const start = async () => {
  const stub = await startReplicate(t)
  return { stub, read: createReplicateCallback(vendorDependencies(t, stub.url, REPLICATE_KEY)) }
}

t.test('a signed callback names its prediction; the secret is fetched once', async t => {
  const { stub, read } = await start()
  const { headers, body } = callback()
  t.same(await Promise.all([read(headers, body, NOW_MS), read(headers, body, NOW_MS)]), [{ jobId: ID }, { jobId: ID }])
  const both = { ...headers, 'webhook-signature': `v1,aaaa v1a,bbbb ${headers['webhook-signature']}` }
  t.same(await read(both, body, NOW_MS + 4 * MINUTE_MS), { jobId: ID })
  t.equal(stub.requests.length, 1)
  t.match(stub.requests[0], { method: 'GET', path: '/v1/webhooks/default/secret' })
})

t.test('anything else is refused', async t => {
  const { stub, read } = await start()
  const good = callback()
  const changed = (name: string, value: string | string[]) => ({
    headers: { ...good.headers, [name]: value },
    body: good.body,
  })
  const cut = (length: number) =>
    changed('webhook-signature', String(good.headers['webhook-signature']).slice(0, length))
  const without = (name: string) => {
    const { [name]: _, ...headers } = good.headers
    return { headers, body: good.body }
  }
  const cases: [string, { headers: Record<string, string | string[]>; body: Buffer }][] = [
    ['the secret of another account', callback({ secret: OTHER_SECRET })],
    ['a changed body', { ...good, body: Buffer.from(BODY.replace(ID, 'other')) }],
    ['an old callback', callback({ atMs: NOW_MS - 5 * MINUTE_MS - 1_000 })],
    ['a callback of the future', callback({ atMs: NOW_MS + 5 * MINUTE_MS + 1_000 })],
    ['another time', changed('webhook-timestamp', String(NOW_MS / 1000 + 1))],
    ['no time', changed('webhook-timestamp', 'now')],
    ['another message', changed('webhook-id', 'msg_2')],
    ['another scheme', changed('webhook-signature', String(good.headers['webhook-signature']).replace('v1', 'v0'))],
    ['too many signatures', changed('webhook-signature', `${'v1,a '.repeat(16)}${good.headers['webhook-signature']}`)],
    ...[3, 4, 8].map(length => [`a signature cut to ${length} characters`, cut(length)] as [string, typeof good]),
    ['a list', changed('webhook-signature', [String(good.headers['webhook-signature'])])],
    ...Object.keys(good.headers).map(name => [`without ${name}`, without(name)] as [string, typeof good]),
    ['a body that is no JSON', callback({ body: 'hello' })],
    ['a body without an id', callback({ body: '{"status":"succeeded"}' })],
    ['an id with odd characters', callback({ body: '{"id":"../x"}' })],
  ]
  await read(good.headers, good.body, NOW_MS)
  for (const [name, { headers, body }] of cases) t.equal(await read(headers, body, NOW_MS), undefined, name)
  t.equal(stub.requests.length, 1, 'forged callbacks do not make us fetch the secret')
})

t.test('a new secret is found', async t => {
  const { stub, read } = await start()
  const good = callback()
  await read(good.headers, good.body, NOW_MS)
  stub.secrets.set(REPLICATE_KEY, OTHER_SECRET)
  const later = NOW_MS + MINUTE_MS
  const signed = callback({ secret: OTHER_SECRET, atMs: later })
  t.same(await read(signed.headers, signed.body, later), { jobId: ID })
  t.equal(await read(good.headers, good.body, later), undefined)
  t.equal(stub.requests.length, 2)
})

t.test('rejects while the secret cannot be fetched, and never tells it', async t => {
  const { stub } = await start()
  const { headers, body } = callback()
  for (const [fault, error] of [
    ['cut', /^the secret of Replicate's callbacks cannot be fetched: Replicate did not answer: /],
    [{ status: 401, body: {} }, /cannot be fetched: Replicate answered with 401$/],
    [{ status: 200, body: '<h1>Hello</h1>' }, /cannot be fetched: the answer of Replicate is not JSON$/],
    [{ status: 200, body: null }, /^Replicate sent no secret for its callbacks$/],
    [{ status: 200, body: { key: 'whsec_?' } }, /^Replicate sent no secret for its callbacks$/],
    [{ status: 200, body: { key: '' } }, /^Replicate sent no secret for its callbacks$/],
  ] as const) {
    const read = createReplicateCallback(vendorDependencies(t, stub.url, REPLICATE_KEY))
    stub.fault = fault
    await t.rejects(read(headers, body, NOW_MS), error)
    await t.rejects(read(headers, body, NOW_MS + 1_000), /could not be fetched a moment ago/)
    stub.fault = undefined
    t.same(await read(headers, body, NOW_MS + MINUTE_MS), { jobId: ID })
  }
  const read = createReplicateCallback(vendorDependencies(t, await deadAddress(), REPLICATE_KEY))
  await t.rejects(read(headers, body, NOW_MS), /ECONNREFUSED$/)
})
