import { readFile, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { createOutbound } from '../../../src/adapters/outbound/undici.ts'
import { openHttpsSealSink } from '../../../src/adapters/seal-sink/https.ts'
import { Unavailable } from '../../../src/ports/faults.ts'
import { startReceiver, status } from '../../support/receiver.ts'
import { sealCopies } from '../../support/seal-copies.ts'
import { temporaryFolder } from '../../support/temporary-folder.ts'

const open = async (t: Test) => {
  const receiver = await startReceiver(t)
  const memory = join(await temporaryFolder(t), 'sinks', 'one.json')
  const reopen = () => {
    const url = `${receiver.url}secret?x=1`
    const sink = openHttpsSealSink({ url, outbound: createOutbound({ allowPrivate: true }), memory })
    t.teardown(() => sink.close())
    return sink
  }
  const numbers = () => receiver.deliveries.map(({ body }) => JSON.parse(body).number)
  return { receiver, memory, reopen, numbers }
}

const seals = sealCopies(1, 2, 4)

t.test('each seal is posted in order, with its link as the idempotency key', async t => {
  const { receiver, memory, reopen } = await open(t)
  const sink = reopen()
  t.equal(await sink.last(), undefined)
  await sink.append(seals, undefined)
  t.match(
    receiver.deliveries,
    seals.map(({ link, text }) => ({
      ...{ method: 'POST', path: '/secret?x=1', body: text },
      headers: { 'content-type': 'application/json', 'idempotency-key': link },
    })),
  )
  t.equal(sink.name, receiver.url.slice(0, -1), 'the path is not shown')
  t.equal((await stat(memory)).mode & 0o777, 0o600)
  t.notMatch(await readFile(memory, 'utf8'), /secret/)
})

t.test('whatever is no 2xx is a failure, after which the rest is sent', async t => {
  const { receiver, reopen, numbers } = await open(t)
  for (const code of [301, 404, 409, 500]) {
    receiver.answer = status(code)
    await t.rejects(reopen().append(seals, undefined), Unavailable, `${code}`)
  }
  t.same(numbers(), [1, 1, 1, 1])
  receiver.answer = (response, { body }) => response.writeHead(JSON.parse(body).number === 2 ? 503 : 202).end()
  await t.rejects(reopen().append(seals, undefined), Unavailable)
  receiver.answer = status(200)
  const sink = reopen()
  t.match(await sink.last(), { number: 1, link: seals[0]?.link }, 'a new process knows what was delivered')
  await sink.append(seals.slice(1), seals[0])
  t.same(numbers().slice(4), [1, 2, 2, 4])
})

t.test('a receiver that cannot be reached is unavailable', async t => {
  const { receiver, memory } = await open(t)
  const url = receiver.url.replace(/:\d+/, ':1')
  const sink = openHttpsSealSink({ url, outbound: createOutbound({ allowPrivate: true }), memory })
  t.teardown(() => sink.close())
  await t.rejects(sink.append(seals, undefined), Unavailable)
})

t.test('a memory that is lost or broken is as good as none', async t => {
  const { memory, reopen } = await open(t)
  await reopen().append(seals, undefined)
  await writeFile(memory, '{"number":')
  t.equal(await reopen().last(), undefined)
})
