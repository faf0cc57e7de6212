import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { gzipSync } from 'node:zlib'
import t, { type Test } from 'tap'
import { openVendorRequests } from '../../../src/adapters/outbound/vendor-requests.ts'
import type { LongBody, VendorRequest } from '../../../src/ports/vendor-request.ts'
import { isLong } from '../../support/test-length.ts'
import { until, withDeadline } from '../../support/until.ts'

const MEGABYTE = 1024 * 1024
const MEMORY_BYTES = 200 * MEGABYTE

interface Seen {
  method: string | undefined
  path: string | undefined
  headers: IncomingMessage['headers']
  body: string
}

/** Keeps a long body, and takes the next bytes in a later turn. */
class KeptBody implements LongBody {
  heldBytes = 0
  readonly #pieces: Buffer[] = []

  async write(bytes: Buffer) {
    this.#pieces.push(bytes)
    this.heldBytes += bytes.length
    await new Promise(setImmediate)
  }

  async end() {
    return Buffer.concat(this.#pieces)
  }
}

const open = async (t: Test, answer: (response: ServerResponse) => void) => {
  const seen: Seen[] = []
  const server = createServer(async (request, response) => {
    let body = ''
    for await (const piece of request.setEncoding('latin1')) body += piece
    seen.push({ method: request.method, path: request.url, headers: request.headers, body })
    answer(response)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.teardown(() => server.close().closeAllConnections())
  const { request: send, close } = openVendorRequests({ memoryBytes: MEMORY_BYTES })
  t.teardown(close)
  const request = (url: string, sent: VendorRequest) => send(url, sent, () => new KeptBody())
  return { request, seen, url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/` }
}

const json = (response: ServerResponse) =>
  response.writeHead(200, { 'Content-Type': 'application/json', 'Set-Cookie': ['a=1', 'b=2'] }).end('{ "word": "süß" }')

t.test('a request arrives as it was sent, in one piece or in several', async t => {
  const { request, seen, url } = await open(t, json)
  const pieces = async function* () {
    for (const piece of ['{', 'ü', '}']) yield Buffer.from(piece)
  }
  await request(url, { method: 'POST', headers: { 'X-One': '1' }, body: '{ü}' })
  await request(url, { method: 'POST', headers: { 'content-length': '4' }, body: pieces() })
  await request(`${url}?a=%C3%BC`, { headers: {} })
  const body = Buffer.from('{ü}').toString('latin1')
  t.match(seen, [
    { method: 'POST', path: '/', headers: { 'x-one': '1', 'content-length': '4' }, body },
    { method: 'POST', headers: { 'content-length': '4' }, body },
    { method: 'GET', path: '/?a=%C3%BC', body: '' },
  ])
})

t.test('an answer is its status, its headers and its bytes', async t => {
  const { request, url } = await open(t, json)
  const { status, headers, body } = await request(url, { headers: {} })
  t.equal(status, 200)
  t.match(headers, { 'content-type': 'application/json', 'set-cookie': ['a=1', 'b=2'] })
  t.same(JSON.parse(body.toString()), { word: 'süß' })
})

t.test('what a server sends before its answer is passed over', async t => {
  const { request, url } = await open(t, response => {
    response.writeProcessing()
    json(response)
  })
  t.match(await request(url, { headers: {} }), { status: 200 })
})

t.test('headers that a server sends early do not describe the body', async t => {
  const { request, url } = await open(t, response => {
    const early = { link: '</style.css>', 'content-length': '1000', 'content-encoding': 'gzip' }
    response.writeEarlyHints(early, () => response.writeHead(400).end('no'))
  })
  t.match(await request(url, { headers: {} }), { status: 400, body: Buffer.from('no') })
})

t.test('an answer of several megabytes arrives as it was sent, whether its length is stated or not', async t => {
  const bytes = randomBytes(5_000_000)
  for (const headers of [{}, { 'Content-Length': bytes.length }]) {
    const { request, url } = await open(t, response => {
      response.writeHead(200, headers)
      for (let at = 0; at < bytes.length; at += 700_000) response.write(bytes.subarray(at, at + 700_000))
      response.end()
    })
    t.ok(bytes.equals((await request(url, { headers: {} })).body))
  }
})

t.test('an answer without a body', async t => {
  const { request, url } = await open(t, response => response.writeHead(204).end())
  t.match(await request(url, { method: 'DELETE', headers: {} }), { status: 204, body: Buffer.of() })
})

t.test('no redirect is followed', async t => {
  const { request, seen, url } = await open(t, response => response.writeHead(307, { Location: '/there' }).end())
  const { status, headers } = await request(url, { method: 'POST', headers: {}, body: '{}' })
  t.same([status, headers.location], [307, '/there'])
  t.equal(seen.length, 1)
})

t.test('a compressed answer, which nobody asked for, says so', async t => {
  const { request, seen, url } = await open(t, response =>
    response.writeHead(200, { 'Content-Encoding': 'gzip' }).end(gzipSync('{}')),
  )
  await t.rejects(request(url, { headers: {} }), /compressed with gzip/)
  t.equal(seen[0]?.headers['accept-encoding'], 'identity')
})

t.test('of a long error only the beginning is read', async t => {
  const { request, url } = await open(t, response => {
    response.on('error', () => undefined).writeHead(500)
    const more = () => {
      while (!response.destroyed && response.write('x'.repeat(10_000)));
    }
    response.on('drain', more)
    more()
  })
  const { status, body } = await withDeadline('the error is read', request(url, { headers: {} }))
  t.equal(status, 500)
  t.ok(body.length > 0 && body.length < 1_000_000)
})

t.test('an answer that is too long is refused, at once if its length is stated', async t => {
  const stated = await open(t, response => response.writeHead(200, { 'Content-Length': 2 ** 40 }).write('{'))
  await t.rejects(stated.request(stated.url, { headers: {} }), /more than 134217728 bytes/)
  const piece = Buffer.alloc(1024 * 1024)
  const { request, url } = await open(t, response => {
    response.on('error', () => undefined)
    const more = () => {
      while (!response.destroyed && response.write(piece));
    }
    response.on('drain', more)
    more()
  })
  await t.rejects(withDeadline('the answer is refused', request(url, { headers: {} })), /more than 134217728 bytes/)
})

t.test('a request ends when nobody waits for it, before and within the answer', async t => {
  const answers = [() => undefined, (response: ServerResponse) => response.writeHead(200).write('{')]
  for (const answer of answers) {
    const { request, seen, url } = await open(t, answer)
    const stop = new AbortController()
    const response = request(url, { headers: {}, signal: stop.signal })
    response.catch(() => undefined)
    await until('the request has arrived', () => seen.length === 1)
    stop.abort()
    await t.rejects(withDeadline('the request has ended', response), { name: 'AbortError' })
  }
  const { request, seen, url } = await open(t, json)
  await t.rejects(request(url, { headers: {}, signal: AbortSignal.abort() }), { name: 'AbortError' })
  t.same(seen, [])
})

t.test('a request that nobody waits for is not sent once there is a connection', async t => {
  const { request, seen, url } = await open(t, json)
  await request((await open(t, json)).url, { headers: {} })
  const stop = new AbortController()
  const response = request(url, { method: 'POST', headers: {}, body: '{}', signal: stop.signal })
  // In the same turn, while it waits for its connection.
  await Promise.resolve().then(() => undefined)
  stop.abort()
  await t.rejects(withDeadline('the request has ended', response), { name: 'AbortError' })
  await request(url, { headers: {} })
  t.match(seen, [{ method: 'GET' }])
  t.equal(seen.length, 1)
})

t.test('errors tell whether there was a connection', async t => {
  const { request, seen, url } = await open(t, response => response.destroy())
  const post = { method: 'POST', headers: {}, body: '{}' }
  await t.rejects(request(url, post), { code: 'UND_ERR_SOCKET' })
  t.equal(seen.length, 1)
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  await new Promise(done => server.close(done))
  await t.rejects(request(`http://127.0.0.1:${port}/`, post), { code: 'ECONNREFUSED' })
})

for (const end of ['ends', 'is abandoned', 'breaks off'].slice(0, isLong ? undefined : 1))
  t.test(`large answers of one server are read a few at a time, and go on when the oldest ${end}`, async t => {
    let sentBytes = 0
    let oldest: ServerResponse | undefined
    const { request, url } = await open(t, response => {
      const piece = Buffer.alloc(MEGABYTE)
      if (sentBytes === 0) {
        oldest = response
        sentBytes += piece.length
        return response.writeHead(200).write(piece)
      }
      response.writeHead(200)
      const send = (left: number): unknown => {
        if (left === 0) return response.end()
        sentBytes += piece.length
        return response.write(piece) ? setImmediate(send, left - 1) : response.once('drain', () => send(left - 1))
      }
      send(60)
    })
    const stop = new AbortController()
    const sizeOf = async (signal?: AbortSignal) => (await request(url, { headers: {}, signal })).body.length
    const first = sizeOf(stop.signal)
    first.catch(() => undefined)
    await until('the oldest answer arrives', () => sentBytes === MEGABYTE)
    const others = Array.from({ length: 8 }, () => sizeOf())
    let before = 0
    await until('no more arrives', async () => {
      before = sentBytes
      await new Promise(resolve => setTimeout(resolve, 300))
      return sentBytes > 100 * MEGABYTE && sentBytes === before
    })
    // A single server may use half of the memory; the rest is on its way.
    t.ok(sentBytes < 250 * MEGABYTE, `${sentBytes} bytes`)
    if (end === 'ends') oldest?.end()
    else if (end === 'breaks off') oldest?.destroy()
    else stop.abort()
    if (end === 'ends') t.equal(await first, MEGABYTE)
    else await t.rejects(first)
    t.same(await Promise.all(others), Array(8).fill(60 * MEGABYTE))
  })

t.test(
  'a stream is read from its first byte as it arrives; refusals and what its reader declines are read whole',
  async t => {
    const cases: [number, string, boolean][] = [
      [200, 'text/event-stream', true],
      [201, 'text/event-stream', true],
      [200, 'application/json', false],
      [307, 'text/event-stream', false],
      [400, 'text/event-stream', false],
    ]
    for (const [status, type, isStream] of cases) {
      let goOn = () => {}
      const { request, url } = await open(t, response => {
        response.writeHead(status, { 'Content-Type': type }).write('one ')
        goOn = () => response.end('two')
        if (!isStream) goOn()
      })
      const pieces: string[] = []
      const body: LongBody = {
        heldBytes: 0,
        write: async bytes => {
          pieces.push(bytes.toString())
          goOn()
        },
        end: async () => Buffer.from('rest'),
      }
      const readStream: VendorRequest['readStream'] = headers =>
        headers['content-type'] === 'text/event-stream' ? body : undefined
      const answer = await withDeadline('the answer is read', request(url, { headers: {}, readStream }))
      t.equal(answer.status, status)
      t.same(
        [pieces.join(''), answer.body.toString()],
        isStream ? ['one two', 'rest'] : ['', 'one two'],
        `${status} ${type}`,
      )
    }
  },
)

t.test('a stream whose reader has had enough ends', async t => {
  let isClosed = false
  const { request, url } = await open(t, response => {
    response.on('close', () => {
      isClosed = true
    })
    response.writeHead(200).write('one')
  })
  const enough = new Error('enough')
  const body: LongBody = { heldBytes: 0, write: () => Promise.reject(enough), end: async () => Buffer.of() }
  await t.rejects(request(url, { headers: {}, readStream: () => body }), enough)
  await until('the connection is closed', () => isClosed)
})
