import t from 'tap'
import { systemClock } from '../../../src/adapters/clock/system.ts'
import type { Clock } from '../../../src/ports/clock.ts'
import type { MailMessage } from '../../../src/ports/mailer.ts'
import { MailQueue } from '../../../src/services/sign-in/mail-queue.ts'
import { silentLogger } from '../../support/engine.ts'
import { until } from '../../support/until.ts'

const message = (to = 'ada@example.com'): MailMessage => ({ to, subject: 'Your code', text: 'WDJB-MJHT' })

/** Delays pass at once, and are noted. */
const hastyClock = (delays: number[]): Clock => ({
  ...systemClock,
  timer: (delayMs, callback) => {
    delays.push(delayMs)
    return systemClock.timer(0, callback)
  },
})

const queueOf = (send: (message: MailMessage) => Promise<void>) => {
  const delays: number[] = []
  const errors: unknown[] = []
  const logger = { ...silentLogger, error: (...line: unknown[]) => void errors.push(line) }
  const queue = new MailQueue({ mailer: { send }, clock: hastyClock(delays), logger })
  return { queue, delays, errors }
}

t.test('a message is sent later, and again if the server fails', async t => {
  let tries = 0
  const { queue, delays, errors } = queueOf(async () => {
    if (++tries < 3) throw new Error('the mail server failed')
  })
  queue.add(message())
  t.equal(tries, 0, 'not before the answer')
  await until('it is sent', () => tries === 3)
  t.same(delays, [100, 2_000, 20_000])
  t.same(errors, [])
})

t.test('a message that still fails is dropped, and the log line has neither address nor text', async t => {
  let tries = 0
  const { queue, errors } = queueOf(async () => {
    tries++
    throw new Error('the mail server failed')
  })
  queue.add(message())
  await until('it is given up', () => errors.length === 1)
  t.equal(tries, 3)
  t.notMatch(JSON.stringify(errors), /ada@|WDJB/)
})

t.test('a message that goes first overtakes those that wait, and has room of its own', async t => {
  const sent: string[] = []
  const held: (() => void)[] = []
  const { queue, errors } = queueOf(({ to }) => {
    sent.push(to)
    return new Promise(resolve => held.push(resolve))
  })
  for (let count = 0; count < 1_001; count++) queue.add(message(`stranger-${count}@example.com`))
  queue.add(message('ada@example.com'), { isFirst: true })
  t.equal(errors.length, 1, 'what exceeds the room of strangers is dropped')
  await until('four are being sent', () => held.length === 4)
  held[0]?.()
  await until('another one is sent', () => sent.length === 5)
  t.equal(sent[4], 'ada@example.com')
  for (const release of held) release()
})

t.test('addresses that the server refuses for now do not hold up the others', async t => {
  const sent: string[] = []
  const release: (() => void)[] = []
  const mailer = {
    send: async ({ to }: MailMessage) => {
      sent.push(to)
      if (to.startsWith('refused')) throw new Error('the mail server failed')
    },
    close: () => undefined,
  }
  // Delays before another attempt last until the test ends them.
  const timer: Clock['timer'] = (delayMs, callback) => {
    if (delayMs < 1_000) return systemClock.timer(0, callback)
    release.push(callback)
    return systemClock.timer(60_000, () => undefined).unref()
  }
  const queue = new MailQueue({ mailer, clock: { ...systemClock, timer }, logger: silentLogger })
  t.teardown(() => queue.stop())
  for (let count = 0; count < 20; count++) queue.add(message(`refused-${count}@example.com`))
  queue.add(message('ada@example.com'))
  await until('the last message is sent', () => sent.includes('ada@example.com'))
  t.equal(sent.length, 21, 'each was tried once')
  t.equal(release.length, 20)
  for (const end of release.splice(0)) end()
  await until('the others are tried again', () => sent.length === 41)
})

t.test('a few are sent at a time, and more than a thousand do not wait', async t => {
  let sending = 0
  let most = 0
  let sent = 0
  const release: (() => void)[] = []
  const { queue, errors } = queueOf(async () => {
    most = Math.max(most, ++sending)
    await new Promise<void>(resolve => release.push(resolve))
    sending--
    sent++
  })
  for (let count = 0; count < 1010; count++) queue.add(message())
  t.equal(errors.length, 10)
  await until('all are sent', () => {
    for (const each of release.splice(0)) each()
    return sent === 1000
  })
  t.equal(most, 4)
})

t.test('a stop drops what waits', async t => {
  const sent: string[] = []
  const { queue } = queueOf(async ({ to }) => void sent.push(to))
  for (let count = 0; count < 10; count++) queue.add(message(`${count}@example.com`))
  await queue.stop()
  t.ok(sent.length <= 4)
})
