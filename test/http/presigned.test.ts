import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { readdir } from 'node:fs/promises'
import { connect } from 'node:net'
import { join } from 'node:path'
import t from 'tap'
import { PresignedUpload } from '../../schemas/api/upload.ts'
import { MAX_PRESIGNED_BYTES } from '../../schemas/primitives.ts'
import { compileCheck } from '../../src/services/schema-check.ts'
import type { Client } from '../support/client.ts'
import { picture } from '../support/sample-files.ts'
import { openAccount, startService } from '../support/service.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'
import { until } from '../support/until.ts'

const folder = await temporaryFolder(t)
const service = await startService(t, { folder })
const customer = await openAccount(service)
const stranger = service.client()
const png = await picture('png')
const wanted = { filename: 'жук.png', mime_type: 'image/png' }
const faultsOfGrant = compileCheck(PresignedUpload)

const leftovers = () => readdir(join(folder, 'objects', 'arriving'))

const grant = async (request: object = {}, client: Client = customer): Promise<PresignedUpload> =>
  (await client.post<PresignedUpload>('/v1/uploads/presigned', { ...wanted, ...request })).body

/** The path of an address with and without its query. */
const targetOf = (address: string) => {
  const { pathname, search } = new URL(address)
  return { target: pathname + search, pathname }
}

/** Sends a file to an address without a key. */
const put = (address: string, body: string | Uint8Array, type = 'image/png') =>
  stranger.send(targetOf(address).target, { method: 'PUT', headers: { 'Content-Type': type }, body })

t.test('a file sent to its presigned URL becomes an upload', async t => {
  const { status, body } = await customer.post<PresignedUpload>('/v1/uploads/presigned', {
    ...wanted,
    size_bytes: png.length,
    folder_path: 'photos',
  })
  t.equal(status, 200)
  t.same(faultsOfGrant(body), [])
  t.equal(body.max_size_bytes, MAX_PRESIGNED_BYTES)
  const path = `/v1/uploads/${body.id}`
  const early = await customer.send(path)
  t.equal(early.status, 404)
  t.equal(early.body.error.code, 'upload_not_found')
  t.equal((await stranger.send(targetOf(body.cdn_url).pathname)).status, 404)

  const sent = await put(body.presigned_url, png)
  t.equal(sent.status, 200)
  t.equal(sent.text, '')
  const served = await fetch(stranger.url + targetOf(body.cdn_url).pathname)
  t.equal(sent.headers.get('ETag'), served.headers.get('ETag'))
  t.ok(Buffer.from(await served.arrayBuffer()).equals(png))

  const found = await customer.send(path)
  t.equal(found.status, 200)
  t.match(found.body, {
    id: body.id,
    url: body.cdn_url,
    filename: 'жук.png',
    folder_path: 'photos',
    size_bytes: png.length,
    sha256: createHash('sha256').update(png).digest('hex'),
    will_delete_at: body.will_delete_at,
  })
  t.same((await customer.send('/v1/uploads')).body, {
    object: 'list',
    data: [found.body],
    has_more: false,
    next_cursor: null,
  })
})

t.test('a grant of another account is reported as absent', async t => {
  const { id, presigned_url } = await grant()
  await put(presigned_url, png)
  const other = await openAccount(service)
  const ask = (id: string) => other.send(`/v1/uploads/${id}`, { headers: { 'X-Request-Id': 'same' } })
  t.equal((await ask(id)).text, (await ask('upl_01h455vb4pex5vsknk084sn02q')).text)
  t.equal((await customer.send(`/v1/uploads/${id}`)).status, 200)
})

t.test('a file of another type is deleted when it is read, and can be sent again', async t => {
  const { id, presigned_url, cdn_url } = await grant()
  for (const bytes of [await picture('jpeg'), '<svg/>', '']) {
    t.equal((await put(presigned_url, bytes)).status, 200)
    const found = await customer.send(`/v1/uploads/${id}`)
    t.equal(found.status, 400)
    t.equal(found.body.error.code, 'unsupported_media_type')
    t.equal((await stranger.send(targetOf(cdn_url).pathname)).status, 404)
    t.equal((await customer.send(`/v1/uploads/${id}`)).status, 404, 'the file is deleted')
  }
  t.equal((await put(presigned_url, png)).status, 200)
  t.equal((await customer.send(`/v1/uploads/${id}`)).status, 200)
})

t.test('a file can be replaced until its URL expires', async t => {
  const { presigned_url, cdn_url } = await grant()
  const first = await put(presigned_url, png)
  const other = await picture('png', 7)
  const second = await put(presigned_url, other)
  t.not(first.headers.get('ETag'), second.headers.get('ETag'))
  const served = await fetch(stranger.url + targetOf(cdn_url).pathname)
  t.ok(Buffer.from(await served.arrayBuffer()).equals(other))
})

t.test('a modified URL is refused with instructions', async t => {
  const { presigned_url } = await grant()
  const other = await grant()
  const changed = (change: (url: URL) => void) => {
    const url = new URL(presigned_url)
    change(url)
    return `${url}`
  }
  const addresses = [
    changed(url => {
      url.pathname = new URL(other.presigned_url).pathname
    }),
    changed(url => {
      url.search = ''
    }),
    changed(url => url.searchParams.set('max', '999999999')),
    changed(url => url.searchParams.set('type', 'text/html')),
    changed(url => url.searchParams.set('expires', '9999999999999')),
    changed(url => url.searchParams.set('signature', '0'.repeat(64))),
  ]
  for (const address of addresses) {
    const { status, body } = await put(address, png)
    t.equal(status, 404, address)
    t.equal(body.error.code, 'upload_not_found')
    t.match(body.error.message, 'POST /v1/uploads/presigned')
  }
  for (const { cdn_url } of [other, { cdn_url: presigned_url }])
    t.equal((await stranger.send(targetOf(cdn_url).pathname)).status, 404)
})

