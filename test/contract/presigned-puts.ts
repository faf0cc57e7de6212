import type { Test } from 'tap'
import { key, type OpenedStore, textOf } from './object-store.ts'

const PNG = 'image/png'

/** The contract for presigned uploads. */
export const presignedPutContract = (t: Test, open: (t: Test) => Promise<OpenedStore>) => {
  t.test('the holder of a presigned URL can upload', async t => {
    const { store, leftovers, send = sendOverHttp } = await open(t)
    const url = await store.presignPut(grant())
    t.equal(await store.stat(key(1, 'uploads')), undefined)
    t.equal(await send(url, { method: 'PUT', body: 'first', contentType: PNG }), 200)
    t.equal(await textOf(store, key(1, 'uploads')), 'first')
    t.equal(await send(url, { method: 'PUT', body: 'second, without a type' }), 200)
    t.equal(await textOf(store, key(1, 'uploads')), 'second, without a type')
    t.same(await leftovers(), [])
  })

  t.test('a modified presigned URL is refused', async t => {
    const { store, leftovers, send = sendOverHttp } = await open(t)
    const url = await store.presignPut(grant())
    const changed = {
      'another signature': url.replace(/(signature=)(.)/i, (_, name, digit) => name + (digit === '0' ? '1' : '0')),
      'a shorter signature': url.slice(0, -1),
      'no signature': url.replace(/[?&][^?&]*signature=[^&]*/i, ''),
      'another key': url.replace(key(1, 'uploads'), key(2, 'uploads')),
      'another folder': url.replace(key(1, 'uploads'), key(1, 'outputs')),
      'a longer time': url.replace(/(expires=)(\d+)/i, (_, name, digits) => `${name}1${digits}`),
      'no query': url.replace(/\?.*/, ''),
    }
    for (const [name, address] of Object.entries(changed)) {
      t.not(address, url)
      const status = await send(address, { method: 'PUT', body: 'a' })
      t.ok(status >= 400 && status < 500, `${name}: ${status}`)
    }
    for (const folder of ['uploads', 'outputs'])
      for (const number of [1, 2]) t.equal(await store.stat(key(number, folder)), undefined)
    t.same(await leftovers(), [])
  })

  t.test('a presigned URL allows nothing but its upload', async t => {
    const { store, send = sendOverHttp } = await open(t)
    const url = await store.presignPut(grant())
    t.equal(await send(url, { method: 'PUT', body: 'first' }), 200)
    for (const method of ['GET', 'HEAD', 'POST', 'DELETE']) {
      const status = await send(url, { method, ...(method === 'POST' && { body: 'other' }) })
      t.ok(status >= 400 && status < 500, `${method}: ${status}`)
    }
    t.equal(await textOf(store, key(1, 'uploads')), 'first')
  })

  t.test('an expired presigned URL is refused', async t => {
    const { store, send = sendOverHttp } = await open(t)
    const url = await store.presignPut({ ...grant(), expiresAtMs: Date.now() - 1000 })
    const late = await send(url, { method: 'PUT', body: 'a' })
    t.equal(late, 403)
    t.equal(await store.stat(key(1, 'uploads')), undefined)
  })
}

const grant = () => ({
  key: key(1, 'uploads'),
  mimeType: PNG,
  maxSizeBytes: 1000,
  expiresAtMs: Date.now() + 60_000,
  purpose: 'a.b',
})

const sendOverHttp: NonNullable<OpenedStore['send']> = async (url, { method, body, contentType }) => {
  const headers = contentType === undefined ? {} : { 'content-type': contentType }
  const answer = await fetch(url, { method, body: body === undefined ? null : Buffer.from(body), headers })
  await answer.text()
  return answer.status
}
