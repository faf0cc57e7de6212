import { once } from 'node:events'
import { type ClientRequest, type IncomingMessage, request } from 'node:http'
import { Readable } from 'node:stream'
import { text } from 'node:stream/consumers'
import t from 'tap'
import { type PutGrant, PutRefused } from '../../../src/ports/object-store.ts'
import { until } from '../../support/until.ts'
import { openFolder, PNG } from './disk.ts'

const KEY = `uploads/${'0'.repeat(32)}.png`

const grant = (): PutGrant => ({
  key: KEY,
  mimeType: PNG,
  maxSizeBytes: 10,
  expiresAtMs: Date.now() + 60_000,
  purpose: 'upl_1',
})

/** Admits every file. */
const admit = async () => undefined

t.test('an upload of exactly the maximum size is accepted, and one byte more is refused', async t => {
  const { store, server, leftovers } = await openFolder(t)
  const url = await store.presignPut(grant())
  t.equal((await put(url, '0123456789')).status, 200)
  const larger = await put(url, '0123456789a')
  t.same([larger.status, await larger.text()], [413, 'put_too_large'])
  t.equal((await store.stat(KEY))?.sizeBytes, 10, 'the first is still there')
  t.same(server.outcomes, ['stored', 'put_too_large'])
  t.same(await leftovers(), [])
})

t.test('an upload without a declared size is refused when it grows too large', async t => {
  const { store, leftovers } = await openFolder(t)
  const url = await store.presignPut(grant())
  const begin = () => request(url, { method: 'PUT', headers: { 'transfer-encoding': 'chunked' } })
  const answerTo = async (upload: ClientRequest) => {
    const [answer] = (await once(upload, 'response')) as [IncomingMessage]
    return [answer.statusCode, await text(answer)]
  }
  t.same(await answerTo(begin().end('0123456789')), [200, ''])

  const larger = begin().on('error', () => undefined)
  larger.write('0123456789a')
  t.same(await answerTo(larger), [413, 'put_too_large'], 'the answer comes while there is more to send')
  larger.destroy()
  t.equal((await store.stat(KEY))?.sizeBytes, 10)
  t.same(await leftovers(), [])
})

t.test('an upload declared too large is refused unread', async t => {
  const { store } = await openFolder(t)
  const { searchParams: query } = new URL(await store.presignPut(grant()))
  const read = function* () {
    t.fail('it was read')
    yield Buffer.from('a')
  }
  const body = Readable.from(read())
  const outcome = store.acceptPut?.({ key: KEY, query, mimeType: PNG, sizeBytes: 11, body }, admit)
  await t.rejects(Promise.resolve(outcome), { name: 'PutRefused', refusal: { code: 'put_too_large' } })
})

t.test('a sender of too many bytes still gets a response', async t => {
  const { store } = await openFolder(t)
  const { searchParams: query } = new URL(await store.presignPut(grant()))
  const body = Readable.from(['12345', '6789012345', 'the rest'].map(piece => Buffer.from(piece)))
  const outcome = store.acceptPut?.({ key: KEY, query, mimeType: PNG, sizeBytes: undefined, body }, admit)
  await t.rejects(Promise.resolve(outcome), { name: 'PutRefused', refusal: { code: 'put_too_large' } })
  t.notOk(body.destroyed)
  t.equal(await text(body), 'the rest')
})

t.test('an upload of another type than granted is refused', async t => {
  const { store, server } = await openFolder(t)
  const url = await store.presignPut(grant())
  for (const type of ['image/jpeg', 'text/html', 'image/png2', 'image', 'image/jpeg; a=image/png'])
    t.equal((await put(url, 'a', type)).status, 415, type)
  t.equal(await store.stat(KEY), undefined)
  for (const type of ['image/png', 'IMAGE/PNG', 'image/png; q=1', 'image/png;charset=utf-8'])
    t.equal((await put(url, 'a', type)).status, 200, type)
  t.same(new Set(server.outcomes), new Set(['put_type_mismatch', 'stored']))
})

t.test('no part of a presigned URL can be changed', async t => {
  const { store, server } = await openFolder(t)
  const url = await store.presignPut(grant())
  const changes = {
    expires: `${Date.now() + 120_000}`,
    max: '11',
    type: 'text/html',
    for: 'upl_2',
    signature: 'é'.repeat(32),
  }
  for (const [name, value] of Object.entries(changes)) {
    const changed = new URL(url)
    changed.searchParams.set(name, value)
    t.equal((await put(`${changed}`, 'a')).status, 403, `another ${name}`)
    changed.searchParams.delete(name)
    t.equal((await put(`${changed}`, 'a')).status, 403, `no ${name}`)
    const twice = url.replace('?', `?${name}=${encodeURIComponent(value)}&`)
    t.equal((await put(twice, 'a')).status, 403, `${name} twice`)
  }
  t.same(new Set(server.outcomes), new Set(['put_address_invalid']))
  t.equal((await put(url, 'a')).status, 200)
})

t.test('a presigned URL of another service is refused', async t => {
  const [one, other] = [await openFolder(t), await openFolder(t, undefined, 'another secret')]
  const url = (await one.store.presignPut(grant())).replace(one.server.url, other.server.url)
  t.equal((await put(url, 'a')).status, 403)
  t.same(other.server.outcomes, ['put_address_invalid'])
})

t.test('an expired upload is reported as expired', async t => {
  const { store, server } = await openFolder(t)
  await put(await store.presignPut({ ...grant(), expiresAtMs: Date.now() - 1 }), 'a')
  t.same(server.outcomes, ['put_address_expired'])
})

t.test('an interrupted upload leaves nothing behind, and changes nothing', async t => {
  const { store, server, leftovers } = await openFolder(t)
  const url = await store.presignPut({ ...grant(), maxSizeBytes: 1_000_000 })
  t.equal((await put(url, 'whole')).status, 200)
  const upload = request(url, { method: 'PUT', headers: { 'content-length': 200_000 } })
  upload.on('error', () => undefined)
  await new Promise<void>(resolve => upload.write(Buffer.alloc(100_000), () => resolve()))
  await until('a part of the file has arrived', async () => (await leftovers()).length > 0)
  upload.destroy()
  await until('the upload has ended', () => server.outcomes.length > 1)
  t.same(server.outcomes, ['stored', 'put_interrupted'])
  t.equal((await store.stat(KEY))?.sizeBytes, 5)
  t.same(await leftovers(), [])
})

t.test('a file is admitted before it is read, and again before it is stored', async t => {
  const { store, leftovers } = await openFolder(t)
  const { searchParams: query } = new URL(await store.presignPut(grant()))
  for (const admitted of [0, 1]) {
    const body = Readable.from([Buffer.from('a')])
    const purposes: string[] = []
    const outcome = store.acceptPut?.({ key: KEY, query, mimeType: PNG, sizeBytes: 1, body }, async ({ purpose }) => {
      if (purposes.push(purpose) > admitted) throw new PutRefused({ code: 'put_address_withdrawn' })
    })
    await t.rejects(Promise.resolve(outcome), { name: 'PutRefused', refusal: { code: 'put_address_withdrawn' } })
    t.same(purposes, Array(admitted + 1).fill('upl_1'))
    t.equal(body.readableEnded, admitted > 0)
    t.equal(await store.stat(KEY), undefined)
    t.same(await leftovers(), [])
  }
})

const put = (url: string, body: string, type?: string) =>
  fetch(url, { method: 'PUT', body: Buffer.from(body), ...(type && { headers: { 'content-type': type } }) })
