import { createHash, randomBytes } from 'node:crypto'
import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import { once } from 'node:events'
import { readdirSync, readlinkSync } from 'node:fs'
import type { RequestListener } from 'node:http'
import { type AddressInfo, connect, type Socket } from 'node:net'
import { setTimeout as delay } from 'node:timers/promises'
import t, { type Test } from 'tap'
import { systemClock } from '../../src/adapters/clock/system.ts'
import { RoundRobin } from '../../src/flow/round-robin.ts'
import { clientAddresses } from '../../src/http/connections/client-address.ts'
import { type ConnectionLimits, createLimitedServer, networkOf, trust } from '../../src/http/connections/connections.ts'
import { silentLogger } from '../support/engine.ts'
import { openAccount, startService } from '../support/service.ts'
import { until } from '../support/until.ts'

const turns = new RoundRobin(systemClock)
const trusting = (proxies: string[]) => ({ isTrusted: trust(proxies), clientAddress: clientAddresses(trust(proxies)) })
const limits: ConnectionLimits = { total: 100, perAddress: 100, ...trusting([]), turns, keepAliveMs: 60_000 }

const serve = async (t: Test, handle: RequestListener, changed: Partial<ConnectionLimits> = {}) => {
  const server = createLimitedServer(handle, { ...limits, ...changed }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.teardown(() => {
    server.closeAllConnections()
    return new Promise(resolve => server.close(resolve))
  })
  return (server.address() as AddressInfo).port
}

/** A connection that sends a text, and what it has received. */
const dial = (t: Test, port: number, text = '') => {
  const socket = connect(port, '127.0.0.1', () => socket.write(text))
  const received: Buffer[] = []
  socket.on('data', bytes => received.push(bytes))
  socket.on('error', () => undefined)
  t.teardown(() => socket.destroy())
  return { socket, received: () => Buffer.concat(received).toString(), isClosed: () => socket.closed }
}

const get = (path: string) => `GET ${path} HTTP/1.1\r\nHost: a\r\n\r\n`

t.test('requests of a connection are handled one after another', async t => {
  const begun: string[] = []
  const pending: (() => void)[] = []
  const port = await serve(t, ({ url = '' }, response) => {
    begun.push(url)
    pending.push(() => response.end(`answer ${url}`))
  })
  const { received } = dial(t, port, get('/1') + get('/2') + get('/3'))
  for (const count of [1, 2, 3]) {
    await until('the next request', () => begun.length === count)
    await delay(20)
    t.equal(begun.length, count)
    pending.shift()?.()
  }
  await until('all responses', () => received().includes('answer /3'))
  t.same(received().match(/answer ../g), ['answer /1', 'answer /2', 'answer /3'])
})

t.test('a connection that sends too many requests ahead ends', async t => {
  const begun: unknown[] = []
  const port = await serve(t, request => void begun.push(request))
  const { isClosed } = dial(t, port, get('/').repeat(1000))
  await until('the end of the connection', isClosed)
  t.equal(begun.length, 1)
})

t.test('the requests behind those that end a connection are not read', async t => {
  let read = 0
  const port = await serve(t, () => undefined)
  const headers = 'http.server.request.start'
  const count = () => read++
  subscribe(headers, count)
  t.teardown(() => unsubscribe(headers, count))
  const { isClosed } = dial(t, port, get('/x').repeat(1_000))
  await until('the end', isClosed)
  t.ok(read < 200, `${read} requests were read`)
})

t.test('requests that arrive while responses pile up are handled once these are taken', async t => {
  const begun: string[] = []
  const port = await serve(t, ({ url = '' }, response) => {
    begun.push(url)
    response.end(`${'x'.repeat(url === '/1' ? 5_000_000 : 1)} answer ${url}`)
  })
  const { socket, received } = dial(t, port)
  socket.pause()
  socket.write(get('/1'))
  await until('the first request', () => begun.length)
  // Each is longer than what is parsed at once.
  const ahead = ['/2', '/3', '/4'].map(path => get(`${path}?${'a'.repeat(2_000)}`))
  socket.write(ahead.join(''))
  await delay(100)
  t.equal(begun.length, 1)
  socket.resume()
  await until('all responses', () => received().includes('answer /4'))
  t.same(received().match(/answer ../g), ['answer /1', 'answer /2', 'answer /3', 'answer /4'])
})

t.test('requests with an unknown expectation are handled like others', async t => {
  const expecting = 'GET / HTTP/1.1\r\nHost: a\r\nExpect: a miracle\r\n\r\n'
  const port = await serve(t, (_, response) => void response.end('answer'))
  const { received } = dial(t, port, expecting)
  await until('the response', () => received().endsWith('answer'))
  t.match(received(), '200 OK')
  const { isClosed } = dial(t, port, expecting.repeat(1_000))
  await until('the end of a connection that sends too many ahead', isClosed)
})

t.test('a body that arrives in pieces of any size is whole', async t => {
  const bytes = randomBytes(3_000_000)
  const digest = createHash('sha256')
  const port = await serve(t, (request, response) => {
    request.on('data', piece => digest.update(piece)).on('end', () => response.end(digest.digest('hex')))
  })
  const answer = await fetch(`http://127.0.0.1:${port}/`, { method: 'POST', body: bytes })
  t.equal(await answer.text(), createHash('sha256').update(bytes).digest('hex'))
})

t.test('a body is read in turns', async t => {
  const turns: (() => void)[] = []
  const next = () => new Promise<void>(resolve => turns.push(resolve))
  let readBytes = 0
  const handle: RequestListener = (request, response) => {
    request.on('data', (bytes: Buffer) => {
      readBytes += bytes.length
    })
    request.once('end', () => response.end('read'))
  }
  const port = await serve(t, handle, { turns: { next } })
  const bodyBytes = 4 * 2 ** 20
  const head = `POST / HTTP/1.1\r\nHost: a\r\nContent-Length: ${bodyBytes}\r\n\r\n`
  const { received } = dial(t, port, head + 'x'.repeat(bodyBytes))
  for (let turn = 0; received() === ''; turn++) {
    await until('the wait for a turn', () => turns.length > 0 || received() !== '')
    await delay(2)
    t.ok(readBytes <= (turn + 1) * 64 * 1024, 'at most 64 KB for each')
    turns.shift()?.()
  }
  t.equal(readBytes, bodyBytes)
})

t.test('the requests whose bodies are arriving are limited', async t => {
  let begun = 0
  const handle: RequestListener = (request, response) => {
    begun += 1
    // The body of an upload that nobody reads yet.
    if (request.url === '/upload') return
    request.resume().once('end', () => response.end('read'))
  }
  let refused = 0
  const changed = {
    ...{ total: 2_000, perAddress: 2_000, ...trusting(['127.0.0.1']) },
    onRefused: () => {
      refused += 1
    },
  }
  const port = await serve(t, handle, changed)
  const post = (path: string, network: string, body: string) =>
    dial(
      t,
      port,
      `POST ${path} HTTP/1.1\r\nHost: a\r\nX-Forwarded-For: ${network}\r\nContent-Length: 60000\r\n\r\n${body}`,
    )
  const part = 'x'.repeat(40_000)
  const sent = Array.from({ length: 520 }, () => post('/upload', '192.0.2.1', part))
  await until('all requests', () => begun === sent.length)
  await until('the refusals', () => refused === 20)
  await until('the ends of their connections', () => sent.filter(({ isClosed }) => isClosed()).length === 20)
  const another = post('/', '192.0.2.1', part)
  await until('the end of another of the same network', another.isClosed)
  const others = post('/', '198.51.100.1', part)
  await until('the request of another network', () => begun > sent.length + 1)
  others.socket.write('x'.repeat(20_000))
  await until('other networks', () => others.received().endsWith('read'))
  sent.find(({ isClosed }) => !isClosed())?.socket.destroy()
  await until('room again', () => {
    const { socket, received } = post('/', '192.0.2.1', part)
    return delay(50)
      .then(() => socket.write('x'.repeat(20_000)))
      .then(() => delay(50))
      .then(() => received().endsWith('read'))
  })
})

t.test('a client that leaves takes its requests along', async t => {
  const begun: string[] = []
  const port = await serve(t, ({ url = '' }) => void begun.push(url))
  const { socket } = dial(t, port, get('/1') + get('/2'))
  await until('the first request', () => begun.length)
  socket.destroy()
  await delay(100)
  t.same(begun, ['/1'])
})

for (const [name, text] of Object.entries({
  nothing: '',
  'half a header': 'GET / HTTP/1.1\r\nHos',
  'half a body': 'POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 10\r\n\r\nhalf',
}))
  t.test(`a connection that sends ${name} ends`, async t => {
    const port = await serve(t, request => void request.resume(), { idleMs: 100 })
    const { isClosed } = dial(t, port, text)
    await until('the end of the connection', isClosed, { maxWaitMs: 5000 })
  })

t.test('a response that is not taken ends its connection, and slow work does not', async t => {
  const port = await serve(t, (request, response) => void setTimeout(() => response.end(bytesFor(request.url)), 500), {
    idleMs: 50,
  })
  const bytesFor = (url = '') => Buffer.alloc(url === '/large' ? 50_000_000 : 10)
  const patient = dial(t, port, get('/'))
  const idle = dial(t, port, get('/large'))
  idle.socket.pause()
  await until('the slow response', () => patient.received().includes('200 OK'))
  await delay(1000)
  idle.socket.resume()
  await until('the end of the connection', idle.isClosed)
  t.ok(idle.received().length < 50_000_000)
})

t.test('a connection is kept after a response for longer than a request may take to arrive', async t => {
  const port = await serve(t, ({ url }, response) => response.end(`answer ${url}`), { idleMs: 50 })
  const { socket, received } = dial(t, port, get('/1'))
  await until('the first response', () => received().includes('answer /1'))
  await delay(500)
  socket.write(get('/2'))
  await until('the second response', () => received().includes('answer /2'))
})

t.test('a connection that is kept ends after its time', async t => {
  const port = await serve(t, (_, response) => response.end('answer'), { keepAliveMs: 100 })
  const { received, isClosed } = dial(t, port, get('/'))
  await until('the response', () => received().includes('answer'))
  await until('the end of the connection', isClosed)
})

t.test('responses say how long the service keeps a connection', async t => {
  for (const [environment, seconds] of [
    [{}, 75],
    [{ KEEP_ALIVE_SECONDS: '620' }, 620],
  ] as const) {
    const { url } = await startService(t, { environment })
    const { received } = dial(t, Number(new URL(url).port), get('/healthz'))
    await until('the response', () => received().includes('ok'))
    t.match(received(), `Keep-Alive: timeout=${seconds}\r\n`)
  }
})

t.test('a full service ends connections that it only keeps', async t => {
  const answer: RequestListener = ({ url }, response) => (url === '/busy' ? response.write('x') : response.end('x'))
  const port = await serve(t, answer, { total: 3 })
  const kept = [dial(t, port, get('/')), dial(t, port, get('/'))]
  const busy = dial(t, port, get('/busy'))
  await until('the responses', () => [...kept, busy].every(({ received }) => received().includes('\r\n\r\n')))
  const refused = dial(t, port, get('/'))
  await until('the refusal', refused.isClosed)
  await until('the ends of the others', () => kept.every(({ isClosed }) => isClosed()))
  const next = dial(t, port, get('/'))
  await until('a response', () => next.received().includes('200 OK'))
  t.notOk(busy.isClosed())
})

const countOf = async (port: number, count: number, t: Test) => {
  const dialled = Array.from({ length: count }, () => dial(t, port, get('/')))
  await until('an end', () => dialled.every(({ isClosed, received }) => isClosed() || received() !== ''))
  return dialled.filter(({ isClosed }) => !isClosed()).length
}

t.test('a response to a client that closes the connection does not promise to keep it', async t => {
  const port = await serve(t, (_, response) =>
    response.writeHead(200, { 'Content-Type': 'text/event-stream', connection: 'keep-alive' }).end('data: 1'),
  )
  for (const [asked, answered] of [
    ['close', 'close'],
    ['keep-alive', 'keep-alive'],
  ] as const) {
    const { received } = dial(t, port, `GET / HTTP/1.1\r\nHost: a\r\nConnection: ${asked}\r\n\r\n`)
    await until('the response', () => received().includes('data: 1'))
    t.same(received().match(/(?<=^connection: ).+?(?=\r)/gim), [answered])
  }
})

t.test('connections are limited in total and per address', async t => {
  const answer: RequestListener = (_, response) => void response.write('x')
  t.equal(await countOf(await serve(t, answer, { total: 3 }), 5, t), 3)
  t.equal(await countOf(await serve(t, answer, { perAddress: 2 }), 5, t), 2)
  t.equal(await countOf(await serve(t, answer, { perAddress: 2, isTrusted: trust(['127.0.0.0/8']) }), 5, t), 5)
})

for (const limit of ['total', 'perAddress'])
  t.test(`connections beyond the limit ${limit} are reported`, async t => {
    let refused = 0
    const onRefused = () => {
      refused += 1
    }
    const port = await serve(t, (_, response) => void response.write('x'), { [limit]: 3, onRefused })
    await countOf(port, 5, t)
    t.equal(refused, 2)
  })

t.test('the service warns of refused connections', async t => {
  const warnings: object[] = []
  const warn = (facts: object, message: string) => void warnings.push({ ...facts, message })
  const environment = { MAX_CONNECTIONS_PER_ADDRESS: '2' }
  const { url } = await startService(t, { environment, logger: { ...silentLogger, warn } })
  for (let count = 0; count < 4; count++) dial(t, Number(new URL(url).port))
  await until('a warning', () => warnings.length > 0)
  t.same(warnings, [{ refused: 1, message: 'connections were refused' }])
})

t.test('an ended connection makes room', async t => {
  const port = await serve(t, (_, response) => void response.write('x'), { perAddress: 1 })
  const first = dial(t, port, get('/'))
  await until('a response', first.received)
  first.socket.destroy()
  await until('room for another', async () => (await countOf(port, 1, t)) === 1)
})

t.test('the addresses of one IPv6 network count together', async t => {
  const networks = {
    '192.0.2.1': '192.0.2.1',
    '::ffff:192.0.2.1': '192.0.2.1',
    '2001:db8:0:1:2:3:4:5': '2001:db8:0:1',
    '2001:db8:0:1::5': '2001:db8:0:1',
    '2001:db8::1': '2001:db8:0:0',
    '::1': '0:0:0:0',
  }
  for (const [address, network] of Object.entries(networks)) t.equal(networkOf(address), network, address)
})

t.test('files are closed when a client that sent requests ahead leaves', async t => {
  const service = await startService(t)
  const customer = await openAccount(service)
  const { body } = await customer.run({ model: 'z-image-turbo', input: { prompt: 'a hill' } })
  const path = new URL(body.output?.urls?.[0] ?? '').pathname
  const openFiles = () =>
    readdirSync('/proc/self/fd').filter(fd => {
      try {
        return readlinkSync(`/proc/self/fd/${fd}`).includes('/objects/outputs/')
      } catch {
        return false
      }
    }).length
  const sockets: Socket[] = []
  for (let count = 0; count < 20; count++) {
    const { socket } = dial(t, Number(new URL(service.url).port), get(path).repeat(8))
    socket.pause()
    sockets.push(socket)
  }
  await delay(300)
  t.ok(openFiles() <= 20)
  for (const socket of sockets) socket.destroy()
  await until('no open file', () => openFiles() === 0, { maxWaitMs: 3000 })
})
