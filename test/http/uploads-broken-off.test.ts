import { once } from 'node:events'
import { readdir } from 'node:fs/promises'
import { connect } from 'node:net'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import t from 'tap'
import { filePart, formOf, formType, sendForm, textPart, upload } from '../support/multipart.ts'
import { picture } from '../support/sample-files.ts'
import { openAccount, startService } from '../support/service.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'
import { isLong } from '../support/test-length.ts'
import { until } from '../support/until.ts'

setFlagsFromString('--expose-gc')
const collectGarbage: () => void = runInNewContext('gc')

const FAILED = 400

const folder = await temporaryFolder(t)
const service = await startService(t, { folder })
const customer = await openAccount(service)
const png = await picture('png')
const file = filePart(png)

const leftovers = () => readdir(join(folder, 'objects', 'arriving'))

/** The request head for a form written to a socket. */
const headOf = (length: string, key = customer.apiKey) =>
  `POST /v1/uploads HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer ${key}\r\nContent-Type: ${formType}\r\n${length}\r\n\r\n`

/** Bytes as a chunk of a body with chunked encoding. */
const chunk = (bytes: Uint8Array) =>
  Buffer.concat([Buffer.from(`${bytes.length.toString(16)}\r\n`), bytes, Buffer.from('\r\n')])

const dial = async () => {
  const socket = connect(Number(new URL(customer.url).port), '127.0.0.1')
  socket.on('error', () => undefined)
  await once(socket, 'connect')
  return socket
}

t.test('a refusal that does not depend on the file is sent before the file arrives', async t => {
  const beginning = (type: string) => formOf(filePart('a', type)).subarray(0, -20)
  const early: [string, Uint8Array, number][] = [
    ['Content-Length: 100000000', Buffer.alloc(0), 413],
    ['Content-Length: 1000000', beginning('image/svg+xml'), 400],
    ['Transfer-Encoding: chunked', chunk(beginning('image/svg+xml')), 400],
  ]
  for (const [length, body, status] of early) {
    const socket = await dial()
    socket.write(headOf(length))
    socket.write(body)
    const [answer] = await once(socket, 'data')
    t.match(String(answer), `HTTP/1.1 ${status} `)
    socket.destroy()
  }
})

t.test('a client that sends its whole body first gets the answer and can reuse the connection', async t => {
  const tooLarge = formOf(filePart(Buffer.alloc(30 * 2 ** 20)))
  const refused = formOf(filePart(Buffer.alloc(20 * 2 ** 20), 'image/svg+xml'))
  for (const [form, key, status] of [
    [tooLarge, customer.apiKey, 413],
    [refused, customer.apiKey, 400],
    [refused, 'wrong', 401],
  ] as const) {
    const socket = await dial()
    socket.write(headOf(`Content-Length: ${form.length}`, key))
    await new Promise(resolve => socket.write(form, resolve))
    const [answer] = await once(socket, 'data')
    t.match(String(answer), `HTTP/1.1 ${status} `)
    socket.write('GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n')
    const [next] = await once(socket, 'data')
    t.match(String(next), 'HTTP/1.1 200 ')
    socket.destroy()
  }
})

t.test('a refused client that keeps sending is disconnected', async t => {
  for (const key of [customer.apiKey, 'wrong']) {
    const socket = await dial()
    const closed = new Promise(resolve => socket.once('close', resolve))
    socket.write(headOf('Transfer-Encoding: chunked', key))
    const piece = chunk(Buffer.alloc(2 ** 20))
    let sentMegabytes = 0
    while (!socket.destroyed && sentMegabytes < 1000) {
      sentMegabytes++
      if (!socket.write(piece)) await Promise.race([new Promise(resolve => socket.once('drain', resolve)), closed])
    }
    socket.destroy()
    await closed
    t.ok(sentMegabytes < 200, `${sentMegabytes} MB were accepted`)
  }
})

t.test('a client that disconnects leaves nothing behind', async t => {
  const head = await service.core.log.head()
  const form = formOf(textPart('folder_path', 'photos'), filePart(Buffer.concat([png, Buffer.alloc(200_000)])))
  for (const length of [0, 1, 60, 100, 200, 300, 100_000, form.length - 10, form.length - 1]) {
    const socket = await dial()
    socket.write(headOf(`Content-Length: ${form.length}`))
    await new Promise(resolve => socket.write(form.subarray(0, length), resolve))
    socket.destroy()
  }
  await untilNoLeftovers()
  t.same(await leftovers(), [])
  t.equal(await service.core.log.head(), head)
})

if (isLong)
  t.test(`${FAILED} failed uploads leave no file and no memory behind`, async t => {
    const begun = formOf(filePart(Buffer.concat([png, Buffer.alloc(70_000)]))).subarray(0, -40)
    const ways = [
      () => upload(customer, file, file),
      () => upload(customer, filePart(Buffer.alloc(70_000))),
      () => sendForm(customer, begun),
      () => service.client().send('/v1/upload', { method: 'POST', headers: { 'Content-Type': formType }, body: begun }),
      async () => {
        const socket = await dial()
        socket.write(headOf('Content-Length: 100000'))
        await new Promise(resolve => socket.write(begun, resolve))
        socket.destroy()
      },
    ]
    const many = async (count: number) => {
      for (let sent = 0; sent < count; sent += ways.length) await Promise.all(ways.map(send => send()))
      await untilNoLeftovers()
    }
    await many(FAILED / 2)
    const before = await settledMemory()
    await many(FAILED)
    const after = await settledMemory()
    t.same(await leftovers(), [])
    // The half of a leak of one buffer of 64 KB per upload.
    const grownMegabytes = (after - before) / 2 ** 20
    t.ok(grownMegabytes < (FAILED * 0.0625) / 2, `${grownMegabytes} MB more`)
  })

/** Looks several times, since requests that are sent may not have begun. */
const untilNoLeftovers = () =>
  until('the files of interrupted requests are deleted', async () => {
    for (let look = 0; look < 10; look++) {
      if ((await leftovers()).length > 0) return false
      await sleep(30)
    }
    return true
  })

/** The memory in use after garbage collection, including buffers. */
const settledMemory = async () => {
  for (let round = 0; round < 3; round++) {
    await sleep(20)
    collectGarbage()
  }
  const { heapUsed, external } = process.memoryUsage()
  return heapUsed + external
}
