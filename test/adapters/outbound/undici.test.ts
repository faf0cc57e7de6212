import { once } from 'node:events'
import { createServer, type IncomingMessage, type RequestListener } from 'node:http'
import { createServer as createTcpServer, type Socket } from 'node:net'
import { pipeline, Readable } from 'node:stream'
import { setTimeout as delay } from 'node:timers/promises'
import t from 'tap'
import { createOutbound } from '../../../src/adapters/outbound/undici.ts'
import { faultOf, GET, listen, listenOn, open, openForDevelopment, POST, SHORT_MS, serve } from './servers.ts'

t.test('in development, private addresses are allowed, and other checks still apply', async t => {
  const url = await serve(t, (_, response) => response.end('here'))
  const outbound = openForDevelopment(t)
  const { port } = new URL(url)
  for (const address of [url, `http://localhost:${port}/`, `http://0x7f.1:${port}/`])
    t.equal(Buffer.from((await outbound.get(address, GET)).bytes).toString(), 'here')
  const credentials = ['user', ':secret', 'user:secret'].map(given => `http://${given}@127.0.0.1:${port}/`)
  for (const address of [...credentials, `ftp://127.0.0.1:${port}/`, 'file:///etc/passwd', 'x'])
    t.equal((await faultOf(outbound.get(address, GET))).kind, 'refused', address)
})

t.test('a POST is sent unchanged, and its status is returned', async t => {
  const outbound = openForDevelopment(t)
  for (const status of [200, 204, 400, 404, 410, 429, 500, 503]) {
    let received: IncomingMessage | undefined
    let body = ''
    const url = await serve(t, async (request, response) => {
      received = request
      for await (const chunk of request) body += chunk
      response.writeHead(status, status === 503 ? { 'Retry-After': '120' } : {}).end()
    })
    const answer = await outbound.post(`${url}hook?a=1#b`, {
      ...POST,
      headers: { 'webhook-id': 'msg_1' },
      body: '{"a":"ä"}',
    })
    t.same(answer, { status, retryAfter: status === 503 ? '120' : undefined })
    t.equal(received?.method, 'POST')
    t.equal(received?.url, '/hook?a=1')
    t.equal(received?.headers['webhook-id'], 'msg_1')
    t.equal(received?.headers['user-agent'], 'Tollgate')
    t.equal(body, '{"a":"ä"}')
  }
})

t.test('a long or slow response body of a POST is discarded', async t => {
  const outbound = openForDevelopment(t)
  let isWhole = false
  // More than fits into the buffers on the way, so it ends only if it is read.
  function* long() {
    isWhole = false
    for (let part = 0; part < 512; part++) yield Buffer.alloc(64 * 1024)
    isWhole = true
  }
  function* slow() {
    isWhole = false
    while (true) yield delay(20, 'x')
  }
  for (const body of [long, slow]) {
    let closed: Promise<unknown> | undefined
    const url = await serve(t, (_, response) => {
      closed = once(response, 'close')
      pipeline(Readable.from(body()), response, () => undefined)
    })
    t.equal((await outbound.post(url, POST)).status, 200, body.name)
    await closed
    t.notOk(isWhole, body.name)
  }
})

t.test('a document has its type', async t => {
  const outbound = openForDevelopment(t)
  const types = {
    'Image/PNG; charset=x': 'image/png',
    'image/jpeg': 'image/jpeg',
    '': 'application/octet-stream',
  }
  for (const [sent, mimeType] of Object.entries(types)) {
    let received: IncomingMessage | undefined
    const url = await serve(t, (request, response) => {
      received = request
      response.writeHead(200, sent ? { 'Content-Type': sent } : {}).end(Buffer.alloc(1000, 'x'))
    })
    const document = await outbound.get(url, { ...GET, maxBytes: 1000 })
    t.equal(document.mimeType, mimeType)
    t.equal(Buffer.from(document.bytes).toString(), 'x'.repeat(1000), 'exactly the maximum number of bytes')
    t.equal(received?.headers['accept-encoding'], 'identity')
  }
})

