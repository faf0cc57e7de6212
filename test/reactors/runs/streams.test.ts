import { setTimeout as delay } from 'node:timers/promises'
import t, { type Test } from 'tap'
import type { AccountEvent } from '../../../schemas/account-events.ts'
import type { Recorded } from '../../../schemas/recorded.ts'
import { systemClock } from '../../../src/adapters/clock/system.ts'
import { createLogger } from '../../../src/adapters/logger/pino.ts'
import { systemRandom } from '../../../src/adapters/random/system.ts'
import { million, usd } from '../../../src/catalog/bindings/usd.ts'
import { priceRule } from '../../../src/catalog/price-rule.ts'
import { priceOf } from '../../../src/domain/catalog/pricing.ts'
import { toMicros } from '../../../src/domain/money.ts'
import { choices } from '../../../src/domain/routing/choices.ts'
import { ActiveRuns } from '../../../src/reactors/runs/active-runs.ts'
import { Artifacts } from '../../../src/reactors/runs/artifacts.ts'
import { ProviderPermits } from '../../../src/reactors/runs/provider-permits.ts'
import { newRunId } from '../../../src/services/ids.ts'
import { CircuitBreakers } from '../../../src/services/providers/circuit-breakers.ts'
import { type ProviderRoute, Routes, upstreamOf } from '../../../src/services/providers/routes.ts'
import { openAccount, openFolder } from '../../support/service.ts'
import { temporaryFolder } from '../../support/temporary-folder.ts'
import { until } from '../../support/until.ts'
import { answerLike, dialects, type Script, sendEvents } from '../../support/vendors/streams.ts'
import { type Handler, reply } from '../../support/vendors/vendor-server.ts'

t.setTimeout(120_000)

const ENDPOINT = 'claude-x-t2t'
const CREDITS = 100
const dialect = dialects.find(({ name }) => name === 'Anthropic') as (typeof dialects)[number]
const rule = priceRule(0, { tokens: { input: 120, output: 600 } })
const units = usd(million('input_tokens', 1, { tokens: 'input' }), million('output_tokens', 5, { tokens: 'output' }))
const binding = {
  endpoint: ENDPOINT,
  model: 'claude-x',
  operation: 'messages',
  parameters: [
    { from: 'prompt', to: 'prompt' },
    { from: 'max_output_tokens', to: 'max_tokens' },
  ],
  price: units,
}
const input = { prompt: 'Hello?', max_output_tokens: 1024 }

const hello: Script = { pieces: ['Hel', 'lo, ', 'world!'], counts: [{ input: 12, output: 5 }] }
const events = dialect.events(hello)
const firstText = events.findIndex(({ text }) => text !== undefined)
const stall =
  (shown: typeof events): Handler =>
  (_, response) =>
    sendEvents(response, shown)
const errorEvent = { lines: ['event: error', `data: ${JSON.stringify(dialect.error(529))}`] }
const broken =
  (count: number, ...further: typeof events): Handler =>
  async (_, response) => {
    await sendEvents(response, [...events.slice(0, count), ...further])
    if (further.length > 0) response.end()
    else response.destroy()
  }

