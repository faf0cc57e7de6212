import t from 'tap'
import { Semaphore } from '../../src/flow/semaphore.ts'
import { begin, openChannel, turnVia } from '../../src/studio/worker-channel.ts'

const LONG_MS = 600_000

t.test('one large source is decoded at a time', async t => {
  const gate = new Semaphore({ each: 1 })
  const lines = Array.from({ length: 5 }, () => openChannel(LONG_MS, gate))
  let decoding = 0
  let most = 0
  const decode = async () => {
    most = Math.max(most, ++decoding)
    await new Promise(setImmediate)
    decoding--
  }
  await Promise.all(lines.map(({ port }) => turnVia(port)(decode)))
  t.equal(most, 1)
  for (const line of lines) line.close()
})

t.test('a thread that fails to decode or dies gives its turn away', async t => {
  const gate = new Semaphore({ each: 1 })
  const [failing, dying, waiting, last] = [1, 2, 3, 4].map(() => openChannel(LONG_MS, gate)) as Lines
  await t.rejects(
    turnVia(failing.port)(() => Promise.reject(new Error('damaged'))),
    { message: 'damaged' },
  )
  const began = new Promise<void>(resolve => {
    void turnVia(dying.port)(() => new Promise(() => resolve()))
  })
  await began
  void turnVia(waiting.port)(async () => t.fail('it died while it waited'))
  const decoded = turnVia(last.port)(async () => 'decoded')
  waiting.close()
  dying.close()
  t.equal(await decoded, 'decoded')
  for (const line of [failing, last]) line.close()
})

t.test('the time limit begins with the work', async t => {
  const line = openChannel(0, new Semaphore({ each: 1 }))
  await new Promise(resolve => setTimeout(resolve, 10))
  t.notOk(line.signal.aborted)
  const aborted = new Promise(resolve => line.signal.addEventListener('abort', resolve))
  begin(line.port)
  await t.resolves(aborted)
  line.close()
})

t.test('without a line, decoding waits for nothing', async t => {
  t.equal(await turnVia(undefined)(async () => 'decoded'), 'decoded')
})

type Line = ReturnType<typeof openChannel>
type Lines = [Line, Line, Line, Line]
