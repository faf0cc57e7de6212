import { createHash } from 'node:crypto'
import { connect } from 'node:net'
import { text } from 'node:stream/consumers'
import t from 'tap'
import { Upload, UploadList } from '../../schemas/api/upload.ts'
import { MAX_INLINE_BYTES } from '../../schemas/primitives.ts'
import { compileCheck } from '../../src/services/schema-check.ts'
import { caughtUp } from '../support/caught-up.ts'
import type { Client } from '../support/client.ts'
import { collect } from '../support/collect.ts'
import { filePart, formOf, formType, sendForm, textPart, upload } from '../support/multipart.ts'
import { picture, pngWith, sampleFiles } from '../support/sample-files.ts'
import { openAccount, startService } from '../support/service.ts'
import { isLong } from '../support/test-length.ts'

const service = await startService(t)
const customer = await openAccount(service)
const png = await picture('png')

const DAY_MS = 24 * 60 * 60 * 1000

const faultsOfUpload = compileCheck(Upload)
const faultsOfList = compileCheck(UploadList)

const list = async (client: Client, query = ''): Promise<UploadList> => {
  const { body } = await client.send<UploadList>(`/v1/uploads${query}`)
  t.same(faultsOfList(body), [], 'a list of uploads')
  return body
}

t.test('an upload describes its file', async t => {
  const { status, body } = await upload(customer, filePart(png), textPart('folder_path', '/photos/2026/'))
  t.equal(status, 200)
  t.same(faultsOfUpload(body), [])
  t.match(body, {
    object: 'upload',
    url: /\/cdn\/uploads\/[0-9a-f]{32}\.png$/,
    size_bytes: png.length,
    mime_type: 'image/png',
    filename: 'a.png',
    folder_path: 'photos/2026',
    sha256: createHash('sha256').update(png).digest('hex'),
  })
  // The two times may differ by a few milliseconds.
  const keptMs = Date.parse(body.will_delete_at) - Date.parse(body.created_at)
  t.equal(Math.round(keptMs / DAY_MS), 7)
  t.same((await customer.send(`/v1/uploads/${body.id}`)).body, body, 'by its id')
  t.same((await list(customer)).data[0], body, 'in the list')
})

t.test('files of every accepted type are served unchanged', async t => {
  for (const [type, bytes] of Object.entries(await sampleFiles())) {
    const { status, body } = await upload(customer, filePart(bytes, type))
    t.equal(status, 200, type)
    t.equal(body.mime_type, type)
    const answer = await fetch(service.client().url + new URL(body.url).pathname)
    t.equal(answer.headers.get('Content-Type'), type)
    t.ok(Buffer.from(await answer.arrayBuffer()).equals(bytes), type)
  }
})

t.test('a declared type may be an alias, in any case and with parameters', async t => {
  const { body } = await upload(customer, filePart(await picture('jpeg'), 'IMAGE/JPG; q=1'))
  t.equal(body.mime_type, 'image/jpeg')
})

t.test('a browser form is accepted', async t => {
  const form = new FormData()
  form.append('folder_path', 'photos')
  form.append('file', new Blob([png], { type: 'image/png' }), 'a "b".png')
  const headers = { Authorization: `Bearer ${customer.apiKey}` }
  const answer = await fetch(`${customer.url}/v1/uploads`, { method: 'POST', headers, body: form })
  t.equal(answer.status, 200)
  t.match(await answer.json(), { filename: 'a "b".png', folder_path: 'photos' })
})

t.test('a file name is kept in any script, without its path', async t => {
  const names = {
    'filename="жук 猫 🐈.png"': 'жук 猫 🐈.png',
    'filename=plain.png': 'plain.png',
    'filename="C:\\pictures\\a.png"': 'a.png',
    'filename="/tmp/../a.png"': 'a.png',
    'filename="say \\"a\\".png"': 'say "a".png',
    'filename="say %22a%22; name=x.png"': 'say "a"; name=x.png',
    'filename="100%.png"': '100%.png',
    'filename="a.png"; filename*=UTF-8\'\'%e7%8c%ab.png': '猫.png',
    "filename*=utf-8'en'a%2Fb.png": 'b.png',
    'filename="a.png"; filename*=UTF-8\'\'%ff.png': 'a.png',
    'filename="a.png"; filename*=ISO-8859-1\'\'%e9.png': 'a.png',
    'FileName="a.png"': 'a.png',
    'filename="folded\r\n .png"': 'folded .png',
    [`filename="${'猫'.repeat(251)}.png"`]: `${'猫'.repeat(251)}.png`,
  }
  for (const [parameter, name] of Object.entries(names)) {
    const { status, body } = await upload(customer, filePart(png, 'image/png', parameter))
    t.equal(status, 200, parameter)
    t.equal(body.filename, name)
  }
})

