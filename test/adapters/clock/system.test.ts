import { setTimeout as delay, setImmediate as immediate } from 'node:timers/promises'
import t from 'tap'
import { systemClock } from '../../../src/adapters/clock/system.ts'

const workFor = (ms: number) => {
  const endMs = performance.now() + ms
  while (performance.now() < endMs);
}

t.test('after long work, a timer without a delay comes after what waits already', async t => {
  const order: string[] = []
  await new Promise<void>(resolve => {
    setImmediate(() => {
      setImmediate(() => order.push('waiting'))
      systemClock.timer(0, () => {
        order.push('timer')
        resolve()
      })
      workFor(5)
    })
  })
  t.same(order, ['waiting', 'timer'])
})

t.test('a cancelled timer does not call back, with a delay or without', async t => {
  const called: number[] = []
  for (const delayMs of [0, 1]) {
    systemClock.timer(delayMs, () => called.push(delayMs)).cancel()
    systemClock.timer(delayMs, () => called.push(delayMs + 10)).unref()
  }
  await delay(20)
  // After a pause of 20 ms, the delay ends before the immediates run.
  await immediate()
  t.same(called.sort(), [10, 11])
})
