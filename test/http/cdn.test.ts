import { once } from 'node:events'
import { mkdir, readdir, readlink, writeFile } from 'node:fs/promises'
import { connect } from 'node:net'
import { join } from 'node:path'
import t from 'tap'
import { type Client, picture } from '../support/client.ts'
import { filePart, upload } from '../support/multipart.ts'
import { picture as pictureFile, pngWith } from '../support/sample-files.ts'
import { openAccount, startService } from '../support/service.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'
import { until } from '../support/until.ts'

const folder = await temporaryFolder(t)
const service = await startService(t, { folder })
const stranger = service.client()
const customer = await openAccount(service)
const { body: run } = await customer.run(picture)
const path = new URL(String(run.output?.url)).pathname

/** Uploads a file and returns its path and id. */
const place = async (bytes: Uint8Array, client: Client = customer) => {
  const { body } = await upload(client, filePart(bytes))
  return { path: new URL(body.url).pathname, id: body.id }
}

t.test('an output is served to anyone with its URL', async t => {
  t.match(path, /^\/cdn\/outputs\/[0-9a-f]{32}\.png$/)
  t.equal((await stranger.send(path)).status, 200)
})

t.test('HEAD returns only the headers', async t => {
  const range = { Range: 'bytes=999999999-' }
  const [head, get] = await Promise.all([
    stranger.sendRaw(path, { method: 'HEAD', headers: range }),
    stranger.sendRaw(path),
  ])
  t.equal(head.status, 200)
  t.equal(head.text, '')
  t.same(comparable(head.headers), comparable(get.headers))
})

t.test('files are served with headers that prevent scripts and allow embedding', async t => {
  const { path: uploaded } = await place(await pictureFile('png'))
  for (const place of [path, uploaded]) {
    const { headers } = await stranger.send(place)
    t.equal(headers.get('Content-Type'), 'image/png')
    t.equal(headers.get('X-Content-Type-Options'), 'nosniff')
    t.equal(headers.get('Content-Security-Policy'), "default-src 'none'; sandbox")
    t.equal(headers.get('Cross-Origin-Resource-Policy'), 'cross-origin')
    t.equal(headers.get('Accept-Ranges'), 'bytes')
    t.equal(headers.get('Cache-Control'), 'public, max-age=3600')
  }
})

t.test('clients that hold the current version get 304', async t => {
  const etag = String((await stranger.send(path)).headers.get('ETag'))
  t.match(etag, /^"[^"]+"$/)
  for (const known of [etag, `W/${etag}`, `"x", ${etag}`, '*'])
    for (const method of ['GET', 'HEAD']) {
      const { status, headers, text } = await stranger.sendRaw(path, { method, headers: { 'If-None-Match': known } })
      t.equal(status, 304, known)
      t.equal(text, '')
      t.equal(headers.get('ETag'), etag)
      t.match(headers.get('Cache-Control'), 'max-age=3600')
    }
  for (const known of ['"x"', etag.slice(1, -1)])
    t.equal((await stranger.sendRaw(path, { headers: { 'If-None-Match': known } })).status, 200, known)
  const absent = path.replace('.png', '.jpg')
  t.equal((await stranger.sendRaw(absent, { headers: { 'If-None-Match': '*' } })).status, 404)
})

t.test('a range request gets that part of the file', async t => {
  const bytes = Buffer.concat([
    await pictureFile('png'),
    Buffer.from(Array.from({ length: 1000 }, (_, at) => at % 251)),
  ])
  const { path } = await place(bytes)
  const size = bytes.length
  const etag = String((await stranger.send(path)).headers.get('ETag'))
  const parts: [Record<string, string>, number, number][] = [
    [{ Range: 'bytes=0-0' }, 0, 0],
    [{ Range: 'bytes=10-19' }, 10, 19],
    [{ Range: 'BYTES=10-19' }, 10, 19],
    [{ Range: `bytes=${size - 1}-` }, size - 1, size - 1],
    [{ Range: 'bytes=5-' }, 5, size - 1],
    [{ Range: `bytes=5-${size + 100}` }, 5, size - 1],
    [{ Range: 'bytes=-3' }, size - 3, size - 1],
    [{ Range: 'bytes=0-9', 'If-Range': etag }, 0, 9],
  ]
  for (const [headers, start, end] of parts) {
    const answer = await fetch(stranger.url + path, { headers })
    t.equal(answer.status, 206, JSON.stringify(headers))
    t.equal(answer.headers.get('Content-Range'), `bytes ${start}-${end}/${size}`)
    t.equal(answer.headers.get('Content-Length'), `${end - start + 1}`)
    t.equal(answer.headers.get('ETag'), etag)
    t.ok(Buffer.from(await answer.arrayBuffer()).equals(bytes.subarray(start, end + 1)))
  }
  const wholes: Record<string, string>[] = [
    { Range: 'bytes=0-1,4-5' },
    { Range: `bytes=-${size}` },
    { Range: `bytes=-${size + 1}` },
    { Range: 'bytes=a-b' },
    { Range: 'bytes' },
    { Range: 'bytes=' },
    { Range: 'pages=9999999-' },
    { Range: 'bytes=0-9', 'If-Range': '"x"' },
    { Range: 'bytes=0-9', 'If-Range': `W/${etag}` },
    { Range: 'bytes=0-9', 'If-Range': new Date().toUTCString() },
    { Range: 'bytes=9999999-', 'If-Range': '"x"' },
  ]
  for (const headers of wholes) {
    const answer = await fetch(stranger.url + path, { headers })
    t.equal(answer.status, 200, JSON.stringify(headers))
    t.equal(answer.headers.get('Content-Range'), null)
    t.ok(Buffer.from(await answer.arrayBuffer()).equals(bytes))
  }
  for (const Range of [`bytes=${size}-`, `bytes=${size}-${size + 9}`, 'bytes=-0', 'bytes=99999999999999999999-']) {
    const { status, headers, text } = await stranger.send(path, { headers: { Range } })
    t.equal(status, 416, Range)
    t.equal(headers.get('Content-Range'), `bytes */${size}`)
    t.notMatch(headers.get('Cache-Control'), 'public')
    t.equal(text, '')
  }
  const known = await stranger.sendRaw(path, { headers: { Range: 'bytes=0-9', 'If-None-Match': etag } })
  t.equal(known.status, 304, 'If-None-Match takes precedence over Range')
})