t.test('a document is found through three redirects, and not through four', async t => {
  const requests: string[] = []
  const url = await serve(t, (request, response) => {
    requests.push(request.url ?? '')
    const left = Number(request.url?.slice(1))
    if (left === 0) response.end('here')
    else response.writeHead(302, { Location: left % 2 ? `${left - 1}` : `${url}${left - 1}` }).end('x'.repeat(5000))
  })
  const outbound = openForDevelopment(t)
  t.equal(Buffer.from((await outbound.get(`${url}3`, GET)).bytes).toString(), 'here')
  t.same(requests, ['/3', '/2', '/1', '/0'])
  const fault = await faultOf(outbound.get(`${url}4`, GET))
  t.match(fault, { kind: 'failed', message: 'redirects more than three times' })
  t.equal(requests.at(-1), '/1')
})

t.test('a redirect without an address, or that tells no end, is a failure', async t => {
  const outbound = openForDevelopment(t)
  const nowhere = await serve(t, (_, response) => response.writeHead(302).end())
  t.match(await faultOf(outbound.get(nowhere, GET)), { kind: 'failed', message: 'status 302' })
  const other = await serve(t, (_, response) => response.writeHead(300, { Location: '/' }).end())
  t.match(await faultOf(outbound.get(other, GET)), { kind: 'failed', message: 'status 300' })
  const loop = await serve(t, (_, response) => response.writeHead(301, { Location: '/' }).end())
  t.match(await faultOf(outbound.get(loop, GET)), { kind: 'failed', message: 'redirects more than three times' })
  const slow = await serve(t, ({ url }, response) => {
    if (url === '/') response.writeHead(302, { Location: '/slow' }).end()
  })
  const limits = { ...GET, timeoutMs: SHORT_MS }
  t.match(await faultOf(outbound.get(slow, limits)), { kind: 'failed', message: `${SHORT_MS} ms` })
})

t.test('a missing or invalid document is a failure', async t => {
  const outbound = openForDevelopment(t)
  const servers: Record<string, RequestListener> = {
    'not found': (_, response) => response.writeHead(404).end('no'),
    'no content': (_, response) => response.writeHead(204).end(),
    partial: (_, response) => response.writeHead(206).end('x'),
    'declared too long': (_, response) => response.writeHead(200, { 'Content-Length': 1001 }).end('x'.repeat(1001)),
    'too long without a declared length': (_, response) => response.writeHead(200).write('x'.repeat(1001)),
    'shorter than declared': (request, response) => {
      response.writeHead(200, { 'Content-Length': 10 }).write('x', () => request.socket.end())
    },
    compressed: (_, response) => response.writeHead(200, { 'Content-Encoding': 'gzip' }).end('x'),
    aborted: request => request.socket.destroy(),
  }
  for (const [name, server] of Object.entries(servers)) {
    const url = await serve(t, server)
    t.equal((await faultOf(outbound.get(url, GET))).kind, 'failed', name)
  }
})

t.test('a document is read only up to the limit', async t => {
  let closed: Promise<unknown> | undefined
  const url = await serve(t, (request, response) => {
    closed = once(request.socket, 'close')
    const writing = setInterval(() => response.write('x'.repeat(100)), 0)
    response.on('close', () => clearInterval(writing))
  })
  const fault = await faultOf(openForDevelopment(t).get(url, GET))
  t.equal(fault.kind, 'failed')
  t.match(fault.message, 'more than 1000 bytes')
  await closed
})