/** A process that works on runs of two vendors, and an account with a run that has just started. */
const given = async (t: Test, answer: Handler, { timeoutMs = 30_000, streams = true } = {}) => {
  const core = await openFolder(await temporaryFolder(t))
  t.teardown(() => core.close())
  const { accountId } = await openAccount({ core, url: 'http://localhost' }, { credits: CREDITS })
  const vendors = [
    await dialect.start(t, answer),
    await dialect.start(t, answerLike(dialect, { ...hello, pieces: ['Second.'] })),
  ]
  const accounts = vendors.map(({ provider: client }, at) => ({ provider: ['first', 'second'][at] ?? '', client }))
  const breakers = new CircuitBreakers(systemClock)
  const routes = new Routes({
    bindingsOf: () => accounts.map(({ provider }) => ({ ...binding, provider })),
    ...{ accounts: accounts.map(each => ({ ...each, account: 'a' })), sandbox: undefined, fallsBack: false },
    ...{ breakers, clock: systemClock, choices: { known: choices.initial } },
  })
  const artifacts = new Artifacts({ clock: systemClock, retentionMs: 1000 } as never)
  const activeRuns = new ActiveRuns({
    ...{ routes, breakers, artifacts, clock: systemClock, random: systemRandom, logger: createLogger('silent') },
    ...{ accounts: core.accounts, log: core.log, reads: core.reads, views: core.views },
    ...{ permits: new ProviderPermits(10), sources: { missing: () => undefined } as never },
  })
  activeRuns.start()
  t.teardown(() => activeRuns.stop())
  const run = {
    ...{
      runId: newRunId(systemRandom),
      model: 'claude-x',
      endpoint: ENDPOINT,
      mode: 'sync' as const,
      timeoutMs,
      input,
    },
    retry: { attempts: 1, backOffMs: 1 },
  }
  const texts: string[] = []
  activeRuns.furtherTextOf(run.runId).subscribe(text => texts.push(text))
  const route = activeRuns.reserveRoute({ ...run, accountId }) as ProviderRoute
  const reserved = { ...priceOf(rule, input, toMicros(1)), catalogRevision: 0, model: 'claude-x', endpoint: ENDPOINT }
  const execute = (command: Parameters<typeof core.accounts.execute>[2]) =>
    core.accounts.execute({ kind: 'reactor' }, accountId, command)
  await execute({ type: 'QueueRun', run, receipt: reserved, startAt: upstreamOf(route) })
  const startedAt = new Date().toISOString()
  const ended = activeRuns.beginRun({ ...run, accountId, startedAt, streams }, route)
  const { runId } = run
  return {
    ...{ activeRuns, runId, texts, vendors, reservedMicros: reserved.totalMicros },
    /** Resolves once the reader has seen so many pieces. */
    seen: (count: number) => until(`${count} pieces have arrived`, () => texts.length >= count),
    textSoFar: () => activeRuns.textOf(runId),
    cancel: async () => {
      await execute({ type: 'CancelRun', runId })
      activeRuns.cancelRun(runId)
    },
    /** The events that ended the run, and what it cost by the balance. */
    end: async () => {
      const found: Recorded<AccountEvent>[] = await ended
      const { balanceMicros } = await core.accounts.currentState(accountId)
      t.equal(activeRuns.textOf(runId), undefined, 'a run that has ended keeps no text')
      return {
        types: found.map(({ type }) => type),
        completed: found.find(each => each.type === 'RunCompleted')?.data,
        failed: found.find(each => each.type === 'RunFailed')?.data,
        cost: found.find(each => each.type === 'ProviderCostRecorded')?.data,
        costMicros: toMicros(CREDITS) - balanceMicros,
        read: texts.join(''),
        requests: vendors.map(({ server }) => server.requests.length),
      }
    },
  }
}

/** 12 tokens for 120 and 5 for 600 credits per million. */
const REPORTED_MICROS = 12 * 120 + 5 * 600
const refunded = { costMicros: 0, completed: undefined }

t.test('a text is read as it arrives, and costs what its vendor reports', async t => {
  const { end } = await given(t, answerLike(dialect, hello))
  const usage = { input: 12, cached_input: 0, output: 5, thinking: 0 }
  t.match(await end(), {
    types: ['CreditsReleased', 'RunCompleted'],
    completed: { output: { text: 'Hello, world!' }, usage, finishReason: undefined },
    ...{ costMicros: REPORTED_MICROS, read: 'Hello, world!', requests: [1, 0] },
  })
})

t.test('a run that nobody reads along is not streamed', async t => {
  const { end } = await given(t, answerLike(dialect, hello), { streams: false })
  t.match(await end(), { completed: { output: { text: 'Hello, world!' } }, costMicros: REPORTED_MICROS, read: '' })
})

t.test('a text that is cut at the limit says so', async t => {
  for (const streams of [true, false]) {
    const { end } = await given(t, answerLike(dialect, { ...hello, isCut: true }), { streams })
    t.match(await end(), { completed: { finishReason: 'length' } })
  }
})

