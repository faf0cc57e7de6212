import { once } from 'node:events'
import { createServer, type RequestListener } from 'node:http'
import type { AddressInfo } from 'node:net'
import t, { type Test } from 'tap'
import { MAX_PRESIGNED_BYTES } from '../../../schemas/primitives.ts'
import { openDiskObjectStore } from '../../../src/adapters/object-store/disk.ts'
import { createOutbound } from '../../../src/adapters/outbound/undici.ts'
import { extensionFor, mimeTypeOf } from '../../../src/domain/media-types.ts'
import { InputMediaError } from '../../../src/ports/input-media.ts'
import { Addresses } from '../../../src/services/addresses.ts'
import { createInputMediaFinder } from '../../../src/services/runs/input-media.ts'
import { temporaryFolder } from '../../support/temporary-folder.ts'

const PNG = Buffer.from('89504e470d0a1a0a', 'hex')
const NAME = '0'.repeat(32)
const CDN = 'https://files.example.com/bucket'
const signal = new AbortController().signal

t.test('a data: URL is decoded, in base64 or percent-encoded', async t => {
  const { load } = await setUp(t)
  const pictures: Record<string, { mimeType: string; bytes: Uint8Array }> = {
    [`data:image/png;base64,${PNG.toString('base64')}`]: { mimeType: 'image/png', bytes: PNG },
    [`DATA:IMAGE/PNG;base64,${PNG.toString('base64url')}`.replaceAll('_', '/').replaceAll('-', '+')]: {
      mimeType: 'image/png',
      bytes: PNG,
    },
    'data:image/svg+xml;charset=utf-8,%3Csvg/%3E': { mimeType: 'image/svg+xml', bytes: Buffer.from('<svg/>') },
  }
  for (const [url, { mimeType, bytes }] of Object.entries(pictures)) {
    const media = await load(url, signal)
    t.equal(media.mimeType, mimeType)
    t.same(Buffer.from(media.bytes), bytes)
  }
})

t.test('a data: URL that holds no image is refused', async t => {
  const { load } = await setUp(t)
  const urls = [
    'data:,x',
    'data:text/html,<p>',
    'data:text/html;image/png,x',
    'data:application/octet-stream;base64,aGk=',
    'data:image/png',
    'data:image/png;base64,%%%',
    'data:image/png;base64,a',
    'data:image/png;base64,',
  ]
  for (const url of urls) await t.rejects(load(url, signal), InputMediaError, url)
})

t.test('an own address is read from the store without a network request', async t => {
  const { load, objects, requests, publicUrl } = await setUp(t)
  await objects.put(`outputs/${NAME}.png`, PNG, 'image/png')
  const path = `/cdn/outputs/${NAME}.png`
  for (const url of [publicUrl + path, publicUrl.toUpperCase() + path, `${publicUrl}${path}?a=1#b`]) {
    const media = await load(url, signal)
    t.equal(media.mimeType, 'image/png')
    t.same(Buffer.from(media.bytes), PNG)
  }
  t.same(requests, [])
})

t.test('a CDN address is read from the store', async t => {
  const { load, objects, requests } = await setUp(t)
  await objects.put(`uploads/${NAME}.png`, PNG, 'image/png')
  t.same(Buffer.from((await load(`${CDN}/uploads/${NAME}.png`, signal)).bytes), PNG)
  await t.rejects(load(`${CDN}/uploads/${'1'.repeat(32)}.png`, signal), InputMediaError)
  t.same(requests, [])
})

t.test('a file that the store lacks is not fetched', async t => {
  const { load, objects, requests, publicUrl } = await setUp(t)
  await objects.put(`outputs/${NAME}.mp4`, PNG, 'video/mp4')
  const paths = [
    `outputs/${'1'.repeat(32)}.png`,
    `outputs/${NAME}.mp4`,
    'outputs/../../log/data.mdb',
    'outputs/..%2f..%2flog%2fdata.mdb',
    '',
  ]
  for (const path of paths) await t.rejects(load(`${publicUrl}/cdn/${path}`, signal), InputMediaError, path)
  t.same(
    requests.filter(url => url.startsWith('/cdn/')),
    [],
  )
})

