import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { gzipSync } from 'node:zlib'
import t, { type Test } from 'tap'
import { openVendorFetch } from '../../../src/adapters/outbound/vendor-fetch.ts'
import { until, withDeadline } from '../../support/until.ts'

const MEGABYTE = 1024 * 1024

interface Seen {
  method: string | undefined
  headers: IncomingMessage['headers']
  body: string
}

const open = async (t: Test, answer: (response: ServerResponse) => void) => {
  const seen: Seen[] = []
  const server = createServer(async (request, response) => {
    let body = ''
    for await (const piece of request.setEncoding('latin1')) body += piece
    seen.push({ method: request.method, headers: request.headers, body })
    answer(response)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.teardown(() => server.close().closeAllConnections())
  const { fetch, close } = openVendorFetch()
  t.teardown(close)
  return { fetch, seen, url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/` }
}

const json = (response: ServerResponse) =>
  response.writeHead(200, { 'Content-Type': 'application/json', 'Set-Cookie': ['a=1', 'b=2'] }).end('{ "word": "süß" }')

t.test('a request with a text arrives as it was sent, whatever the form of its headers', async t => {
  const { fetch, seen, url } = await open(t, json)
  const forms: RequestInit['headers'][] = [{ 'X-One': '1' }, new Headers({ 'X-One': '1' }), [['X-One', '1']]]
  for (const headers of forms) await fetch(url, { method: 'POST', ...(headers && { headers }), body: 'ü' })
  await fetch(url)
  t.match(
    seen.map(({ method, headers, body }) => [method, headers['x-one'], body]),
    [...forms.map(() => ['POST', '1', Buffer.from('ü').toString('latin1')]), ['GET', undefined, '']],
  )
})

t.test('the answer can be read in every way, and more than once', async t => {
  const { fetch, url } = await open(t, json)
  const response = await fetch(url)
  t.match(response, { status: 200, ok: true })
  t.ok(response instanceof Response)
  t.same(await response.json(), { word: 'süß' })
  t.equal(await response.text(), '{ "word": "süß" }')
  t.equal(Buffer.from(await response.arrayBuffer()).toString(), '{ "word": "süß" }')
  t.equal(await (await response.blob()).text(), '{ "word": "süß" }')
  t.same(await response.clone().json(), { word: 'süß' })
  let streamed = ''
  for await (const piece of response.body ?? []) streamed += Buffer.from(piece as Uint8Array).toString()
  t.equal(streamed, '{ "word": "süß" }')
  t.equal(response.headers.get('content-type'), 'application/json')
  t.equal(response.headers.get('content-length'), String(Buffer.byteLength('{ "word": "süß" }')))
  t.same(response.headers.getSetCookie(), ['a=1', 'b=2'])
})

t.test('an answer of several megabytes arrives as it was sent', async t => {
  const bytes = randomBytes(5_000_000)
  const { fetch, url } = await open(t, response => response.end(bytes))
  t.ok(bytes.equals(Buffer.from(await (await fetch(url)).arrayBuffer())))
})

t.test('a form arrives', async t => {
  const { fetch, seen, url } = await open(t, json)
  const form = new FormData()
  form.set('file', new File(['pixels'], 'a.png'))
  t.same(await (await fetch(url, { method: 'POST', body: form })).json(), { word: 'süß' })
  t.match(seen[0], { headers: { 'content-type': /^multipart\/form-data/ }, body: /pixels/ })
})

t.test('an answer without a body', async t => {
  const { fetch, url } = await open(t, response => response.writeHead(204).end())
  const response = await fetch(url, { method: 'DELETE' })
  t.match(response, { status: 204, ok: true })
  t.equal(await response.text(), '')
  t.equal(response.body, null)
})

t.test('no redirect is followed, and one can be seen', async t => {
  const { fetch, seen, url } = await open(t, response => response.writeHead(307, { Location: '/there' }).end())
  await t.rejects(fetch(url, { method: 'POST', body: '{}' }), /redirect/)
  await t.rejects(fetch(url, { method: 'POST', body: new FormData() }))
  t.equal(seen.length, 2)
  const { status, headers } = await fetch(url, { redirect: 'manual' })
  t.same([status, headers.get('location')], [307, '/there'])
  t.equal(seen.length, 3)
})

t.test('a compressed answer, which nobody asked for, says so', async t => {
  const { fetch, seen, url } = await open(t, response =>
    response.writeHead(200, { 'Content-Encoding': 'gzip' }).end(gzipSync('{}')),
  )
  await t.rejects(fetch(url), /compressed with gzip/)
  t.equal(seen[0]?.headers['accept-encoding'], 'identity')
})

t.test('of a long error only the beginning is read', async t => {
  const { fetch, url } = await open(t, response => {
    response.on('error', () => undefined).writeHead(500)
    const more = () => {
      while (!response.destroyed && response.write('x'.repeat(10_000)));
    }
    response.on('drain', more)
    more()
  })
  const response = await withDeadline('the error is read', fetch(url))
  t.equal(response.status, 500)
  t.ok((await response.text()).length < 1_000_000)
})

t.test('an answer that is too long is refused', async t => {
  const piece = Buffer.alloc(1024 * 1024)
  const { fetch, url } = await open(t, response => {
    response.on('error', () => undefined)
    const more = () => {
      while (!response.destroyed && response.write(piece));
    }
    response.on('drain', more)
    more()
  })
  await t.rejects(withDeadline('the answer is refused', fetch(url)), /more than 134217728 bytes/)
})

t.test('a request ends when nobody waits for it, before and within the answer', async t => {
  const answers = [() => undefined, (response: ServerResponse) => response.writeHead(200).write('{')]
  for (const answer of answers) {
    const { fetch, seen, url } = await open(t, answer)
    const stop = new AbortController()
    const response = fetch(url, { signal: stop.signal })
    response.catch(() => undefined)
    await until('the request has arrived', () => seen.length === 1)
    stop.abort()
    await t.rejects(withDeadline('the request has ended', response), { name: 'AbortError' })
  }
  const { fetch, seen, url } = await open(t, json)
  await t.rejects(fetch(url, { signal: AbortSignal.abort() }), { name: 'AbortError' })
  t.same(seen, [])
})

t.test('errors tell whether there was a connection', async t => {
  const { fetch, seen, url } = await open(t, response => response.destroy())
  await t.rejects(fetch(url, { method: 'POST', body: '{}' }), { code: 'UND_ERR_SOCKET' })
  t.equal(seen.length, 1)
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  await new Promise(done => server.close(done))
  await t.rejects(fetch(`http://127.0.0.1:${port}/`, { method: 'POST', body: '{}' }), { code: 'ECONNREFUSED' })
})

t.test('large answers of one server are read a few at a time, the oldest to its end', async t => {
  let sentBytes = 0
  let endFirst: () => void = () => t.fail('nothing has been sent')
  const { fetch, url } = await open(t, response => {
    const piece = Buffer.alloc(MEGABYTE)
    response.writeHead(200)
    if (sentBytes === 0) {
      endFirst = () => response.end()
      sentBytes += piece.length
      return response.write(piece)
    }
    const send = (left: number): unknown => {
      if (left === 0) return response.end()
      sentBytes += piece.length
      return response.write(piece) ? setImmediate(send, left - 1) : response.once('drain', () => send(left - 1))
    }
    send(60)
  })
  const sizeOf = async () => Number((await fetch(url)).headers.get('content-length'))
  const first = sizeOf()
  await until('the oldest answer arrives', () => sentBytes === MEGABYTE)
  const others = Array.from({ length: 4 }, sizeOf)
  let before = 0
  await until('no more arrives', async () => {
    before = sentBytes
    await new Promise(resolve => setTimeout(resolve, 300))
    return sentBytes > 100 * MEGABYTE && sentBytes === before
  })
  // There is room for 128 MB; the rest is on its way.
  t.ok(sentBytes < 220 * MEGABYTE, `${sentBytes} bytes`)
  endFirst()
  t.equal(await first, MEGABYTE)
  t.same(await Promise.all(others), Array(4).fill(60 * MEGABYTE))
})
