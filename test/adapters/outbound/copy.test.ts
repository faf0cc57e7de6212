import { once } from 'node:events'
import { PassThrough, Writable } from 'node:stream'
import { buffer } from 'node:stream/consumers'
import t from 'tap'
import { readRanges } from '../../../src/adapters/outbound/allowed-address.ts'
import type { OutboundCopy } from '../../../src/ports/outbound.ts'
import { until } from '../../support/until.ts'
import { faultOf, GET, open, openForDevelopment, SHORT_MS, serve, startCanary } from './servers.ts'

const COPY: OutboundCopy = { maxBytes: 1000, timeoutMs: GET.timeoutMs }

const sink = () => {
  const into = new PassThrough({ highWaterMark: 1_000_000 })
  const received = buffer(into)
  received.catch(() => undefined)
  return { into, received }
}

t.test('a document is streamed into a writable, with all bytes shown in order', async t => {
  const outbound = openForDevelopment(t)
  const url = await serve(t, (_, response) => {
    response.write('0123')
    setImmediate(() => response.end('456789'))
  })
  const { into, received } = sink()
  const seen: string[] = []
  await outbound.copy(url, into, { ...COPY, maxBytes: 10, onBytes: bytes => void seen.push(String(bytes)) })
  t.equal(String(await received), '0123456789')
  t.equal(seen.join(''), '0123456789')
})

t.test('an expired address, a redirect, compression and a broken connection fail and destroy the writable', async t => {
  const outbound = openForDevelopment(t)
  const url = await serve(t, (request, response) => {
    const what = request.url?.slice(1) ?? ''
    if (/^\d+$/.test(what)) response.writeHead(Number(what), { Location: '/0' }).end('gone')
    else if (what === 'gzip') response.writeHead(200, { 'Content-Encoding': 'gzip' }).end('zipped')
    else {
      response.writeHead(200, what === 'sized' ? { 'Content-Length': 900 } : {})
      response.write('a part', () => setImmediate(() => response.destroy()))
    }
  })
  for (const [what, words] of Object.entries({
    ...{ 403: /status 403/, 404: /status 404/, 410: /status 410/, 302: /status 302/, 206: /status 206/ },
    ...{ gzip: /compressed/, sized: /cut off/, chunked: /cut off/ },
  })) {
    const { into, received } = sink()
    t.match((await faultOf(outbound.copy(url + what, into, COPY))).message, words, what)
    t.ok(into.destroyed, what)
    await t.rejects(received, what)
  }
})

t.test('a document that is declared to be too large is refused before its first byte', async t => {
  const outbound = openForDevelopment(t)
  const url = await serve(t, (_, response) => response.writeHead(200, { 'Content-Length': 1001 }).write('a part'))
  let bytes = 0
  const onBytes = (chunk: Uint8Array) => {
    bytes += chunk.byteLength
  }
  const copied = outbound.copy(url, sink().into, { ...COPY, onBytes })
  t.match((await faultOf(copied)).message, /more than 1000 bytes/)
  t.equal(bytes, 0)
})

t.test('a document that turns out to be too large is cut off there, and its connection closed', async t => {
  const outbound = openForDevelopment(t)
  let sentBytes = 0
  let isClosed = false
  const url = await serve(t, (_, response) => {
    const zeros = Buffer.alloc(65_536)
    const send = () => {
      while (!response.destroyed && response.write(zeros)) sentBytes += zeros.length
      sentBytes += zeros.length
    }
    response.on('drain', send).on('close', () => {
      isClosed = true
    })
    send()
  })
  let keptBytes = 0
  const into = new Writable({
    write: (chunk: Buffer, _, done) => {
      keptBytes += chunk.length
      setImmediate(done)
    },
  })
  const maxBytes = 20_000_000
  t.match((await faultOf(outbound.copy(url, into, { ...COPY, maxBytes }))).message, /more than 20000000 bytes/)
  t.ok(keptBytes <= maxBytes)
  await until('the connection is closed', () => isClosed)
  t.ok(sentBytes < 2 * maxBytes, `${sentBytes} bytes were sent`)
})

t.test('a slow writable slows its sender', async t => {
  const outbound = openForDevelopment(t)
  let isWaiting = false
  const url = await serve(t, (_, response) => {
    const send = () => {
      for (let count = 0; count < 2_000; count++) if (!response.write(Buffer.alloc(65_536))) break
      isWaiting = response.writableNeedDrain
    }
    response.on('drain', send)
    send()
  })
  const stop = new AbortController()
  const stuck = new Writable({ write: () => undefined })
  let seenBytes = 0
  const onBytes = (chunk: Uint8Array) => {
    seenBytes += chunk.byteLength
  }
  const request = { ...COPY, maxBytes: 2 ** 30, signal: stop.signal, onBytes }
  const copied = outbound.copy(url, stuck, request)
  await until('the sender waits', () => isWaiting && seenBytes > 0)
  t.ok(seenBytes < 1_000_000, `${seenBytes} bytes were taken`)
  stop.abort(new Error('the service stops'))
  await t.rejects(copied, { message: 'the service stops' })
  t.ok(stuck.destroyed)
})

t.test('a copy has a time limit', async t => {
  const outbound = openForDevelopment(t)
  const url = await serve(t, (_, response) => void response.writeHead(200).write('a part'))
  const { into } = sink()
  t.match((await faultOf(outbound.copy(url, into, { ...COPY, timeoutMs: SHORT_MS }))).message, /within 200 ms/)
  if (!into.destroyed) await once(into, 'close')
})

t.test('only exactly the trusted origin may be private', async t => {
  const outbound = open(t, { allowPrivate: false })
  const url = await serve(t, (request, response) => {
    if (request.url === '/away') response.writeHead(302, { Location: '/file' }).end()
    else response.end('file')
  })
  const canary = await startCanary(t)
  const trustedOrigin = new URL(url).origin
  const { into, received } = sink()
  await outbound.copy(`${url}file`, into, { ...COPY, trustedOrigin })
  t.equal(String(await received), 'file')

  const { port } = new URL(url)
  const others = [
    `http://127.0.0.1:${canary.port}/`,
    `http://localhost:${port}/`,
    `https://127.0.0.1:${port}/`,
    `http://127.0.0.2:${port}/`,
  ]
  for (const other of others) {
    const fault = await faultOf(outbound.copy(other, sink().into, { ...COPY, trustedOrigin }))
    t.equal(fault.kind, 'refused', other)
  }
  t.equal((await faultOf(outbound.copy(url, sink().into, COPY))).kind, 'refused', 'without a trusted origin')
  const redirected = await faultOf(outbound.copy(`${url}away`, sink().into, { ...COPY, trustedOrigin }))
  t.match(redirected.message, /status 302/)
  const named = await faultOf(outbound.copy(url.replace('//', '//user@'), sink().into, { ...COPY, trustedOrigin }))
  t.equal(named.kind, 'refused')
  t.equal((await faultOf(outbound.get(url, GET))).kind, 'refused', 'other requests are guarded as before')
  t.equal(canary.connections, 0)
})

t.test('a denied address is not trusted', async t => {
  const outbound = open(t, { allowPrivate: false, denied: readRanges(['127.0.0.0/8']) })
  const url = await serve(t, (_, response) => void response.end('file'))
  const trustedOrigin = new URL(url).origin
  t.equal((await faultOf(outbound.copy(url, sink().into, { ...COPY, trustedOrigin }))).kind, 'refused')
})
