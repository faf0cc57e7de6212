import { createHash } from 'node:crypto'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import type { Test } from 'tap'
import { key, type OpenedStore, textOf } from './object-store.ts'

const PNG = 'image/png'
const MEGABYTE = 1024 * 1024

/** Half of the large object: leaves room for the buffers between two streams. */
const ENOUGH_BYTES = 20 * MEGABYTE

/** The contract for large objects and for presigned uploads. */
export const objectUploadContract = (t: Test, open: (t: Test) => Promise<OpenedStore>) => {
  t.test('a large object is never held in memory', async t => {
    const { store } = await open(t)
    const [sent, got] = [createHash('sha256'), createHash('sha256')]
    const piece = (index: number) => Buffer.alloc(MEGABYTE, `${index} `)
    const source = function* () {
      for (let index = 0; index < 40; index++) {
        sent.update(piece(index))
        yield piece(index)
      }
    }
    const peakBytes = await watchMemory(async () => {
      const incoming = await store.receive()
      await pipeline(Readable.from(source()), incoming.body)
      await incoming.store(key(1), PNG)
      const found = await store.get(key(1))
      t.equal(found?.sizeBytes, 40 * MEGABYTE)
      for await (const bytes of found?.body ?? []) got.update(bytes)
    })
    t.equal(got.digest('hex'), sent.digest('hex'))
    t.ok(peakBytes < ENOUGH_BYTES, `${peakBytes} bytes at the most`)
  })

  t.test('incomplete objects leave no trace when the store is closed', async t => {
    const { store, leftovers } = await open(t)
    const [part, whole] = [await store.receive(), await store.receive()]
    part.body.write('a part')
    whole.body.end('all of it')
    t.equal((await leftovers()).length, 2)
    await store.close()
    t.same(await leftovers(), [])
  })

  t.test('the holder of a presigned URL can upload', async t => {
    const { store, leftovers } = await open(t)
    const url = await store.presignPut(grant())
    t.equal(await store.stat(key(1, 'uploads')), undefined)
    t.equal(await put(url, 'first', { 'content-type': PNG }), 200)
    t.equal(await textOf(store, key(1, 'uploads')), 'first')
    t.equal(await put(url, 'second, without a type'), 200)
    t.equal(await textOf(store, key(1, 'uploads')), 'second, without a type')
    t.same(await leftovers(), [])
  })

  t.test('a modified presigned URL is refused', async t => {
    const { store, leftovers } = await open(t)
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
      const status = await put(address, 'a')
      t.ok(status >= 400 && status < 500, `${name}: ${status}`)
    }
    for (const folder of ['uploads', 'outputs'])
      for (const number of [1, 2]) t.equal(await store.stat(key(number, folder)), undefined)
    t.same(await leftovers(), [])
  })

  t.test('a presigned URL allows nothing but its upload', async t => {
    const { store } = await open(t)
    const url = await store.presignPut(grant())
    t.equal(await put(url, 'first'), 200)
    for (const method of ['GET', 'HEAD', 'POST', 'DELETE']) {
      const { status } = await fetch(url, { method, body: method === 'POST' ? 'other' : null })
      t.ok(status >= 400 && status < 500, `${method}: ${status}`)
    }
    t.equal(await textOf(store, key(1, 'uploads')), 'first')
  })

  t.test('an expired presigned URL is refused', async t => {
    const { store } = await open(t)
    const late = await put(await store.presignPut({ ...grant(), expiresAtMs: Date.now() - 1000 }), 'a')
    t.equal(late, 403)
    t.equal(await store.stat(key(1, 'uploads')), undefined)
  })
}

const grant = () => ({ key: key(1, 'uploads'), mimeType: PNG, maxSizeBytes: 1000, expiresAtMs: Date.now() + 60_000 })

const put = async (url: string, body: string, headers: Record<string, string> = {}): Promise<number> => {
  const answer = await fetch(url, { method: 'PUT', body: Buffer.from(body), headers })
  await answer.text()
  return answer.status
}

setFlagsFromString('--expose-gc')
const collectGarbage = runInNewContext('gc') as () => void

/** The maximum of buffer memory during some work, relative to before. */
const watchMemory = async (work: () => Promise<void>): Promise<number> => {
  collectGarbage()
  const before = process.memoryUsage().arrayBuffers
  const grown = () => process.memoryUsage().arrayBuffers - before
  let peak = 0
  const timer = setInterval(() => {
    // Most growth is garbage. Another thread frees it after collection, so the next round waits for it.
    for (let round = 0; round < 2 && grown() > ENOUGH_BYTES; round++) collectGarbage()
    peak = Math.max(peak, grown())
  }, 5)
  await work().finally(() => clearInterval(timer))
  return peak
}
