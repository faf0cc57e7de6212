import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { setTimeout as delay } from 'node:timers/promises'
import { cutOff } from './cut-off.ts'
import { startHangingHosts } from './hanging-hosts.ts'

/** Attacks the service at an address in one of the ways below, and says when it is over. */
const [attack = '', url = '', allKeys = '', file = ''] = process.argv.slice(2)
const keys = allKeys.split(',')
const [key = ''] = keys
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

const http = (method: string, path: string, { body = '', headers = '', as = key } = {}): string =>
  `${method} ${path} HTTP/1.1\r\nHost: localhost\r\n${as && `Authorization: Bearer ${as}\r\n`}${headers}` +
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

/** A body of a megabyte, for each route that takes one. */
const largeBodies = (as: string): Buffer[] =>
  [
    ...['/v1/run', '/mcp', '/v1/uploads/presigned'].map(path => http('POST', path, { as, body: LARGE })),
    ...[`/v1/runs/${NO_RUN}/cancel`, '/v1/runs'].map(path => http('POST', path, { as, body: LARGE })),
    http('POST', '/v1/uploads', { as, headers: FORM }) + PART + LARGE,
    http('PUT', '/cdn/uploads/x', { as, headers: `Content-Length: ${LARGE.length}\r\n` }) + LARGE,
  ].map(text => Buffer.from(text))

const LARGE = JSON.stringify({ model: 'sandbox', input: { prompt: 'x'.repeat(2 ** 20 - 100) } })
const NO_RUN = 'run_01m7z4hp40enbs019v3tcadvdx'
const PART = '--b\r\nContent-Disposition: form-data; name="file"; filename="a.png"\r\nContent-Type: image/png\r\n\r\n'
const FORM = `Content-Type: multipart/form-data; boundary=b\r\nContent-Length: ${PART.length + LARGE.length + 7}\r\n`

/** Answers that are long or take long, with cursors and IDs that are made up, or of another account. */
const largeAnswers = (as: string): Buffer[] =>
  [
    ...['/v1/runs?limit=100', '/v1/runs?limit=100&status=failed', `/v1/runs?limit=100&cursor=${NO_RUN}`],
    ...['/v1/ledger?limit=100', '/v1/ledger?limit=100&kind=refund', '/v1/ledger/export', '/v1/models'],
    ...['/v1/uploads?limit=100', `/v1/runs/${NO_RUN}`],
  ].map(path => Buffer.from(http('GET', path, { as })))

const proofs = (as: string): Buffer[] =>
  [
    ...[`/v1/ledger/proof?run=${NO_RUN}`, `/v1/ledger/proof?event=${NO_EVENT}`],
    ...['/v1/ledger/consistency?from=0&to=1', '/v1/ledger/consistency?from=1&to=1000000'],
  ].map(path => Buffer.from(http('GET', path, { as })))

const NO_EVENT = '0b1f9d34-64aa-4a53-8f39-b9a2b1ff8a5a'

const CLIENTS = 100
const CUT_OFF_SECONDS = 30

/** Has clients send requests of these keys in turn, and reset their connections before the answer. */
const cutOffAs = async (keys: string[], requestsOf: (key: string) => Buffer[]): Promise<number> => {
  const requests = keys.map(requestsOf)
  const request = (index: number) => {
    const own = requests[index % keys.length] ?? []
    return own[Math.floor(index / keys.length) % own.length] as Buffer
  }
  return cutOff({ url, clients: CLIENTS, seconds: CUT_OFF_SECONDS, request })
}

/** Each resolves once the attack is over, and some to the number of their requests. */
const attacks: Record<string, () => Promise<unknown>> = {
  'bodies cut off, of one account': () => cutOffAs([key], largeBodies),
  'bodies cut off, of many accounts': () => cutOffAs(keys, largeBodies),
  'bodies cut off, without a key': () => cutOffAs([''], largeBodies),
  'answers cut off, of one account': () => cutOffAs([key], largeAnswers),
  'answers cut off, of many accounts': () => cutOffAs(keys, largeAnswers),
  'proofs cut off': () => cutOffAs([key], proofs),
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

const requests = await attacks[attack]?.()
for (const socket of sockets) socket.destroy()
process.send?.({ requests })
process.on('message', () => process.exit(0))
