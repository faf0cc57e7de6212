import t from 'tap'
import { isAcceptance } from '../../../schemas/account-events.ts'
import type { Receipt, TokenUsage } from '../../../schemas/catalog.ts'
import type { RawEvent } from '../../../schemas/recorded.ts'
import { busyLog } from '../../support/busy-log.ts'
import { rewritten } from '../../support/rewritten.ts'
import { verified } from '../../support/verified.ts'

const events = await busyLog(t)

const faultsOf = async (log: RawEvent[]): Promise<string[]> =>
  (await verified(rewritten(log), { isDense: true })).faults.map(({ what }) => what)

type Data = Record<string, unknown> & {
  runId: string
  amountMicros: number
  receipt: Receipt
  debit: { keyId?: string; budgetPeriod?: string }
  usage: TokenUsage
}

const dataOf = ({ data }: RawEvent) => data as Data

const lastOf = (type: string, isSearched: (data: Data) => boolean): RawEvent => {
  const found = events.findLast(event => event.type === type && isSearched(dataOf(event)))
  if (!found) throw new Error(`the log has no such ${type}`)
  return found
}

const hasTokens = ({ receipt }: Data): boolean => receipt.lines.some(({ kind }) => kind === 'tokens')

const released = lastOf('CreditsReleased', ({ debit }) => debit.budgetPeriod !== undefined)
const { runId, receipt, debit, amountMicros } = dataOf(released)
const isSame = (data: Data) => data.runId === runId
const completed = lastOf('RunCompleted', isSame)
const debited = lastOf('CreditsDebited', isSame)
const accepted = events.find(event => isAcceptance(event) && isSame(dataOf(event))) as RawEvent
const { receipt: reserve } = dataOf(debited)

const debits = new Map(events.filter(({ type }) => type === 'CreditsDebited').map(e => [dataOf(e).runId, dataOf(e)]))
const failed = lastOf('RunFailed', data => debits.has(data.runId) && hasTokens(debits.get(data.runId) as Data))
const tested = lastOf('RunCompleted', data => !debits.has(data.runId))
const pictured = lastOf('RunCompleted', data => debits.has(data.runId) && !hasTokens(debits.get(data.runId) as Data))

const withData = (event: RawEvent, data: object): RawEvent[] =>
  events.map(each => (each === event ? { ...each, data: { ...(each.data as object), ...data } } : each))

const without = (removed: RawEvent): RawEvent[] => events.filter(event => event !== removed)

const withAfter = (event: RawEvent, added: RawEvent): RawEvent[] =>
  events.flatMap(each => (each === event ? [each, { ...added, id: crypto.randomUUID() }] : [each]))

/** The log with a release before the event that ends another run. */
const releasedBefore = (end: RawEvent, more: object = {}): RawEvent[] => {
  const release = { ...released, stream: end.stream, id: crypto.randomUUID() }
  const data = { ...dataOf(released), runId: dataOf(end).runId, ...more }
  return events.flatMap(each => (each === end ? [{ ...release, data }, each] : [each]))
}

const withLines = (lines: object[], from = receipt) => ({ receipt: { ...from, lines } })
const changed = (kind: string, change: object, { lines } = receipt) =>
  lines.map(line => (line.kind === 'tokens' && line.tokens === kind ? { ...line, ...change } : line))

t.test('the log has releases of tokens that the service counted', async t => {
  t.ok(amountMicros > 0)
  t.equal(receipt.counted, true)
  t.notOk(receipt.lines.some(({ kind }) => kind === 'base'))
})

