import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { readdir } from 'node:fs/promises'
import { request } from 'node:http'
import { connect } from 'node:net'
import { join } from 'node:path'
import t from 'tap'
import { PresignedUpload, type Upload } from '../../schemas/api/upload.ts'
import { MAX_PRESIGNED_BYTES } from '../../schemas/primitives.ts'
import { compileCheck } from '../../src/services/schema-check.ts'
import { caughtUp } from '../support/caught-up.ts'
import type { Client } from '../support/client.ts'
import { filePart, upload } from '../support/multipart.ts'
import { picture, sampleFiles } from '../support/sample-files.ts'
import { openAccount, startService } from '../support/service.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'
import { until } from '../support/until.ts'
import { unwrap } from '../support/unwrap.ts'

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

t.test('a URL accepts the type that it was granted for by any of its names, and by none', async t => {
  const names = {
    jpeg: ['image/jpg', 'image/pjpeg', 'image/jpeg', 'IMAGE/JPG; q=1'],
    png: ['image/x-png', 'image/apng', 'image/png', 'binary/octet-stream', 'application/octet-stream', ''],
  }
  for (const [format, types] of Object.entries(names)) {
    const file = await picture(format as 'png')
    for (const type of types) {
      const { id, presigned_url } = await grant({ mime_type: type.includes('/octet') || !type ? 'image/png' : type })
      t.equal((await put(presigned_url, file, type)).status, 200, type)
      const { status, body } = await customer.send<Upload>(`/v1/uploads/${id}`)
      t.equal(status, 200, type)
      t.equal(body.mime_type, `image/${format}`, type)
    }
  }
  const film = await grant({ mime_type: 'video/x-m4v' })
  t.equal((await put(film.presigned_url, (await sampleFiles())['video/mp4'] as Buffer, 'video/x-m4v')).status, 200)
  t.match((await customer.send(`/v1/uploads/${film.id}`)).body, { mime_type: 'video/mp4' })
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

t.test('a third file that arrives at a URL is refused before it is read', async t => {
  const { presigned_url } = await grant()
  const { target } = targetOf(presigned_url)
  const begin = () => {
    const sending = request(stranger.url + target, { method: 'PUT', headers: { 'Content-Length': png.length } })
    sending.write(png.subarray(0, 50))
    return sending.on('error', () => undefined)
  }
  const [first, second] = [begin(), begin()]
  await until('parts of two files have arrived', async () => (await leftovers()).length === 2)
  const third = begin()
  const [refused] = await once(third, 'response')
  t.match(refused, { statusCode: 429, headers: { 'retry-after': /^\d+$/ } })
  third.destroy()
  t.equal((await leftovers()).length, 2)
  t.equal((await put(presigned_url.replace(/.$/, ''), png)).status, 404, 'the limit tells strangers nothing')
  t.equal((await put((await grant()).presigned_url, png)).status, 200, 'other URLs still work')
  first.destroy()
  await until('the part that broke off is deleted', async () => (await leftovers()).length === 1)
  t.equal((await put(presigned_url, png)).status, 200, 'one that broke off makes room')
  second.end(png.subarray(50))
  t.match(await once(second, 'response'), [{ statusCode: 200 }])
  const both = await Promise.all([put(presigned_url, png), put(presigned_url, png)])
  t.match(both, [{ status: 200 }, { status: 200 }], 'whole files make room')
})

/** A client with another key of the account, and a function that revokes it. */
const withOtherKey = async () => {
  const { keys } = service.core.services
  const operator = { kind: 'operator', name: 'test' } as const
  const { keyId, apiKey } = unwrap(await keys.create(operator, customer.accountId, { name: 'other' }))
  await caughtUp(service.core)
  const revoke = async () => unwrap(await keys.revoke(operator, customer.accountId, keyId))
  return { client: service.client(apiKey), revoke }
}

/** Ways to withdraw a presigned URL. Each returns a grant and withdraws it later. */
const withdrawals = {
  'its upload was deleted': async () => {
    const granted = await grant()
    const withdraw = async () => {
      const { status, body } = await customer.send(`/v1/uploads/${granted.id}`, { method: 'DELETE' })
      t.equal(status, 200)
      t.same(body, { object: 'upload', id: granted.id, deleted: true })
    }
    return { granted, withdraw }
  },
  'its key was revoked': async () => {
    const { client, revoke } = await withOtherKey()
    return { granted: await grant({}, client), withdraw: revoke }
  },
}

for (const [reason, prepare] of Object.entries(withdrawals)) {
  t.test(`a PUT to a URL is refused after ${reason}`, async t => {
    const { granted, withdraw } = await prepare()
    await withdraw()
    const head = await service.core.log.head()
    const { status, body } = await put(granted.presigned_url, png)
    t.equal(status, 404)
    t.equal(body.error.code, 'upload_not_found')
    t.match(body.error.message, /deleted.*revoked.*POST \/v1\/uploads\/presigned/)
    t.equal((await stranger.send(targetOf(granted.cdn_url).pathname)).status, 404)
    t.equal((await customer.send(`/v1/uploads/${granted.id}`)).status, 404)
    t.equal(await service.core.log.head(), head, 'nothing was recorded')
    t.same(await leftovers(), [])
    t.equal((await put((await grant()).presigned_url, png)).status, 200, 'other URLs still work')
  })

  t.test(`a PUT is refused if ${reason} while it arrives`, async t => {
    const { granted, withdraw } = await prepare()
    const { pathname, target } = targetOf(granted.presigned_url)
    const sending = request(stranger.url + target, { method: 'PUT', headers: { 'Content-Length': png.length } })
    sending.write(png.subarray(0, 50))
    await until('a part of the file has arrived', async () => (await leftovers()).length > 0)
    await withdraw()
    const head = await service.core.log.head()
    sending.end(png.subarray(50))
    const [{ statusCode }] = await once(sending, 'response')
    t.equal(statusCode, 404)
    t.equal((await stranger.send(pathname)).status, 404)
    t.equal(await service.core.log.head(), head, 'nothing was recorded')
    t.same(await leftovers(), [])
  })
}

t.test('a file that was sent before its key was revoked is kept', async t => {
  const { client, revoke } = await withOtherKey()
  const { id, presigned_url, cdn_url } = await grant({}, client)
  t.equal((await put(presigned_url, png)).status, 200)
  await revoke()
  t.equal((await put(presigned_url, await picture('png', 7))).status, 404)
  const served = await fetch(stranger.url + targetOf(cdn_url).pathname)
  t.ok(Buffer.from(await served.arrayBuffer()).equals(png))
  t.equal((await customer.send(`/v1/uploads/${id}`)).status, 200)
})

t.test('a file is a download until it is inspected', async t => {
  const { id, presigned_url, cdn_url } = await grant()
  const { pathname } = targetOf(cdn_url)
  const isShown = async (bytes: string | Uint8Array) => {
    const types = new Set<string | null>()
    for (const [method, headers] of [['GET'], ['HEAD'], ['GET', { Range: 'bytes=0-3' }]] as const) {
      const answer = await fetch(stranger.url + pathname, { method, headers: { ...headers } })
      const content = Buffer.from(await answer.arrayBuffer())
      if (method === 'GET') t.ok(content.equals(Buffer.from(bytes).subarray(0, headers ? 4 : undefined)))
      const type = answer.headers.get('Content-Type')
      const isShown = type === 'image/png'
      t.equal(answer.headers.get('Content-Disposition'), isShown ? null : 'attachment')
      t.equal(answer.headers.get('Cache-Control'), isShown ? 'public, max-age=3600' : 'no-store')
      t.equal(answer.headers.get('X-Content-Type-Options'), 'nosniff')
      types.add(type)
    }
    t.equal(types.size, 1)
    if (!types.has('image/png')) t.same([...types], ['application/octet-stream'])
    return types.has('image/png')
  }
  const page = '<!doctype html><script>alert(1)</script>'
  await put(presigned_url, page)
  t.notOk(await isShown(page))
  await put(presigned_url, png)
  t.notOk(await isShown(png), 'nobody has inspected it')
  t.equal((await customer.send(`/v1/uploads/${id}`)).status, 200)
  t.ok(await isShown(png))
  await put(presigned_url, page)
  t.notOk(await isShown(page), 'another file has replaced the one that was inspected')
  await put(presigned_url, png)
  t.ok(await isShown(png), 'these bytes were inspected')
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

t.test('an account without room gets no address and stores no file until it deletes one', async t => {
  const service = await startService(t, { environment: { UPLOAD_QUOTA: '101 MB' } })
  const customer = await openAccount(service)
  const ask = () => customer.post<PresignedUpload>('/v1/uploads/presigned', wanted)
  // Each address may take 50 MB.
  t.same([(await ask()).status, (await ask()).status], [200, 200])
  const head = await service.core.log.head()
  const { status, body, headers } = await ask()
  t.equal(status, 429)
  t.match(body, {
    error: { code: 'rate_limited', message: /quota of 101 MB.* A presigned URL counts as 50 MB until / },
  })
  t.ok(headers.get('Retry-After'))
  t.equal(await service.core.log.head(), head)
  // A file that the service receives counts with its own size.
  const file = filePart(Buffer.concat([png, Buffer.alloc(900_000)]))
  const stored = await upload(customer, file)
  t.same([stored.status, (await upload(customer, file)).status], [200, 429])
  await customer.send(`/v1/uploads/${stored.body.id}`, { method: 'DELETE' })
  t.equal((await upload(customer, file)).status, 200)
})
