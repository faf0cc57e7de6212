import { once } from 'node:events'
import { createServer, type RequestListener } from 'node:http'
import type { AddressInfo } from 'node:net'
import t, { type Test } from 'tap'
import { MAX_PRESIGNED_BYTES } from '../../../schemas/primitives.ts'
import { systemClock } from '../../../src/adapters/clock/system.ts'
import { openDiskObjectStore } from '../../../src/adapters/object-store/disk.ts'
import { createOutbound } from '../../../src/adapters/outbound/undici.ts'
import { extensionFor, mimeTypeOf } from '../../../src/domain/media-types.ts'
import { InputMediaError } from '../../../src/ports/input-media.ts'
import { Addresses } from '../../../src/services/files/addresses.ts'
import { createInputMediaFinder } from '../../../src/services/runs/input-media.ts'
import { fileFault } from '../../../src/transports/refusals/files.ts'
import { pngWith, sampleFiles, zipArchive } from '../../support/sample-files.ts'
import { temporaryFolder } from '../../support/temporary-folder.ts'

const samples = await sampleFiles()
const [PNG, JPEG] = [samples['image/png'] as Buffer, samples['image/jpeg'] as Buffer]
const SVG = Buffer.from('<svg xmlns="http://www.w3.org/2000/svg"/>')
const HEIC = Buffer.from('\0\0\0\x18ftypheic\0\0\0\0heicmif1', 'latin1')
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
    [`data:image/png,${[...PNG].map(byte => `%${byte.toString(16).padStart(2, '0')}`).join('')}`]: {
      mimeType: 'image/png',
      bytes: PNG,
    },
    [`data:image/jpg;base64,${JPEG.toString('base64')}`]: { mimeType: 'image/jpeg', bytes: JPEG },
    [`data:;base64,${JPEG.toString('base64')}`]: { mimeType: 'image/jpeg', bytes: JPEG },
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
    `data:image/svg+xml;base64,${SVG.toString('base64')}`,
    `data:image/png;base64,${SVG.toString('base64')}`,
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
  await objects.put(`outputs/${NAME}.mp4`, samples['video/mp4'] as Buffer, 'video/mp4')
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
  const sized = (bytes: number) => Buffer.concat([PNG, Buffer.alloc(bytes - PNG.byteLength)])
  await objects.put(key, sized(MAX_PRESIGNED_BYTES + 1), 'image/png')
  await objects.put(other, sized(MAX_PRESIGNED_BYTES), 'image/png')
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
  await objects.put(`outputs/${NAME}.png`, Buffer.concat([PNG, Buffer.alloc(1_000_000 - PNG.byteLength)]), 'image/png')
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
    response.setHeader('Content-Type', 'image/png').end(PNG)
  })
  const paths = [`/cdn/outputs/${NAME}.png?a=1`, '/picture']
  for (const url of [elsewhere + paths[0], publicUrl + paths[1]]) {
    const media = await load(url, signal)
    t.equal(media.mimeType, 'image/png')
    t.same(Buffer.from(media.bytes), PNG)
  }
  t.same(requests, paths)
})

t.test('the type of an image is the one that its bytes show, whatever its server says', async t => {
  const images = Object.entries(samples).filter(([type]) => type.startsWith('image/'))
  for (const [mimeType, bytes] of images)
    for (const label of [undefined, 'binary/octet-stream', 'image/jpg', 'image/gif', 'text/html', 'nonsense']) {
      const { load, elsewhere } = await setUp(t, (_, response) => {
        response.writeHead(200, label === undefined ? {} : { 'Content-Type': label }).end(bytes)
      })
      const media = await load(elsewhere, signal)
      t.equal(media.mimeType, mimeType, `${label}`)
      t.ok(Buffer.from(media.bytes).equals(bytes))
    }
})

t.test('the type of a file in the store is the one that its bytes show', async t => {
  const { load, objects, publicUrl } = await setUp(t)
  await objects.put(`outputs/${NAME}.png`, JPEG, 'image/png')
  t.equal((await load(`${publicUrl}/cdn/outputs/${NAME}.png`, signal)).mimeType, 'image/jpeg')
  await objects.put(`uploads/${NAME}.png`, SVG, 'image/png')
  await t.rejects(load(`${publicUrl}/cdn/uploads/${NAME}.png`, signal), InputMediaError)
})

t.test('what is no whole image is refused, whatever its server says', async t => {
  const page = Buffer.from('<!doctype html><title>Sign in</title>')
  const files: [what: string, bytes: Buffer, message: RegExp, label?: string][] = [
    ['a page', page, /of unknown type.* image\/png, .*image\/avif\.$/],
    ['a page that says so', page, /^The file is text\/html, which is not accepted\./, 'text/html; charset=utf-8'],
    ['a drawing', SVG, /of unknown type/],
    ['a drawing that says so', SVG, /^The file is image\/svg\+xml, which is not accepted\./, 'image/svg+xml'],
    ['a strange label', page, /of unknown type/, `text/${'x'.repeat(5000)}`],
    ['HEIC', HEIC, /image\/heic, which is not accepted/],
    ['a film', samples['video/mp4'] as Buffer, /video\/mp4, not an image/],
    ['text', Buffer.from('hello'), /of unknown type/],
    ['a cut PNG', PNG.subarray(0, -13), /its end is missing/],
    ['a cut JPEG', JPEG.subarray(0, -13), /its end is missing/],
    ['a cut PNG of many slices', pngWith(PNG, 'teSt', Buffer.alloc(3_000_000)).subarray(0, -13), /its end is missing/],
    ['a PNG that is also an archive', Buffer.concat([PNG, zipArchive()]), /both image\/png and a ZIP archive/],
    ['nothing', Buffer.alloc(0), /empty/],
  ]
  for (const [what, bytes, message, label = 'image/png'] of files) {
    const { load, elsewhere } = await setUp(t, (_, response) => {
      response.setHeader('Content-Type', label).end(bytes)
    })
    await t.rejects(load(elsewhere, signal), { name: 'InputMediaError', message }, what)
  }
})

t.test('an image behind redirects is loaded', async t => {
  const { load, elsewhere, requests } = await setUp(t, ({ url }, response) => {
    if (url === '/image') response.setHeader('Content-Type', 'binary/octet-stream').end(PNG)
    else response.writeHead(302, { Location: url === '/share' ? '/cdn?to=image' : '/image' }).end()
  })
  t.equal((await load(`${elsewhere}/share`, signal)).mimeType, 'image/png')
  t.same(requests, ['/share', '/cdn?to=image', '/image'])
})

t.test('a video is a video, and nothing else', async t => {
  const film = await setUp(t, (_, response) => response.end(samples['video/mp4']))
  t.equal((await (await film.find(film.elsewhere, 'video_url')).load(signal, () => {})).mimeType, 'video/mp4')
  await t.rejects(film.load(film.elsewhere, signal), { message: 'The file is video/mp4, not an image.' })
  const photo = await setUp(t, (_, response) => response.setHeader('Content-Type', 'video/mp4').end(PNG))
  const found = await photo.find(photo.elsewhere, 'video_url')
  await t.rejects(
    found.load(signal, () => {}),
    { name: 'InputMediaError', message: 'The file is image/png, not a video.' },
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
  const find = createInputMediaFinder({ outbound, objects, addresses, clock: systemClock, messageOf: fileFault })
  const load = async (url: string, signal: AbortSignal, onSize = (_sizeBytes: number) => {}) =>
    (await find(url)).load(signal, onSize)
  return { find, load, objects, requests, publicUrl, elsewhere: `http://127.0.0.1:${port}` }
}