t.test('requests that exceed their timeout fail', async t => {
  const dripping = (text: string) => (socket: Socket) => {
    socket.write(text)
    const writing = setInterval(() => socket.write('x'), 10)
    socket.on('close', () => clearInterval(writing))
  }
  const outbound = openForDevelopment(t)
  const silent = await listen(t, () => undefined)
  const headers = await listen(t, dripping('HTTP/1.1 200 OK\r\nX-Long: '))
  const body = await listen(t, dripping('HTTP/1.1 200 OK\r\nContent-Length: 100000\r\n\r\n'))
  const informing = await listen(t, socket => {
    const writing = setInterval(() => socket.write('HTTP/1.1 102 Processing\r\n\r\n'), 10)
    socket.on('close', () => clearInterval(writing))
  })
  const limits = { ...GET, maxBytes: 100_000, timeoutMs: SHORT_MS }
  const requests = {
    'a silent server': () => outbound.get(silent, limits),
    'a server that is silent after a POST': () => outbound.post(silent, { ...POST, timeoutMs: SHORT_MS }),
    'a server that is silent in TLS': () => outbound.get(silent.replace('http', 'https'), limits),
    'endless headers': () => outbound.get(headers, limits),
    'endless headers to a POST': () => outbound.post(headers, { ...POST, timeoutMs: SHORT_MS }),
    'an endless body': () => outbound.get(body, limits),
    'a response with informational status only': () => outbound.get(informing, limits),
    'a silent name server': () =>
      open(t, {
        allowPrivate: false,
        lookup: () => new Promise(() => undefined),
      }).get('http://slow.example/', limits),
  }
  for (const [name, send] of Object.entries(requests)) {
    const fault = await faultOf(send())
    t.equal(fault.kind, 'failed', name)
    t.match(fault.message, `${SHORT_MS} ms`, name)
  }
})

t.test('unreachable addresses fail with a message that reveals nothing about DNS', async t => {
  const closed = createTcpServer()
  const unused = await listenOn(closed, '127.0.0.1')
  closed.close()
  const outbound = open(t, { allowPrivate: true, lookup: async () => [{ address: '127.0.0.1', family: 4 }] })
  const plain = await serve(t, (_, response) => response.end())
  const unknown = Object.assign(new Error('getaddrinfo ENOTFOUND inside'), { code: 'ENOTFOUND' })
  const nameless = open(t, { allowPrivate: false, lookup: () => Promise.reject(unknown) })
  const faults = {
    'could not be reached': () => outbound.get(`http://host.example:${unused}/`, GET),
    TLS: () => outbound.get(plain.replace('http://127.0.0.1', 'https://host.example'), GET),
    'does not exist': () => nameless.post('http://host.example/', POST),
  }
  for (const [message, send] of Object.entries(faults)) {
    const fault = await faultOf(send())
    t.equal(fault.kind, 'failed')
    t.match(fault.message, message)
    t.notMatch(fault.message, /\d|inside/)
  }
})

t.test('a caller can abort the fetch of a document', async t => {
  const outbound = openForDevelopment(t)
  const caller = new AbortController()
  const url = await serve(t, () => caller.abort(new RangeError('abandoned')))
  await t.rejects(outbound.get(url, { ...GET, signal: caller.signal }), RangeError)
  await t.rejects(outbound.get(url, { ...GET, signal: AbortSignal.abort(new RangeError('before')) }), RangeError)
})

t.test('connections to one receiver are limited and reused', async t => {
  let open = 0
  let most = 0
  let opened = 0
  const server = createServer((_, response) => setTimeout(() => response.end(), 10))
  server.on('connection', socket => {
    opened++
    most = Math.max(most, ++open)
    socket.on('close', () => open--)
  })
  const port = await listenOn(server, '127.0.0.1')
  t.teardown(() => server.close().closeAllConnections())
  const outbound = openForDevelopment(t)
  const post = () => outbound.post(`http://127.0.0.1:${port}/`, POST)
  const answers = await Promise.all(Array.from({ length: 200 }, post))
  t.ok(answers.every(({ status }) => status === 200))
  t.equal(most, 128)
  t.equal(opened, 128)
})

t.test('closing ends running requests', async t => {
  const outbound = createOutbound({ allowPrivate: true })
  const url = await listen(t, () => void outbound.close())
  t.match(await faultOf(outbound.post(url, POST)), { kind: 'failed', message: 'could not be reached' })
})
