import type { KeyObject } from 'node:crypto'
import t from 'tap'
import { createFalCallback } from '../../../../src/adapters/provider/fal/callback.ts'
import { FAL_BODY, FAL_REQUEST, falCallback } from '../../../support/vendors/callbacks.ts'
import { FAL_KEY, newFalKey, startFal } from '../../../support/vendors/fal.ts'
import { deadAddress, vendorDependencies } from '../../../support/vendors/vendor-parts.ts'

const NOW_MS = Date.parse('2026-11-24T04:00:00Z')
const MINUTE_MS = 60_000
const DAY_MS = 24 * 60 * MINUTE_MS

const ID = FAL_REQUEST
const BODY = FAL_BODY

const callback = (key: KeyObject, options: Parameters<typeof falCallback>[1] = {}) =>
  falCallback(key, { atMs: NOW_MS, ...options })

const start = async () => {
  const stub = await startFal(t)
  const { publicKey, privateKey } = newFalKey()
  stub.keys = [publicKey]
  return { stub, key: privateKey, read: createFalCallback(vendorDependencies(t, stub.url, FAL_KEY)) }
}

t.test('a signed callback names its job; the keys are fetched once, without the key of the account', async t => {
  const { stub, key, read } = await start()
  const { headers, body } = callback(key)
  t.same(await Promise.all([read(headers, body, NOW_MS), read(headers, body, NOW_MS)]), [{ jobId: ID }, { jobId: ID }])
  t.same(await read(headers, body, NOW_MS + 4 * MINUTE_MS), { jobId: ID })
  t.equal(stub.requests.length, 1)
  t.match(stub.requests[0], { method: 'GET', path: '/.well-known/jwks.json' })
  t.notOk(stub.requests[0]?.headers.authorization)
})

t.test('anything else is refused', async t => {
  const { stub, key, read } = await start()
  const good = callback(key)
  const stranger = callback(newFalKey().privateKey)
  const without = (name: string) => {
    const { [name]: _, ...headers } = good.headers
    return { headers, body: good.body }
  }
  const changed = (name: string, value: string | string[]) => ({
    headers: { ...good.headers, [name]: value },
    body: good.body,
  })
  const signature = 'x-fal-webhook-signature'
  const cases: [string, { headers: Record<string, string | string[]>; body: Buffer }][] = [
    ['the key of a stranger', stranger],
    ['a changed body', { ...good, body: Buffer.from(BODY.replace(ID, ID.replace('7', '8'))) }],
    ['an old callback', callback(key, { atMs: NOW_MS - 5 * MINUTE_MS - 1_000 })],
    ['a callback of the future', callback(key, { atMs: NOW_MS + 5 * MINUTE_MS + 1_000 })],
    ['another time', changed('x-fal-webhook-timestamp', String(NOW_MS / 1000 + 1))],
    ['no time', changed('x-fal-webhook-timestamp', 'now')],
    ['another user', changed('x-fal-webhook-user-id', 'user_3xyz')],
    ['another request', changed('x-fal-webhook-request-id', 'other')],
    ['a short signature', changed(signature, 'abcd')],
    ['no hexadecimal signature', changed(signature, 'z'.repeat(128))],
    ['two signatures', changed(signature, [String(good.headers[signature]), 'x'])],
    ...Object.keys(good.headers).map(name => [`without ${name}`, without(name)] as [string, typeof good]),
    ['a body that is no JSON', callback(key, { body: 'hello' })],
    ['a body of another shape', callback(key, { body: '[]' })],
    ['a body without an id', callback(key, { body: '{"status":"OK"}' })],
    ['an id with odd characters', callback(key, { body: '{"request_id":"../x"}' })],
    [
      'a body that takes long to parse',
      callback(key, { body: `{"request_id":"${ID}","payload":[${'[],'.repeat(9_999)}1]}` }),
    ],
  ]
  await read(good.headers, good.body, NOW_MS)
  for (const [name, { headers, body }] of cases) t.equal(await read(headers, body, NOW_MS), undefined, name)
  t.equal(stub.requests.length, 1, 'forged callbacks do not make us fetch keys')
})

t.test('a new key is found, also beside the old one', async t => {
  const { stub, key, read } = await start()
  const good = callback(key)
  await read(good.headers, good.body, NOW_MS)

  const next = newFalKey()
  stub.keys = [...stub.keys, next.publicKey]
  const later = NOW_MS + MINUTE_MS
  const signed = callback(next.privateKey, { atMs: later })
  t.same(await read(signed.headers, signed.body, later), { jobId: ID })
  t.same(await read(good.headers, good.body, later), { jobId: ID })
  t.equal(stub.requests.length, 2)
})

t.test('a key that is no longer published is forgotten after a day', async t => {
  const { stub, key, read } = await start()
  const good = callback(key)
  await read(good.headers, good.body, NOW_MS)
  stub.keys = [newFalKey().publicKey]
  const old = callback(key, { atMs: NOW_MS + DAY_MS })
  t.equal(await read(old.headers, old.body, NOW_MS + DAY_MS), undefined)
})

t.test('rejects while keys cannot be fetched, and then asks again', async t => {
  const { stub, key, read } = await start()
  const { headers, body } = callback(key)
  for (const [fault, error] of [
    ['cut', /^fal's keys cannot be fetched: fal did not answer: /],
    [{ status: 503, body: '' }, /^fal's keys cannot be fetched: fal answered with 503$/],
    [{ status: 200, body: '<h1>Hello</h1>' }, /^fal's keys cannot be fetched: the answer of fal is not JSON$/],
    [{ status: 200, body: null }, /^fal published no key for its callbacks$/],
    [
      { status: 200, body: { keys: [{ kty: 'RSA' }, null, { kty: 'OKP', crv: 'Ed25519', x: '?' }] } },
      /published no key/,
    ],
  ] as const) {
    const fresh = createFalCallback(vendorDependencies(t, stub.url, FAL_KEY))
    stub.fault = fault
    await t.rejects(fresh(headers, body, NOW_MS), error)
    const before = stub.requests.length
    await t.rejects(fresh(headers, body, NOW_MS + 1_000), /could not be fetched a moment ago/)
    t.equal(stub.requests.length, before)
    stub.fault = undefined
    t.same(await fresh(headers, body, NOW_MS + MINUTE_MS), { jobId: ID })
  }
  t.same(await read(headers, body, NOW_MS), { jobId: ID })
  const nowhere = createFalCallback(vendorDependencies(t, await deadAddress(), FAL_KEY))
  await t.rejects(nowhere(headers, body, NOW_MS), /^fal's keys cannot be fetched: fal did not answer: ECONNREFUSED$/)
})
