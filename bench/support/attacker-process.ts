import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { setTimeout as delay } from 'node:timers/promises'
import { startHangingHosts } from './hanging-hosts.ts'

/** Attacks the service at an address in one of the ways below, and says when it is over. */
const [attack = '', url = '', key = '', file = ''] = process.argv.slice(2)
const { port } = new URL(url)

const sockets = new Set<Socket>()

/** Opens a connection and sends something at once. Successive connections come from different addresses. */
const open = (bytes: string, { read = true }: { read?: boolean } = {}): Socket => {
  const localAddress = `127.0.0.${2 + (sockets.size % 8)}`
  const socket = connect({ host: '127.0.0.1', port: Number(port), localAddress }, () => socket.write(bytes))
  // The service may refuse an attack as it likes.
  socket.on('error', () => undefined)
  if (read) socket.resume()
  sockets.add(socket)
  return socket
}

const AT_A_TIME = 100

/** Opens connections, 100 at a time, as fast as the service accepts them. */
const openMany = async (count: number, bytes: (index: number) => string): Promise<void> => {
  for (let index = 0; index < count; index += AT_A_TIME)
    await Promise.all(times(AT_A_TIME, at => once(open(bytes(index + at)), 'connect')))
}

const http = (method: string, path: string, { body = '', headers = '' } = {}): string =>
  `${method} ${path} HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer ${key}\r\n${headers}` +
  `${body && `Content-Type: application/json\r\nContent-Length: ${Buffer.byteLength(body)}\r\n`}\r\n${body}`

const post = (path: string, body: object, headers = ''): string =>
  http('POST', path, { body: JSON.stringify(body), headers })

const times = <Result>(count: number, make: (index: number) => Result): Result[] =>
  Array.from({ length: count }, (_, index) => make(index))

const startRun = async (body: object): Promise<string> => {
  const answer = await fetch(`${url}/v1/run`, {
    ...{ method: 'POST', body: JSON.stringify(body) },
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json', prefer: 'wait=0' },
  })
  const { run_id } = (await answer.json()) as { run_id: string }
  return run_id
}

/** Sends an object whose parts are as many as its limit of bytes holds. */
const manyParts = JSON.stringify({ model: 'sandbox', input: { a: Array(120_000).fill(0) } })

const attacks: Record<string, () => Promise<void>> = {
  pipelines: async () => {
    for (const path of ['/v1/models', file]) times(30, () => open(http('GET', path).repeat(1_000), { read: false }))
    await delay(5_000)
  },
  'files left open': async () => {
    const opened = times(98, () => open(http('GET', file).repeat(8), { read: false }))
    await delay(1_500)
    for (const socket of opened) socket.destroy()
    await delay(1_500)
  },
  'large JSON': async () => {
    const bytes = http('POST', '/v1/run', { body: manyParts })
    const untilMs = performance.now() + 5_000
    const sendAgain = async () => {
      while (performance.now() < untilMs) {
        const socket = open(bytes)
        await Promise.race([once(socket, 'data'), delay(1_000)])
        socket.destroy()
      }
    }
    await Promise.all(times(4, sendAgain))
  },
  streams: async () => {
    const runId = await startRun({
      model: 'sandbox',
      input: { prompt: 'hello', delay_ms: 6_000 },
    })
    const headers = 'Accept: text/event-stream\r\n'
    await openMany(4_000, () => http('GET', `/v1/runs/${runId}`, { headers }))
    await delay(9_000)
  },
  'runs whose image hangs': async () => {
    const { urlOf } = await startHangingHosts()
    const input = (index: number) => ({ prompt: 'a lake', image_url: urlOf(index) })
    await openMany(400, index => post('/v1/run', { model: 'nano-banana-2', input: input(index) }))
    await delay(5_000)
  },
  'failing runs with webhooks to hosts that hang': async () => {
    const { urlOf } = await startHangingHosts()
    const run = { model: 'sandbox', input: { prompt: 'x', outcome: 'provider_error' } }
    await openMany(2_000, index => post('/v1/run', { ...run, webhook_url: urlOf(index) }))
    await delay(5_000)
  },
  'connections at once': async () => {
    times(4_000, () => open(http('GET', '/v1/balance')))
    await delay(3_000)
  },
  'connections, one after another': async () => {
    const untilMs = performance.now() + 5_000
    const openAgain = async () => {
      while (performance.now() < untilMs) {
        const socket = open('')
        await Promise.race([once(socket, 'connect'), delay(1_000)])
        socket.destroy()
        sockets.delete(socket)
      }
    }
    await Promise.all(times(200, openAgain))
  },
  'slow requests': async () => {
    await openMany(1_500, () => 'POST /v1/run HTTP/1.1\r\nHost: ')
    for (const byte of 'localhost') for (const socket of await delay(500).then(() => sockets)) socket.write(byte)
  },
}

await attacks[attack]?.()
for (const socket of sockets) socket.destroy()
process.send?.('over')
process.on('message', () => process.exit(0))