t.test('an oversized file in the store is refused', async t => {
  const { load, objects, publicUrl } = await setUp(t)
  const [key, other] = [`uploads/${NAME}.png`, `uploads/${'1'.repeat(32)}.png`]
  await objects.put(key, Buffer.alloc(MAX_PRESIGNED_BYTES + 1), 'image/png')
  await objects.put(other, Buffer.alloc(MAX_PRESIGNED_BYTES), 'image/png')
  await t.rejects(load(`${publicUrl}/cdn/${key}`, signal), {
    name: 'InputMediaError',
    message: new RegExp(`larger than ${MAX_PRESIGNED_BYTES} bytes`),
  })
  t.equal((await load(`${publicUrl}/cdn/${other}`, signal)).bytes.byteLength, MAX_PRESIGNED_BYTES)
})

t.test('the memory that a file may take is known before it is loaded', async t => {
  const { find, load, objects, publicUrl, elsewhere } = await setUp(t, (_, response) =>
    response.writeHead(200, { 'Content-Length': PNG.byteLength }).end(PNG),
  )
  await objects.put(`outputs/${NAME}.png`, PNG, 'image/png')
  t.equal((await find(`${publicUrl}/cdn/outputs/${NAME}.png`)).maxBytes, PNG.byteLength)
  t.equal((await find(elsewhere)).maxBytes, 25 * 1024 * 1024)
  const sizes: number[] = []
  await load(elsewhere, signal, sizeBytes => sizes.push(sizeBytes))
  t.same(sizes, [PNG.byteLength], 'and more exactly as soon as the server tells')
})

t.test('a file that is replaced by a larger one before it is loaded is not loaded', async t => {
  const { find, objects, publicUrl } = await setUp(t)
  const key = `uploads/${NAME}.png`
  await objects.put(key, PNG, 'image/png')
  const found = await find(`${publicUrl}/cdn/${key}`)
  await objects.put(key, Buffer.concat([PNG, PNG]), 'image/png')
  await t.rejects(
    found.load(signal, () => {}),
    { name: 'InputMediaError', message: /was replaced/ },
  )
})

t.test('a file from the store takes its memory once', async t => {
  const { load, objects, publicUrl } = await setUp(t)
  await objects.put(`outputs/${NAME}.png`, Buffer.alloc(1_000_000, 1), 'image/png')
  const { bytes } = await load(`${publicUrl}/cdn/outputs/${NAME}.png`, signal)
  t.same([bytes.byteLength, bytes.byteOffset, bytes.buffer.byteLength], [1_000_000, 0, 1_000_000])
})

t.test('reading a file from the store stops when aborted', async t => {
  const { load, objects, publicUrl } = await setUp(t)
  await objects.put(`outputs/${NAME}.png`, PNG, 'image/png')
  await t.rejects(load(`${publicUrl}/cdn/outputs/${NAME}.png`, AbortSignal.abort()), { name: 'AbortError' })
})

t.test('any other address is fetched', async t => {
  const { load, requests, elsewhere, publicUrl } = await setUp(t, (_, response) => {
    response.setHeader('Content-Type', 'image/webp').end(PNG)
  })
  const paths = [`/cdn/outputs/${NAME}.png?a=1`, '/picture']
  for (const url of [elsewhere + paths[0], publicUrl + paths[1]]) {
    const media = await load(url, signal)
    t.equal(media.mimeType, 'image/webp')
    t.same(Buffer.from(media.bytes), PNG)
  }
  t.same(requests, paths)
})