t.test('an empty file has no ranges', async t => {
  const name = `${'e'.repeat(32)}.png`
  await mkdir(join(folder, 'objects', 'outputs'), { recursive: true })
  await writeFile(join(folder, 'objects', 'outputs', name), '')
  const ask = (headers: Record<string, string>) => stranger.send(`/cdn/outputs/${name}`, { headers })
  const whole = await ask({})
  t.equal(whole.status, 200)
  t.equal(whole.headers.get('Content-Length'), '0')
  const first = await ask({ Range: 'bytes=0-' })
  t.equal(first.status, 416)
  t.equal(first.headers.get('Content-Range'), 'bytes */0')
  t.equal((await ask({ Range: 'bytes=-5' })).status, 200)
})

t.test('a deleted file returns 404, even with its ETag', async t => {
  const { path, id } = await place(await pictureFile('png', 9))
  const etag = String((await stranger.send(path)).headers.get('ETag'))
  await customer.send(`/v1/uploads/${id}`, { method: 'DELETE' })
  for (const method of ['GET', 'HEAD'])
    for (const headers of [{}, { 'If-None-Match': etag }, { Range: 'bytes=0-1' }]) {
      const answer = await stranger.sendRaw(path, { method, headers })
      t.equal(answer.status, 404)
      t.equal(answer.headers.get('Cache-Control'), 'private, no-store')
      t.equal(answer.headers.get('ETag'), null)
      if (method === 'GET') t.equal(JSON.parse(answer.text).error.message, 'The file does not exist or was deleted.')
    }
})

t.test('a client that disconnects during a download leaves no file open', async t => {
  const large = pngWith(await pictureFile('png'), 'teSt', Buffer.alloc(20 * 2 ** 20))
  const { path } = await place(large)
  const name = String(path.split('/').at(-1))
  const collected: string[] = []
  const note = ({ message }: Error) => collected.push(message)
  process.on('warning', note)
  t.teardown(() => process.off('warning', note))
  for (const header of ['', 'Range: bytes=5-\r\n']) {
    const socket = connect(Number(new URL(stranger.url).port), '127.0.0.1')
    socket.write(`GET ${path} HTTP/1.1\r\nHost: localhost\r\n${header}\r\n`)
    await once(socket, 'data')
    socket.pause()
    t.ok(
      (await openFiles()).some(file => file.endsWith(name)),
      'the file is open during the download',
    )
    socket.destroy()
    await until('the file is closed', async () => !(await openFiles()).some(file => file.endsWith(name)))
  }
  t.same(collected, [], 'the garbage collector did not close it')
})

t.test('unknown paths return 404 and no path leads out of the store', async t => {
  const absent = [
    `/cdn/outputs/${'0'.repeat(32)}.png`,
    path.replace('.png', '.jpg'),
    path.toUpperCase(),
    `${path}/`,
    '/cdn/outputs',
    '/cdn/',
    '/cdn/outputs/..',
    '/cdn/../package.json',
    '/cdn/outputs/../../log/data.mdb',
    '/cdn/outputs/..%2f..%2flog%2fdata.mdb',
    '/cdn/%2e%2e/log',
    '/cdn/outputs/%00.png',
    '/cdn/outputs/%',
    '/cdn/arriving/x',
    `/cdn/${'a'.repeat(300)}/${'0'.repeat(32)}.png`,
  ]
  for (const path of absent) {
    const { status, text } = await stranger.sendRaw(path)
    t.equal(status, 404, path)
    t.equal(JSON.parse(text).error.code, 'not_found', path)
  }
})

t.test('a PUT without a presigned URL is refused', async t => {
  for (const method of ['POST', 'DELETE', 'PATCH']) {
    const { status, headers } = await stranger.send(path, { method })
    t.equal(status, 405)
    t.match(headers.get('Allow'), /GET/)
  }
  for (const target of [path, `${path}?signature=x`, '/cdn/outputs/..%2f..%2fx', '/cdn/arriving/x']) {
    const { status, text } = await stranger.sendRaw(target, { method: 'PUT', body: 'x' })
    t.equal(status, 404, target)
    t.equal(JSON.parse(text).error.code, 'upload_not_found')
  }
  t.equal((await stranger.send(path)).status, 200)
})

const openFiles = async () => {
  const names = await readdir('/proc/self/fd')
  return Promise.all(names.map(name => readlink(`/proc/self/fd/${name}`).catch(() => '')))
}

const comparable = (headers: Headers) =>
  Object.fromEntries([...headers].filter(([name]) => !['date', 'x-request-id'].includes(name)))