t.test('a file without a name is accepted, and named after its type', async t => {
  const parts = {
    'without a name': filePart(png, 'image/png', 'x=y'),
    'without a name and with an unspecific type': filePart(png, 'application/octet-stream', 'x=y'),
    'without a name and a type': textPart('file', png),
    'as .NET sends it': { headers: 'Content-Disposition: form-data; name=file', body: png },
  }
  for (const [name, part] of Object.entries(parts)) {
    const { status, body } = await upload(customer, part)
    t.equal(status, 200, name)
    t.match(body, { filename: 'file.png', mime_type: 'image/png', size_bytes: png.length }, name)
  }
})

t.test('the order of the parts and the text around them do not matter', async t => {
  const folder = textPart('folder_path', 'фото')
  const forms = {
    'the folder first': formOf(folder, filePart(png)),
    'the folder last': formOf(filePart(png), folder),
    'a folder with a type': formOf(filePart(png), {
      ...folder,
      headers: `${folder.headers}\r\nContent-Type: text/plain`,
    }),
    'a folder with a transfer encoding': formOf(filePart(png), {
      ...folder,
      headers: `${folder.headers}\r\nContent-Transfer-Encoding: 7bit`,
    }),
    'a preamble and an epilogue': Buffer.concat([
      Buffer.from('a preamble\r\n'),
      formOf(filePart(png), folder),
      Buffer.from('and an epilogue'),
    ]),
  }
  for (const [name, form] of Object.entries(forms)) {
    const { status, body } = await sendForm(customer, form)
    t.equal(status, 200, name)
    t.match(body, { folder_path: 'фото', size_bytes: png.length })
  }
  const quoted = await sendForm(
    customer,
    formOf(filePart(png)),
    formType.replace(/boundary=(.*)/, 'BOUNDARY="$1"; a=b'),
  )
  t.equal(quoted.status, 200, 'a boundary in quotes')
})

t.test('a form can arrive in pieces of any size', async t => {
  // Beginnings of the boundary occur at many places.
  const file = Buffer.concat([png, Buffer.from('\r\n--\r\n----\r\n------one-8f2\r\r\n')])
  const form = formOf(textPart('folder_path', '猫'), filePart(file, 'image/png', 'filename="жук.png"'))
  const { port } = new URL(customer.url)
  for (const size of [1, 7, 50]) {
    const socket = connect(Number(port), '127.0.0.1').setNoDelay()
    socket.write(
      `POST /v1/uploads HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nAuthorization: Bearer ${customer.apiKey}\r\n` +
        `Content-Type: ${formType}\r\nTransfer-Encoding: chunked\r\n\r\n`,
    )
    for (let at = 0; at < form.length; at += size) {
      const piece = form.subarray(at, at + size)
      socket.write(Buffer.concat([Buffer.from(`${piece.length.toString(16)}\r\n`), piece, Buffer.from('\r\n')]))
    }
    socket.write('0\r\n\r\n')
    const [, answered = ''] = (await text(socket)).split('\r\n\r\n')
    const sha256 = createHash('sha256').update(file).digest('hex')
    t.match(
      JSON.parse(/\{.*\}/.exec(answered)?.[0] ?? '{}'),
      { filename: 'жук.png', folder_path: '猫', sha256 },
      `${size}`,
    )
  }
})

/** The length, type and checksum of a PNG chunk. */
const CHUNK_OVERHEAD = 12

t.test('a file of exactly the maximum size is accepted', async t => {
  for (const filling of isLong ? ['\0', '\r', '-'] : ['-']) {
    const file = pngWith(png, 'teSt', Buffer.alloc(MAX_INLINE_BYTES - png.length - CHUNK_OVERHEAD, filling))
    const { status, body } = await upload(customer, filePart(file), textPart('folder_path', 'large'))
    t.equal(status, 200)
    t.equal(body.size_bytes, MAX_INLINE_BYTES)
    await customer.send(`/v1/uploads/${body.id}`, { method: 'DELETE' })
  }
})

t.test('the type of a file sent without one is detected', async t => {
  for (const type of ['', 'application/octet-stream', ';;;']) {
    const { status, body } = await upload(customer, filePart(await picture('webp'), type))
    t.equal(status, 200, type)
    t.match(body, { mime_type: 'image/webp', url: /\.webp$/ })
  }
})

t.test('an upload is two events with the key and the request id', async t => {
  const { log } = service.core
  const before = await log.head()
  await customer.send('/v1/uploads', {
    method: 'POST',
    headers: { 'Content-Type': formType, 'X-Request-Id': 'upload-1' },
    body: formOf(filePart(png)),
  })
  const events = await collect(log.readAll(before))
  const metadata = { requestId: 'upload-1', actor: { kind: 'key', keyId: customer.keyId } }
  t.match(events, [
    { type: 'UploadGranted', metadata },
    { type: 'UploadStored', metadata },
  ])
  t.equal(events.length, 2)
})

