import t from 'tap'
import type { Receipt } from '../../../schemas/catalog.ts'
import type { RawEvent } from '../../../schemas/recorded.ts'
import type { LogSealed } from '../../../schemas/seal-events.ts'
import { totalOf } from '../../../src/audit/books.ts'
import { explainRun } from '../../../src/audit/explain/explain.ts'
import { sealName } from '../../../src/services/seals/seals.ts'
import { busyLog } from '../../support/busy-log.ts'
import { logOf } from '../../support/log-of.ts'

const events = await busyLog(t)
const log = logOf(events)
const dataOf = ({ data }: RawEvent) => data as Record<string, unknown>
const runIdOf = (event: RawEvent) => dataOf(event)['runId'] as string
const runWith = (is: (event: RawEvent) => boolean) => runIdOf(events.find(is) as RawEvent)
const explained = async (runId: string, changed = log) => {
  const explanation = await explainRun(changed, runId)
  if (!explanation) throw new Error(`${runId} is not explained`)
  return explanation
}

t.test('every run is explained by all its events, with a price that is the same when recomputed', async t => {
  const runs = [...new Set(events.map(runIdOf).filter(Boolean))]
  t.ok(runs.length > 20)
  for (const runId of runs) {
    const { story, steps, price, faults, account } = await explained(runId)
    const own = events.filter(event => runIdOf(event) === runId)
    t.same(
      story.events.map(({ id }) => id),
      own.map(({ id }) => id),
    )
    const { receipt, livemode } = dataOf(own[0] as RawEvent) as { receipt: { totalMicros: number }; livemode?: false }
    t.equal(Math.round(Number(steps.at(-1)?.result) * 1_000_000), receipt.totalMicros)
    t.equal(story.used.freeMicros + story.used.paidMicros, livemode === false ? 0 : receipt.totalMicros)
    t.same([price.faults, faults], [[], []])
    t.equal(price.listed?.revision, story.receipt?.catalogRevision)
    t.equal(account.last?.revision, events.findLast(({ stream }) => stream === own[0]?.stream)?.revision)
  }
})

t.test('a run has the first seal that covers all of its events', async t => {
  const own = events.filter(
    event => runIdOf(event) === runIdOf(events.find(({ type }) => type === 'RunCompleted') as RawEvent),
  )
  const last = events.indexOf(own.at(-1) as RawEvent)
  const sealed = (number: number, covered: number): RawEvent => ({
    ...{ id: `seal-${number}`, stream: 'seals', revision: number, position: 0, type: 'LogSealed' },
    data: { number, events: covered, at: '2026-11-22T16:20:00.000Z' },
    metadata: { hash: String(number).repeat(64) },
  })
  const withSeals = (...seals: RawEvent[]) =>
    logOf([...events, ...seals].map((event, position) => ({ ...event, position })))
  const runId = runIdOf(own[0] as RawEvent)
  const sealOf = async (...seals: RawEvent[]) => (await explained(runId, withSeals(...seals))).seal
  t.equal(await sealOf(), undefined)
  t.equal(await sealOf(sealed(1, last)), undefined)
  const seal = sealed(2, last + 1).data as LogSealed
  const expected = { number: 2, name: sealName(seal), link: '2'.repeat(64), events: seal.events, at: seal.at }
  t.same(await sealOf(sealed(1, last), sealed(2, last + 1), sealed(3, last + 9)), expected)
})

t.test('a run that failed has its error, refund and steps', async t => {
  const { story } = await explained(runWith(({ type }) => type === 'RunFailed'))
  t.equal(story.status, 'failed')
  t.match(story.error, { code: 'content_rejected', message: 'The prompt was rejected.' })
  t.match(story.refunds, [{ reason: 'the run failed: content_rejected', actor: { kind: 'reactor' } }])
  t.same(story.refunds[0]?.credits, story.used)
  t.same(
    story.steps.map(({ state }) => state),
    ['processing', 'failed'],
  )
  t.ok(story.steps.every(({ sinceMs }) => sinceMs >= 0))
})

t.test('a run that an operator refunded is completed, and says why and by whom', async t => {
  const { story } = await explained(runWith(event => dataOf(event)['reason'] === 'a gift'))
  t.equal(story.status, 'completed')
  t.equal(story.output?.text, 'done')
  t.match(story.request, { idempotency: { key: 'order-1' }, input: { prompt: 'hello' } })
  t.match(story.refunds, [{ reason: 'a gift', actor: { kind: 'operator', name: 'test' } }])
})

