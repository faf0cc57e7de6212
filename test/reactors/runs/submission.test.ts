import { setImmediate as turn } from 'node:timers/promises'
import t from 'tap'
import type { Upstream } from '../../../schemas/account-events.ts'
import type { AccountId, RunId } from '../../../schemas/primitives.ts'
import { systemClock } from '../../../src/adapters/clock/system.ts'
import { createLogger } from '../../../src/adapters/logger/pino.ts'
import { systemRandom } from '../../../src/adapters/random/system.ts'
import { choices } from '../../../src/domain/routing/choices.ts'
import type { Clock } from '../../../src/ports/clock.ts'
import type { Provider } from '../../../src/ports/provider.ts'
import { ActiveRuns } from '../../../src/reactors/runs/active-runs.ts'
import { ArrivingFiles } from '../../../src/reactors/runs/arriving-files.ts'
import { timedOut } from '../../../src/reactors/runs/provider-calls.ts'
import { ProviderPermits } from '../../../src/reactors/runs/provider-permits.ts'
import { Submission } from '../../../src/reactors/runs/submission.ts'
import { CircuitBreakers } from '../../../src/services/providers/circuit-breakers.ts'
import { type ProviderRoute, Routes, upstreamOf } from '../../../src/services/providers/routes.ts'
import { ManualClock } from '../../support/manual-clock.ts'
import { instantProvider } from '../../support/service.ts'
import { openFile } from '../../support/vendors/arriving-file.ts'

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

  get waiting() {
    return this.#timers.length
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
  const breakers = new CircuitBreakers(clock)
  const abandoned = t.capture(breakers, 'abandonCall', breakers.abandonCall)
  const client = { ...instantProvider, submit: () => new Promise<never>(() => undefined) }
  const route = {
    account: { provider: 'slow', account: 'a', client },
    upstream: { model: 'm' },
  } as unknown as ProviderRoute
  for (let number = 1; number <= 6; number++) {
    const run = {
      ...{ runId: `run_${number}` as RunId, accountId: 'acct_1' as AccountId, model: 'lumen', endpoint: 'lumen-t2i' },
      ...{ mode: 'sync', timeoutMs: TIMEOUT_MS, startedAt: new Date().toISOString(), input: {} },
    } as never
    const submission = new Submission(run, undefined, {
      routes: { ofMode: () => ({ findRoutes: () => [route] }) as never, passTurn: () => undefined },
      permits: { movePermit: () => true, awaitPermit: async () => undefined },
      timedOut: () => timedOut(TIMEOUT_MS),
      onText: () => undefined,
      ...{ breakers, clock, logger: createLogger('silent'), openFile },
    })
    const answer = submission.answer()
    await turn()
    t.equal(clock.waiting, 1, 'there is one deadline')
    await clock.fire(TIMEOUT_MS)
    t.match(await answer, { kind: 'failed', code: 'provider_timeout' })
    t.equal(abandoned().length, 1, 'the call ends, although its provider ignores the signal')
  }
  t.same(breakers.openBreakers(), [])
})

t.test('once a piece of a text has arrived, no other attempt is made', async t => {
  const failure = { kind: 'failed', code: 'provider_error', message: 'No.', retryable: true } as const
  const breaks = [async () => Promise.reject(new Error('cut')), async () => failure]
  for (const ending of [...breaks, () => new Promise<never>(() => undefined)]) {
    let attempts = 0
    let late = (_: string) => {}
    const client: Provider = {
      deduplicates: true,
      submit: async ({ onText = () => undefined }) => {
        attempts += 1
        late = onText
        onText('One ')
        onText('two')
        return ending()
      },
    }
    const route = { account: { provider: 'fast', account: 'a', client }, upstream: { model: 'm' } } as never
    const run = {
      ...{ runId: 'run_1' as RunId, accountId: 'acct_1' as AccountId, model: 'lumen', endpoint: 'lumen-t2t' },
      ...{ mode: 'async', timeoutMs: 60_000, startedAt: new Date().toISOString(), input: {}, streams: true },
      retry: { attempts: 2, backOffMs: 1 },
    } as never
    const pieces: string[] = []
    const submission = new Submission(run, undefined, {
      routes: { ofMode: () => ({ findRoutes: () => [route, route] }) as never, passTurn: () => undefined },
      permits: { movePermit: () => true, awaitPermit: async () => undefined },
      timedOut: () => timedOut(60_000),
      onText: text => pieces.push(text),
      ...{ breakers: new CircuitBreakers(systemClock), clock: systemClock, logger: createLogger('silent'), openFile },
    })
    const answer = submission.answer()
    await turn()
    if (!breaks.includes(ending as never)) submission.stop()
    // Another process would submit the run again, and its reader would read two texts.
    const code = breaks.includes(ending as never) ? 'provider_error' : 'interrupted'
    t.match(await answer, { kind: 'failed', code, retryable: undefined })
    late(' three')
    t.same([attempts, pieces, submission.text], [1, ['One ', 'two'], 'One two'])
  }
})

t.test('runs that start at once go to different accounts, each to the account that its start names', async t => {
  const clock = new ManualClock()
  const breakers = new CircuitBreakers(clock)
  const answer = { kind: 'failed', code: 'content_rejected', message: 'No.' } as const
  const accounts = ['a', 'b'].map(account => ({
    ...{ provider: 'first', account, client: { ...instantProvider, submit: async () => answer } },
  }))
  const bindings = [{ endpoint: 'lumen-t2i', provider: 'first', model: 'm', operation: 'make', parameters: [] }]
  const routes = new Routes({
    ...{ bindingsOf: () => bindings as never, accounts, sandbox: undefined, fallsBack: false },
    ...{ breakers, clock, choices: { known: choices.initial } },
  })
  const ended: unknown[] = []
  const execute = async (_: unknown, __: unknown, command: { upstream?: Upstream }) => {
    ended.push(command.upstream)
    return { accept: [], position: 0n }
  }
  const activeRuns = new ActiveRuns({
    ...{
      routes,
      breakers,
      clock,
      random: systemRandom,
      logger: createLogger('silent'),
      permits: new ProviderPermits(10),
    },
    ...({ accounts: { execute }, log: {}, views: {}, sources: { missing: () => undefined } } as object),
    artifacts: {
      arrivingFiles: () => new ArrivingFiles({ receive: () => t.fail('no file arrives') as never }),
    } as never,
  } as unknown as ConstructorParameters<typeof ActiveRuns>[0])
  activeRuns.start()
  t.teardown(() => activeRuns.stop())
  const runs = [1, 2].map(number => ({
    ...{ runId: `run_${number}` as RunId, accountId: 'acct_1' as AccountId, model: 'lumen', endpoint: 'lumen-t2i' },
    ...{ mode: 'sync' as const, timeoutMs: TIMEOUT_MS, startedAt: new Date(clock.nowMs()).toISOString(), input: {} },
  }))
  const starts = runs.map(run => ({ run, route: activeRuns.reserveRoute(run) as ProviderRoute }))
  // The account whose turn it is by then is the other one.
  for (const { run, route } of starts.toReversed()) await activeRuns.beginRun(run, route)
  t.same(
    ended.toReversed(),
    starts.map(({ route }) => upstreamOf(route)),
  )
  t.same(
    starts.map(({ route }) => route.account.account),
    ['a', 'b'],
  )
})
