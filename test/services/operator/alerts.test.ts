import t, { type Test } from 'tap'
import { OPERATOR_STREAM } from '../../../schemas/events.ts'
import { systemClock } from '../../../src/adapters/clock/system.ts'
import type { Clock } from '../../../src/ports/clock.ts'
import type { EventLog } from '../../../src/ports/event-log.ts'
import { Unavailable } from '../../../src/ports/faults.ts'
import { Alerts } from '../../../src/services/operator/alerts.ts'
import { collect } from '../../support/collect.ts'
import { ambient, openLog } from '../../support/engine.ts'
import { until } from '../../support/until.ts'

const alert = { kind: 'provider_refuses', provider: 'fal', account: 'a1b2c3d4', reason: 'unauthorized' } as const

/** Only what the log did not take is tried again sooner. */
const clock: Clock = {
  ...{ nowMs: systemClock.nowMs, monotonicMs: systemClock.monotonicMs },
  timer: (delayMs, callback) => systemClock.timer(delayMs === 5_000 ? 50 : delayMs, callback),
}

const start = (t: Test, log: EventLog) => {
  const notices = new Alerts({ ...ambient(), log, clock, hasMail: true })
  notices.start()
  t.teardown(() => notices.stop())
  return notices
}

const typesIn = async (log: EventLog) =>
  (await collect(log.readStream(OPERATOR_STREAM, 0))).map(({ type }) => type.replace('Operator', ''))

t.test('several processes that see an alert raise one notice, also after a restart', async t => {
  const log = await openLog(t)
  const [one, other] = [start(t, log), start(t, log)]
  for (const notices of [one, other, one, other]) notices.report(alert)
  await until('it is raised', async () => (await one.state()).raised === 1)
  await Promise.all([one.stop(), other.stop()])
  const next = start(t, log)
  next.report(alert)
  await next.stop()
  t.same(await typesIn(log), ['NoticeRaised'])
  next.works(alert)
  next.report(alert)
  next.works(alert)
  await until('it is over', async () => (await next.state()).open.size === 0)
  await next.stop()
  t.same((await typesIn(log)).at(-1), 'TroubleEnded')
})

t.test('what works is not written into the log', async t => {
  const log = await openLog(t)
  const notices = start(t, log)
  for (let count = 0; count < 3; count++) notices.works(alert)
  await notices.stop()
  t.same(await typesIn(log), [])
})

t.test('an alert is raised once the log is back', async t => {
  const log = await openLog(t)
  let isAway = true
  let tries = 0
  const faulty: EventLog = {
    ...log,
    readStream: (...range) => {
      tries += 1
      if (isAway) throw new Unavailable('the log is away')
      return log.readStream(...range)
    },
  }
  const notices = start(t, faulty)
  notices.report(alert)
  await until('it was tried twice', () => tries >= 2)
  t.same(await typesIn(log), [])
  isAway = false
  await until('it is raised', async () => (await typesIn(log)).length === 1)
})