t.test('a run whose tokens cost less than its debit has a release, with the final price step by step', async t => {
  const released = events.findLast(({ type }) => type === 'CreditsReleased') as RawEvent
  const { amountMicros, receipt } = released.data as { amountMicros: number; receipt: Receipt }
  const { story, steps, finalSteps } = await explained(runIdOf(released))
  t.equal(story.release && totalOf(story.release.credits), amountMicros)
  t.same(story.release?.receipt, receipt)
  t.match(story.usage, { counted: true })
  t.equal(finalSteps.length, steps.length)
  t.equal(Math.round(Number(finalSteps.at(-1)?.result) * 1_000_000), receipt.totalMicros)
})

t.test('a release that the tokens of the run do not give does not agree', async t => {
  const released = events.findLast(({ type }) => type === 'CreditsReleased') as RawEvent
  const completed = events.findLast(
    event => event.type === 'RunCompleted' && runIdOf(event) === runIdOf(released),
  ) as RawEvent
  const faultsWith = async (event: RawEvent, change: object) => {
    const changed = { ...event, data: { ...(event.data as object), ...change } }
    const log = logOf(events.map(each => (each === event ? changed : each)))
    return (await explained(runIdOf(released), log)).price.faults
  }
  const usage = { ...(dataOf(completed)['usage'] as object), output: 7 }
  t.match(await faultsWith(completed, { usage }), ['its usage is not what the release before it is for'])
  const receipt = { ...(dataOf(released)['receipt'] as Receipt), totalMicros: 1 }
  t.match(await faultsWith(released, { receipt }), [
    /^its price is 1, and its receipt adds up to/,
    /^it releases \d+, and/,
  ])
})

t.test('the attempts of a webhook are told with their statuses', async t => {
  const { story: delivered } = await explained(runWith(({ type }) => type === 'WebhookDelivered'))
  t.match(delivered.webhook, [{ kind: 'delivered', attempt: 1, status: 204 }])
  const { story: abandoned } = await explained(runWith(({ type }) => type === 'WebhookAbandoned'))
  t.match(abandoned.webhook, [
    { kind: 'failed', attempt: 1, status: 410, reason: 'The receiver answered with 410.' },
    { kind: 'abandoned', attempt: 1 },
  ])
})

t.test('a price that was changed does not agree, and its chain is broken', async t => {
  const debit = events.find(({ type }) => type === 'CreditsDebited') as RawEvent
  const { receipt } = debit.data as { receipt: { lines: { amountMicros: number }[] } }
  const [base, ...lines] = receipt.lines
  const forged = { ...receipt, lines: [{ ...base, amountMicros: 1 }, ...lines] }
  const changed = { ...debit, data: { ...(debit.data as object), receipt: forged } }
  const { price, faults } = await explained(
    runIdOf(debit),
    logOf(events.map(event => (event === debit ? changed : event))),
  )
  t.match(price.faults, [/^its price is \d+, and its receipt adds up to/, /which the price list lacks$/])
  t.match(faults, [{ revision: debit.revision }])
})

t.test('a price list that the log lacks is a fault of the price', async t => {
  const debit = events.find(({ type }) => type === 'CreditsDebited') as RawEvent
  const { price } = await explained(runIdOf(debit), logOf(events.filter(({ stream }) => stream !== 'catalog')))
  t.equal(price.listed, undefined)
  t.match(price.faults, [/^its receipt names catalog revision \d+, which publishes no prices$/])
})

t.test('the account of a run is found without decoding the events of others', async t => {
  const run = runWith(({ type }) => type === 'WebhookDelivered')
  const { stream } = events.find(event => runIdOf(event) === run) as RawEvent
  const unreadable = events.map(event =>
    event.stream.startsWith('account-') && event.stream !== stream ? { ...event, type: 'Unknown', data: null } : event,
  )
  t.equal((await explained(run, logOf(unreadable))).accountId, stream.slice('account-'.length))
})

t.test('an unknown run is not explained', async t => {
  t.equal(await explainRun(log, 'run_00000000000000000000000000'), undefined)
})