t.test('the list holds stored uploads, newest first, in pages of any size', async t => {
  const client = await openAccount(service)
  const uploads: Upload[] = []
  for (let shade = 0; shade < 5; shade++)
    uploads.unshift((await upload(client, filePart(await picture('png', shade)))).body)
  await client.post('/v1/uploads/presigned', { filename: 'a.png', mime_type: 'image/png' })
  const [deleted] = uploads.splice(2, 1)
  await client.send(`/v1/uploads/${deleted?.id}`, { method: 'DELETE' })
  t.same(await list(client), { object: 'list', data: uploads, has_more: false, next_cursor: null })
  for (const limit of [1, 2, 3, 4, 100]) {
    const found: Upload[] = []
    let cursor: string | null = ''
    while (cursor !== null) {
      const page = await list(client, `?limit=${limit}${cursor && `&cursor=${cursor}`}`)
      t.ok(page.data.length <= limit)
      found.push(...page.data)
      cursor = page.next_cursor
    }
    t.same(found, uploads, `limit ${limit}`)
  }
  t.same((await list(await openAccount(service))).data, [], 'another account has none')
})

t.test('an invalid query is refused with the path of its fault', async t => {
  const faults = { 'limit=0': '/limit', 'limit=101': '/limit', 'cursor=x': '/cursor', 'status=granted': '/status' }
  for (const [query, path] of Object.entries(faults)) {
    const { status, body } = await customer.send(`/v1/uploads?${query}`)
    t.equal(status, 400, query)
    t.match(body.error, { code: 'invalid_request', errors: [{ path }] }, query)
  }
})

t.test('a deleted upload disappears everywhere', async t => {
  const { body } = await upload(customer, filePart(png))
  const path = `/v1/uploads/${body.id}`
  const deleted = await customer.send(path, { method: 'DELETE' })
  t.equal(deleted.status, 200)
  t.same(deleted.body, { object: 'upload', id: body.id, deleted: true })
  for (const method of ['GET', 'DELETE']) {
    const { status, body } = await customer.send(path, { method })
    t.equal(status, 404, method)
    t.equal(body.error.code, 'upload_not_found')
  }
  t.equal((await service.client().send(new URL(body.url).pathname)).status, 404)
  t.notOk((await list(customer, '?limit=100')).data.some(({ id }) => id === body.id))
})

t.test('an upload of another account is reported as absent', async t => {
  const { body } = await upload(customer, filePart(png))
  const stranger = await openAccount(service)
  for (const method of ['GET', 'DELETE']) {
    const ask = (id: string) => stranger.send(`/v1/uploads/${id}`, { method, headers: { 'X-Request-Id': 'same' } })
    const [foreign, absent] = await Promise.all([ask(body.id), ask('upl_01h455vb4pex5vsknk084sn02q')])
    t.equal(foreign.status, 404)
    t.equal(foreign.text, absent.text)
    t.same(comparable(foreign.headers), comparable(absent.headers))
  }
  t.equal((await customer.send(`/v1/uploads/${body.id}`)).status, 200, 'it is still there')
})

t.test('a malformed upload id returns 404', async t => {
  const { body } = await upload(customer, filePart(png))
  const absent = [
    'presigned',
    body.id.toUpperCase(),
    body.id.replace('upl_', 'run_'),
    body.id.slice(0, -1),
    `${body.id}0`,
    `${body.id}%2f`,
    `${body.id}%00`,
    `%2f..%2f${body.id}`,
    '%ff',
    '0'.repeat(5000),
  ]
  for (const id of absent)
    for (const method of ['GET', 'DELETE']) {
      const { status, text } = await customer.sendRaw(`/v1/uploads/${id}`, { method })
      t.equal(status, 404, `${method} ${id}`)
      t.equal(JSON.parse(text).error.code, 'upload_not_found')
    }
})

t.test('without a valid key uploads can be neither sent, read nor deleted', async t => {
  const { accounts, log } = service.core
  const revoked = await openAccount(service)
  const { body } = await upload(revoked, filePart(png))
  const revocation = { type: 'RevokeApiKey', keyId: revoked.keyId } as const
  await accounts.execute({ kind: 'operator', name: 'test' }, revoked.accountId, revocation)
  await caughtUp(service.core)
  const head = await log.head()
  for (const client of [revoked, service.client()]) {
    const answers = [
      await upload(client, filePart(png)),
      await client.post('/v1/uploads/presigned', { filename: 'a.png', mime_type: 'image/png' }),
      await client.send('/v1/uploads'),
      await client.send(`/v1/uploads/${body.id}`),
      await client.send(`/v1/uploads/${body.id}`, { method: 'DELETE' }),
    ]
    for (const { status, body } of answers) {
      t.equal(status, 401)
      t.equal(body.error.code, 'invalid_api_key')
    }
  }
  t.equal(await log.head(), head)
})

const comparable = (headers: Headers) =>
  Object.fromEntries([...headers].filter(([name]) => !['date', 'ratelimit'].includes(name)))