/** Faults in a log whose links are whole, and what is reported. */
const planted: Record<string, { log: RawEvent[]; what: RegExp }> = {
  'a release of too little': {
    log: withData(released, { amountMicros: amountMicros - 1 }),
    what: /it releases \d+, and the run did not need \d+ of its debit/,
  },
  'a release of more than the debit': {
    log: withData(released, { amountMicros: reserve.totalMicros + 1 }),
    what: /it releases \d+, and the run did not need/,
  },
  'a release with another balance': {
    log: withData(released, { balanceAfterMicros: 1 }),
    what: /its balance is 1, and/,
  },
  'a second release': { log: withAfter(released, released), what: /the run was settled before/ },
  'a release after the end of its run': {
    log: withAfter(completed, released),
    what: /it settles a run that is completed/,
  },
  'a release without the end of its run': {
    log: without(completed),
    what: /is not the RunCompleted of run_\w+, which/,
  },
  'a release of a failed run': {
    log: releasedBefore(failed),
    what: /it is not the RunCompleted of run_\w+, which the previous event requires/,
  },
  'a release of a test run': { log: releasedBefore(tested), what: /a test run is settled/ },
  'a release of a run that was never debited': {
    log: withData(released, { runId: 'run_00000000000000000000000000' }),
    what: /it settles a run that was never debited/,
  },
  'a release of a run whose tokens have no price': {
    log: releasedBefore(pictured),
    what: /it settles a run whose tokens have no price/,
  },
  'a receipt that does not add up': {
    log: withData(released, { receipt: { ...receipt, totalMicros: receipt.totalMicros + 1 } }),
    what: /its price is \d+, and its receipt adds up to/,
  },
  'a receipt with another rate': {
    log: withData(released, withLines(changed('output', { perMillionMicros: 1 }))),
    what: /has other lines or rates than the receipt of its debit/,
  },
  'a receipt without a line': {
    log: withData(released, withLines(receipt.lines.slice(1))),
    what: /has other lines or rates than the receipt of its debit/,
  },
  'a receipt of another catalog revision': {
    log: withData(released, { receipt: { ...receipt, catalogRevision: receipt.catalogRevision + 1 } }),
    what: /has other lines or rates than the receipt of its debit/,
  },
  'a receipt with other counts than the usage': {
    log: withData(released, withLines(changed('output', { count: 7 }))),
    what: /its usage is not what the release before it is for/,
  },
  'a receipt that hides who counted': {
    log: withData(released, { receipt: { ...receipt, counted: undefined } }),
    what: /its usage is not what the release before it is for/,
  },
  'an end without its release': {
    log: without(released),
    what: /its tokens cost \d+ of the \d+ that were debited, and/,
  },
  'an end without the tokens of the run': {
    log: withData(completed, { usage: undefined }),
    what: /it does not tell the tokens of the run, which have a price/,
  },
  'a release that repeats another model': {
    log: withData(released, { debit: { ...debit, model: 'kling-3-pro' } }),
    what: /it repeats the debit .*"model":"kling-3-pro".*, which was /,
  },
  'a release that gives back to another period': {
    log: withData(released, { debit: { ...debit, budgetPeriod: '2020-01-06' } }),
    what: /gives back to the budget of 2020-01-06, and its debit was in/,
  },
  'a refund of more than the run cost': {
    log: withAfter(completed, {
      ...released,
      type: 'CreditsRefunded',
      data: { runId, amountMicros: receipt.totalMicros + 1, balanceAfterMicros: 1, reason: 'x', debit },
    }),
    what: /the refunds of the run are \d+, and it cost \d+/,
  },
  'a debit for a shorter answer than the input allows': {
    log: withData(accepted, { input: { ...(dataOf(accepted)['input'] as object), max_output_tokens: 4097 } }),
    what: /has the line "tokens output 4096 \d+", which the price list lacks/,
  },
  'a debit without tokens': {
    log: withData(debited, withLines([{ kind: 'base', amountMicros: reserve.totalMicros }], reserve)),
    what: /has the line "base \d+", which the price list lacks/,
  },
  'a debit with a base price that the price list lacks': {
    log: withData(debited, withLines([{ kind: 'base', amountMicros: 0 }, ...reserve.lines], reserve)),
    what: /has the line "base 0", which the price list lacks/,
  },
}

for (const [name, { log, what }] of Object.entries(planted))
  t.test(`${name} is found`, async t => {
    const faults = await faultsOf(log)
    t.ok(
      faults.some(fault => what.test(fault)),
      JSON.stringify(faults.slice(0, 5)),
    )
  })

t.test('a run that needs all of its debit has no release', async t => {
  const usage = Object.fromEntries(reserve.lines.map(line => (line.kind === 'tokens' ? [line.tokens, line.count] : [])))
  const log = withData(completed, { usage }).filter(event => event !== released)
  t.notOk((await faultsOf(log)).some(fault => /tokens|release/.test(fault)))
})

t.test('a release makes room in the budget of its key', async t => {
  // The first of these keys has made several runs.
  const key = events.find(({ data }) => (data as Data)['budget'] !== undefined) as RawEvent
  const { keyId, budget } = dataOf(key)
  let [spentMicros, mostMicros] = [0, 0]
  for (const { type, data, metadata } of events) {
    const { debit: repeated, amountMicros } = data as Data
    const { actor } = metadata as { actor: { keyId?: string } }
    if (type === 'CreditsDebited' && actor.keyId === keyId) spentMicros += amountMicros
    if (repeated?.keyId === keyId) spentMicros -= amountMicros
    mostMicros = Math.max(mostMicros, spentMicros)
  }
  const isPassed = async (amountMicros: number) => {
    const faults = await faultsOf(withData(key, { budget: { ...(budget as object), amountMicros } }))
    return faults.some(fault => /has spent \d+ of its budget/.test(fault))
  }
  t.equal(await isPassed(mostMicros), false)
  t.equal(await isPassed(mostMicros - 1), true)
})
