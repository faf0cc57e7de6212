import { setImmediate as turn } from 'node:timers/promises'
import t from 'tap'
import type { AccountId, RunId } from '../../../schemas/primitives.ts'
import { systemClock } from '../../../src/adapters/clock/system.ts'
import { createLogger } from '../../../src/adapters/logger/pino.ts'
import type { Clock } from '../../../src/ports/clock.ts'
import { timedOut } from '../../../src/reactors/runs/failures.ts'
import { Submission } from '../../../src/reactors/runs/submission.ts'
import { Health } from '../../../src/services/providers/health.ts'
import type { Route } from '../../../src/services/providers/routes.ts'
import { instantProvider } from '../../support/service.ts'

const TIMEOUT_MS = 500

/** A clock that fires all due timers at once, the last one first, as a busy process may. */
class LateClock implements Clock {
  readonly monotonicMs = systemClock.monotonicMs
  readonly nowMs = systemClock.nowMs
  #timers: { delayMs: number; callback: () => void }[] = []

  timer(delayMs: number, callback: () => void) {
    const timer = { delayMs, callback }
    this.#timers.push(timer)
    const cancel = () => {
      this.#timers = this.#timers.filter(each => each !== timer)
    }
    const started = { cancel, unref: () => started }
    return started
  }

  async fire(dueMs: number) {
    for (const timer of this.#timers.toReversed()) {
      if (timer.delayMs <= dueMs && this.#timers.includes(timer)) timer.callback()
      await turn()
    }
  }
}

t.test('a sync run ends at its time limit, and its model goes on, whichever timer fires first', async t => {
  const clock = new LateClock()
  const health = new Health(clock)
  const client = { ...instantProvider, submit: () => new Promise<never>(() => undefined) }
  const route = { account: { provider: 'slow', account: 'a', client }, upstream: { model: 'm' } } as unknown as Route
  for (let number = 1; number <= 6; number++) {
    const run = {
      ...{ runId: `run_${number}` as RunId, accountId: 'acct_1' as AccountId, model: 'lumen', endpoint: 'lumen-t2i' },
      ...{ mode: 'sync', timeoutMs: TIMEOUT_MS, startedAt: new Date().toISOString(), input: {} },
    } as never
    const submission = new Submission(run, {
      routes: { of: () => ({ find: () => [route] }) as never, took: () => undefined },
      slots: { move: () => true, moveInTurn: async () => undefined },
      timedOut: () => timedOut(TIMEOUT_MS),
      ...{ health, clock, logger: createLogger('silent') },
    })
    const answer = submission.answer()
    await turn()
    await clock.fire(TIMEOUT_MS)
    t.match(await answer, { kind: 'failed', code: 'provider_timeout' })
  }
  t.same(health.rests(), [])
})