t.test('tokens are counted if the report is missing, empty or absurd, and the text always costs something', async t => {
  const reports = [[], [{ input: 0, output: 0 }], [{ input: 12, output: 1e15 }], [{ input: -1, output: 5 }]]
  for (const counts of reports)
    for (const streams of [true, false]) {
      const { end, reservedMicros } = await given(t, answerLike(dialect, { ...hello, counts }), { streams })
      const { completed, costMicros } = await end()
      t.match(completed?.usage, { counted: true, output: 4 }, JSON.stringify(counts))
      t.ok(costMicros > 0 && costMicros <= reservedMicros, `${costMicros} of ${reservedMicros}`)
    }
  const { end, reservedMicros } = await given(
    t,
    answerLike(dialect, { ...hello, counts: [{ input: 9e5, output: 9e5 }] }),
  )
  t.equal((await end()).costMicros, reservedMicros, 'it never costs more than was reserved')
})

t.test('before the first piece another provider may answer', async t => {
  const refusals: [string, Handler][] = [
    ['a refusal', (_, response) => reply(response, 529, dialect.error(529))],
    ['an error event', broken(firstText, errorEvent)],
  ]
  for (const [title, answer] of refusals) {
    const { end } = await given(t, answer)
    t.match(await end(), { completed: { output: { text: 'Second.' } }, read: 'Second.', requests: [1, 1] }, title)
  }
})

t.test('an answer that breaks off is refunded, and no other provider is asked', async t => {
  const message = 'The provider broke off its answer.'
  for (const answer of [broken(firstText + 2), broken(firstText + 2, errorEvent)]) {
    const { end } = await given(t, answer)
    t.match(await end(), {
      ...refunded,
      types: ['RunFailed', 'CreditsRefunded', 'ProviderCostRecorded'],
      failed: { error: { code: 'provider_error', message } },
      cost: { source: 'unknown' },
      ...{ read: 'Hello, ', requests: [1, 0] },
    })
  }
  // Nobody knows whether it was accepted.
  const { end } = await given(t, broken(firstText))
  t.match(await end(), { ...refunded, failed: { error: { code: 'interrupted' } }, read: '', requests: [1, 0] })
})

t.test('a cancelled text is completed so far, and its tokens are counted', async t => {
  const { seen, cancel, end, textSoFar, reservedMicros } = await given(t, stall(events.slice(0, firstText + 2)))
  await seen(2)
  t.equal(textSoFar(), 'Hello, ')
  await cancel()
  const { costMicros, ...ended } = await end()
  t.match(ended, {
    types: ['CreditsReleased', 'RunCompleted'],
    completed: {
      ...{ output: { text: 'Hello, ' }, finishReason: 'cancelled', usage: { counted: true, output: 2 } },
      cost: { source: 'unknown' },
    },
    ...{ read: 'Hello, ', requests: [1, 0] },
  })
  t.ok(costMicros > 0 && costMicros < reservedMicros)
})

t.test('a run that is cancelled before its first words has failed', async t => {
  const space = dialect.events({ ...hello, pieces: [' \n'] }).slice(0, firstText + 1)
  for (const shown of [[], events.slice(0, firstText), space]) {
    const { seen, cancel, end, textSoFar } = await given(t, stall(shown))
    await (shown === space ? seen(1) : delay(100))
    t.equal(textSoFar()?.trim(), '')
    await cancel()
    t.match(await end(), { ...refunded, failed: { error: { code: 'cancelled' } } })
  }
})

t.test('a text that stalls ends at the time limit, and is refunded', async t => {
  const { end } = await given(t, stall(events.slice(0, firstText + 2)), { timeoutMs: 500 })
  t.match(await end(), { ...refunded, failed: { error: { code: 'provider_timeout' } }, read: 'Hello, ' })
})

t.test('a text that the stop of the service breaks off is refunded', async t => {
  const { seen, activeRuns, end } = await given(t, stall(events.slice(0, firstText + 2)))
  await seen(2)
  activeRuns.close()
  await activeRuns.stop()
  t.match(await end(), { ...refunded, failed: { error: { code: 'interrupted' } }, read: 'Hello, ' })
})
