import t from 'tap'
import { costOf } from '../../../schemas/account-events.ts'
import type { RawEvent } from '../../../schemas/recorded.ts'
import { verifyLog } from '../../../src/audit/verify/verify.ts'
import { logOf } from '../../support/log-of.ts'
import { rewritten } from '../../support/rewritten.ts'
import { startWithCosts } from '../../support/vendor-log.ts'

const own = await (await startWithCosts(t)).events()
/** Before format 3, the cost of a completed run was an event. */
const events = own.flatMap(event => {
  const cost = costOf(event)
  if (!cost || event.type === 'ProviderCostRecorded') return [event]
  const { cost: _, ...data } = event.data as { cost: unknown }
  return [
    { ...event, data },
    { ...event, id: crypto.randomUUID(), type: 'ProviderCostRecorded', data: cost },
  ]
})
const end = own.find(costOf) as RawEvent
const ended = (change: object) =>
  own.map(each => (each === end ? { ...end, data: { ...(end.data as object), ...change } } : each))
const faultsOf = async (log: RawEvent[]) =>
  ((await verifyLog(logOf(rewritten(log)), { isDense: true }))?.faults ?? []).map(({ what }) => what)

const find = (type: string, number = 0) => events.filter(event => event.type === type).at(number) as RawEvent
const cost = find('ProviderCostRecorded')
const failure = find('ProviderCostRecorded', 1)
const withData = (event: RawEvent, data: object) =>
  events.map(each => (each === event ? { ...each, data: { ...(each.data as object), ...data } } : each))
const without = (...removed: RawEvent[]) => events.filter(event => !removed.includes(event))
const moved = (event: RawEvent, after: RawEvent) =>
  without(event).flatMap(each => (each === after ? [each, event] : [each]))

t.test('the costs of a service are no fault', async t => {
  t.same(await faultsOf(own), [])
  t.same(await faultsOf(events), [])
  t.match(cost.data, {
    provider: 'vendor',
    version: 'v7',
    amountMicros: 8_123_456,
    currency: 'USD',
    source: 'reported',
  })
  t.match(failure.data, { provider: 'vendor', source: 'unknown' })
  t.same(await faultsOf(without(cost, failure)), [], 'older runs have no costs')
})

const elsewhere = /does not follow the end of run_\w+ directly/

const untrue: Record<string, { log: RawEvent[]; what: RegExp }> = {
  'a doubled cost': { log: events.flatMap(event => (event === cost ? [cost, cost] : [event])), what: elsewhere },
  'a cost of a run that has one': { log: own.flatMap(each => (each === end ? [end, cost] : [each])), what: elsewhere },
  'a cost in an end of format 2, whose link shows it': {
    log: own.map(event => ({ ...event, metadata: { ...(event.metadata as object), format: 2 } })),
    what: /proofs show its cost/,
  },
  'a cost in an end that names no provider': { log: ended({ upstream: undefined }), what: /no provider has worked on/ },
  'a cost in an end of the sandbox': {
    log: ended({ upstream: { provider: 'sandbox', model: 'sandbox' } }),
    what: /the sandbox costs nothing/,
  },
  'a cost in an end without its amount': {
    log: ended({ cost: { source: 'reported', salt: '0'.repeat(32) } }),
    what: /its source is reported, and its amount none/,
  },
  'a cost before the end of its run': { log: moved(cost, find('RunStarted')), what: elsewhere },
  'a cost before the refund of its run': { log: moved(failure, find('RunFailed')), what: elsewhere },
  'a cost long after the end of its run': { log: moved(cost, find('RunStarted', 1)), what: elsewhere },
  'a cost of another run': {
    log: withData(cost, { runId: (failure.data as { runId: string }).runId }),
    what: elsewhere,
  },
  'a cost of another provider': { log: withData(cost, { provider: 'other' }), what: /it is a cost of other test/ },
  'a cost of another version': { log: withData(cost, { version: 'v8' }), what: /but vendor test.* did the run/ },
  'a cost of a run that never started': { log: without(find('RunStarted', 1)), what: /no provider has worked on/ },
  'a cost of the sandbox': {
    log: events.map(event =>
      event === cost || event === find('RunCompleted')
        ? (JSON.parse(JSON.stringify(event).replaceAll('"provider":"vendor"', '"provider":"sandbox"')) as RawEvent)
        : event,
    ),
    what: /the sandbox costs nothing/,
  },
  'an unknown cost with an amount': {
    log: withData(failure, { amountMicros: 1, currency: 'USD' }),
    what: /its source is unknown, and its amount 1 USD/,
  },
  'an amount without a currency': {
    log: withData(cost, { currency: undefined }),
    what: /its source is reported, and its amount 8123456/,
  },
  'a reported cost without an amount': {
    log: withData(failure, { source: 'reported' }),
    what: /its source is reported, and its amount none/,
  },
}

const began = { startedAt: '2026-11-27T12:00:00.000Z' }
const refusal = { ...began, failedAt: '2026-11-27T12:00:01.000Z', reason: 'overloaded', status: 503 }
const { upstream: worker } = end.data as { upstream: { version: string } }
const { version: _, ...taker } = { ...worker, ...began }
const other = { provider: 'other', model: 'test', account: 'other' }

t.test('attempts that lead to the upstream are no fault', async t => {
  t.same(await faultsOf(ended({ attempts: [{ ...other, ...refusal }, taker] })), [])
})

const untold: typeof untrue = {
  'an attempt that led elsewhere': {
    log: ended({ attempts: [{ ...other, ...refusal }] }),
    what: /its last attempt is at other test other v7, not at vendor test/,
  },
  'an attempt after one that did not fail': {
    log: ended({ attempts: [{ ...other, ...began }, taker] }),
    what: /follows one that did not fail/,
  },
  'an attempt that failed without a reason': {
    log: ended({ attempts: [{ ...other, ...refusal, reason: undefined, status: undefined }, taker] }),
    what: /failed without a reason/,
  },
  'a status of an operator’s account': {
    log: ended({ attempts: [{ ...other, ...refusal, reason: 'provider_error' }, taker] }),
    what: /a status that customers may not see/,
  },
}

for (const [name, { log, what }] of Object.entries({ ...untrue, ...untold }))
  t.test(`${name} is found in a rewritten log`, async t => {
    const faults = await faultsOf(log)
    t.ok(
      faults.some(fault => what.test(fault)),
      JSON.stringify(faults),
    )
  })
