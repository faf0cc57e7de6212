import { setTimeout as delay } from 'node:timers/promises'
import t from 'tap'
import { systemClock } from '../../../src/adapters/clock/system.ts'
import type { Clock } from '../../../src/ports/clock.ts'
import { BEFORE_FIRST } from '../../../src/ports/event-log.ts'
import { SealsReactor } from '../../../src/reactors/upkeep/seals.ts'
import type { Sealer } from '../../../src/services/seals/sealer.ts'
import { openLog, silentLogger } from '../../support/engine.ts'
import { writeHistory } from '../../support/history.ts'
import { until } from '../../support/until.ts'

/** Timers run fifty times as fast, so that a follower soon gives up a page that is not handled. */
const fastClock: Clock = {
  ...{ nowMs: systemClock.nowMs, monotonicMs: systemClock.monotonicMs },
  timer: (delayMs, callback) => systemClock.timer(delayMs / 50, callback),
}

/** Far longer than a follower waits on that clock before it reads again. */
const BACK_OFF_MS = 100

t.test('the log is not read again while a seal is made', async t => {
  const calls: string[] = []
  let open = (): void => undefined
  const gate = new Promise<void>(resolve => {
    open = resolve
  })
  const sealer: Pick<Sealer, 'restart' | 'take' | 'sealWhatIsDue'> = {
    restart: async () => {
      calls.push('restart')
      return BEFORE_FIRST
    },
    take: () => undefined,
    sealWhatIsDue: async () => {
      calls.push('seal')
      await gate
      calls.push('sealed')
    },
  }
  let drops = 0
  const logger = { ...silentLogger, error: () => drops++ }
  const log = await openLog(t)
  await writeHistory(log, { accounts: 6 })
  const reactor = new SealsReactor({ log, sealer: sealer as Sealer, clock: fastClock, logger })
  reactor.start()
  t.teardown(() => reactor.stop())
  await until('the follower has given up', () => drops > 0)
  await delay(BACK_OFF_MS)
  open()
  await until('the log is read again', () => calls.filter(call => call === 'restart').length > 1)
  t.same(calls.slice(0, 4), ['restart', 'seal', 'sealed', 'restart'])
})