t.test('an expired URL is refused', async t => {
  const shortGrants = await startService(t, { environment: { UPLOAD_GRANT_MINUTES: '0.001' } })
  const client = await openAccount(shortGrants)
  const { presigned_url, expires_at, cdn_url } = await grant({}, client)
  await until('the URL has expired', () => Date.now() > Date.parse(expires_at))
  const { status, body } = await client.send(targetOf(presigned_url).target, { method: 'PUT', body: png })
  t.equal(status, 404)
  t.equal(body.error.code, 'upload_not_found')
  t.match(body.error.message, 'POST /v1/uploads/presigned')
  t.equal((await client.send(targetOf(cdn_url).pathname)).status, 404)
})

t.test('a file that is too large or declares another type is refused', async t => {
  const { presigned_url, cdn_url } = await grant()
  const tooLarge = await put(presigned_url, Buffer.alloc(MAX_PRESIGNED_BYTES + 1))
  t.equal(tooLarge.status, 413)
  t.equal(tooLarge.body.error.code, 'payload_too_large')
  const other = await put(presigned_url, png, 'image/jpeg')
  t.equal(other.status, 400)
  t.equal(other.body.error.code, 'unsupported_media_type')
  t.equal((await stranger.send(targetOf(cdn_url).pathname)).status, 404)
  t.same(await leftovers(), [])
})

t.test('an interrupted PUT stores nothing and leaves nothing behind', async t => {
  const { presigned_url, cdn_url } = await grant()
  const { port } = new URL(stranger.url)
  const socket = connect(Number(port), '127.0.0.1')
  await once(socket, 'connect')
  socket.write(`PUT ${targetOf(presigned_url).target} HTTP/1.1\r\nHost: localhost\r\nContent-Length: 100000\r\n\r\n`)
  socket.write(Buffer.alloc(50_000))
  await until('a part of the file has arrived', async () => (await leftovers()).length > 0)
  socket.destroy()
  await until('the part is deleted', async () => (await leftovers()).length === 0)
  t.equal((await stranger.send(targetOf(cdn_url).pathname)).status, 404)
})

t.test('an upload deleted before its file arrives stays deleted', async t => {
  const { id, presigned_url } = await grant()
  const { status, body } = await customer.send(`/v1/uploads/${id}`, { method: 'DELETE' })
  t.equal(status, 200)
  t.same(body, { object: 'upload', id, deleted: true })
  await put(presigned_url, png)
  t.equal((await customer.send(`/v1/uploads/${id}`)).status, 404)
})

t.test('an invalid request is refused with the path of its fault', async t => {
  const head = await service.core.log.head()
  const requests: [object, string][] = [
    [{ mime_type: 'image/png' }, '/filename'],
    [{ filename: 'a.png' }, '/mime_type'],
    [{ ...wanted, filename: 'a/b.png' }, '/filename'],
    [{ ...wanted, filename: '' }, '/filename'],
    [{ ...wanted, size_bytes: 0 }, '/size_bytes'],
    [{ ...wanted, size_bytes: 1.5 }, '/size_bytes'],
    [{ ...wanted, size_bytes: '1' }, '/size_bytes'],
    [{ ...wanted, folder_path: '../a' }, '/folder_path'],
    [{ ...wanted, colour: 'red' }, '/colour'],
  ]
  for (const [request, path] of requests) {
    const { status, body } = await customer.post('/v1/uploads/presigned', request)
    t.equal(status, 400, path)
    t.match(body.error, { code: 'invalid_request', errors: [{ path }] })
  }
  for (const mime_type of ['image/svg+xml', 'text/html', 'image', 'application/octet-stream']) {
    const { status, body } = await customer.post('/v1/uploads/presigned', { ...wanted, mime_type })
    t.equal(status, 400, mime_type)
    t.equal(body.error.code, 'unsupported_media_type')
  }
  const { status, body } = await customer.post('/v1/uploads/presigned', {
    ...wanted,
    size_bytes: MAX_PRESIGNED_BYTES + 1,
  })
  t.equal(status, 413)
  t.match(body.error, { code: 'payload_too_large', errors: [{ path: '/size_bytes' }] })
  t.equal(await service.core.log.head(), head, 'nothing was recorded')
  t.equal((await grant({ size_bytes: MAX_PRESIGNED_BYTES })).method, 'PUT')
})

t.test('pages of other sites can send a file to a presigned URL and read the answer', async t => {
  const { presigned_url, cdn_url } = await grant()
  const { target, pathname } = targetOf(presigned_url)
  const preflightHeaders = { 'Access-Control-Request-Method': 'PUT', 'Access-Control-Request-Headers': 'content-type' }
  const allowed = await stranger.send(target, {
    method: 'OPTIONS',
    headers: { Origin: 'https://example.com', ...preflightHeaders },
  })
  t.equal(allowed.status, 204)
  t.match(allowed.headers.get('Access-Control-Allow-Methods'), /PUT/)
  t.match(allowed.headers.get('Access-Control-Allow-Headers'), /content-type/i)
  const answers = [
    allowed,
    await put(presigned_url, png),
    await put(cdn_url, png),
    await stranger.send(pathname),
    await stranger.send(pathname.replace(/.{4}$/, '.gif')),
  ]
  t.same(
    answers.map(({ status, headers }) => [status, headers.get('Access-Control-Allow-Origin')]),
    [204, 200, 404, 200, 404].map(status => [status, '*']),
  )
  const ofApi = await customer.send('/v1/balance', { headers: { Origin: 'https://example.com' } })
  t.equal(ofApi.headers.get('Access-Control-Allow-Origin'), null, 'the API itself stays closed to other sites')
})