t.test('a response without a content type is accepted, one with another type is refused', async t => {
  const untyped = await setUp(t, (_, response) => response.end(PNG))
  t.equal((await untyped.load(untyped.elsewhere, signal)).mimeType, 'application/octet-stream')
  const page = await setUp(t, (_, response) => response.setHeader('Content-Type', 'text/html').end('<p>'))
  await t.rejects(page.load(page.elsewhere, signal), { name: 'InputMediaError', message: /text\/html/ })
})

t.test('a video is a video, and nothing else', async t => {
  const film = await setUp(t, (_, response) => response.setHeader('Content-Type', 'video/mp4').end(PNG))
  t.equal((await (await film.find(film.elsewhere, 'video_url')).load(signal, () => {})).mimeType, 'video/mp4')
  await t.rejects(film.load(film.elsewhere, signal), { message: 'The address returned video/mp4, not an image.' })
  const photo = await setUp(t, (_, response) => response.setHeader('Content-Type', 'image/png').end(PNG))
  const found = await photo.find(photo.elsewhere, 'video_url')
  await t.rejects(
    found.load(signal, () => {}),
    { name: 'InputMediaError', message: 'The address returned image/png, not a video.' },
  )
})

t.test('an unusable response is reported in words for the client', async t => {
  const servers: Record<string, RequestListener> = {
    '404': (_, response) => response.writeHead(404).end(),
    'more than 25 MB': (_, response) => response.end(Buffer.alloc(26_214_401)),
    empty: (_, response) => response.setHeader('Content-Type', 'image/png').end(),
    'cut off': request => request.socket.destroy(),
  }
  for (const [message, server] of Object.entries(servers)) {
    const { load, elsewhere } = await setUp(t, server)
    await t.rejects(load(elsewhere, signal), { name: 'InputMediaError', message: new RegExp(message) }, message)
  }
  const { load } = await setUp(t)
  for (const url of ['', 'x', 'ftp://example.com/x.png', 'file:///etc/passwd', 'http://a:b@example.com/'])
    await t.rejects(load(url, signal), InputMediaError, url)
})

t.test('cancelling the run aborts the fetch', async t => {
  const run = new AbortController()
  const { load, elsewhere } = await setUp(t, () => run.abort(new RangeError('cancelled')))
  await t.rejects(load(elsewhere, run.signal), RangeError)
})

t.test('media types and file name extensions map to each other', async t => {
  for (const ending of ['png', 'jpg', 'webp', 'gif', 'avif', 'mp4', 'webm', 'mov', 'mp3', 'wav', 'txt'])
    t.equal(extensionFor(mimeTypeOf(`outputs/${NAME}.${ending}`)), ending)
  t.equal(mimeTypeOf('x.mov'), 'video/quicktime')
  for (const name of ['x.html', 'x.constructor', 'x.', 'x', ''])
    t.equal(mimeTypeOf(name), 'application/octet-stream', name)
  t.equal(extensionFor('text/html'), 'bin')
})

async function setUp(t: Test, listener: RequestListener = (_, response) => response.writeHead(404).end()) {
  const requests: string[] = []
  const server = createServer((request, response) => {
    requests.push(request.url ?? '')
    listener(request, response)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.teardown(() => server.close().closeAllConnections())
  const { port } = server.address() as AddressInfo

  const folder = await temporaryFolder(t)
  const objects = await openDiskObjectStore({ folder, putSecret: 'secret', putUrl: () => 'http://localhost' })
  const outbound = createOutbound({ allowPrivate: true })
  t.teardown(() => outbound.close())
  // The public URL names the same server, so a request for an own file would be recorded.
  const publicUrl = `http://localhost:${port}`
  const addresses = new Addresses(() => publicUrl, CDN)
  const find = createInputMediaFinder({ outbound, objects, addresses })
  const load = async (url: string, signal: AbortSignal, onSize = (_sizeBytes: number) => {}) =>
    (await find(url)).load(signal, onSize)
  return { find, load, objects, requests, publicUrl, elsewhere: `http://127.0.0.1:${port}` }
}
