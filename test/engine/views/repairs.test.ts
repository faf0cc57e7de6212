import t from 'tap'
import { Repairs } from '../../../src/engine/views/repairs.ts'
import type { Timer } from '../../../src/ports/clock.ts'
import { accountId } from '../../support/account-samples.ts'
import { forgeCells } from '../../support/dump.ts'
import { openLog, openViews, silentLogger } from '../../support/engine.ts'
import { writeHistory } from '../../support/history.ts'
import { ManualClock } from '../../support/manual-clock.ts'
import { until } from '../../support/until.ts'
import { differences, projectorOf, rebuildOf } from '../../support/views.ts'

/** A clock whose timers end only when the test ends them. */
class StoppedTimers extends ManualClock {
  readonly #timers: (() => void)[] = []

  override timer = (_: number, callback: () => void): Timer => {
    this.#timers.push(callback)
    const timer = { cancel: () => undefined, unref: () => timer }
    return timer
  }

  whenSet = () => until('a timer is set', () => this.#timers.length)

  /** Ends the timer that was set first. */
  end() {
    this.#timers.shift()?.()
  }
}

t.test('a failed rebuild is repeated after a pause', async t => {
  const [log, store] = [await openLog(t), await openViews(t)]
  await writeHistory(log)
  const projector = projectorOf(log, store)
  await projector.start()
  await projector.stop()
  await forgeCells(store, [{ address: `rows/balance/${accountId()}`, value: '{}' }])

  const clock = new StoppedTimers()
  let attempts = 0
  const openScratch = async () => {
    attempts += 1
    if (attempts < 3) throw new Error('the disk is full')
    return { scratch: await openViews(t), discard: async () => undefined }
  }
  const repairs = new Repairs({ ...rebuildOf(log, store), clock, logger: silentLogger, openScratch })
  t.teardown(() => repairs.stop())
  repairs.onForged({ view: 'balance', key: accountId() })
  for (const [attempt, wrongCells] of [1, 1, 0].entries()) {
    await clock.whenSet()
    t.equal(attempts, attempt + 1)
    t.equal((await differences(t, log, store)).length, wrongCells)
    clock.end()
  }
})
