import t from 'tap'
import { isAcceptance } from '../../../schemas/account-events.ts'
import type { RawEvent } from '../../../schemas/recorded.ts'
import { asStored } from '../../support/as-stored.ts'
import { busyLog } from '../../support/busy-log.ts'
import { rewritten } from '../../support/rewritten.ts'
import { verified } from '../../support/verified.ts'

const events = await busyLog(t)

const verify = (log: RawEvent[]) => verified(log, { isDense: true })

t.test('a clean log has no fault', async t => {
  const { faults, notes, ...counts } = await verify(events)
  t.same(faults, [])
  t.same(notes, [])
  t.match(counts, { events: events.length, head: events.length - 1 })
})

t.test('without keys, a clean log has no fault, and a changed ciphertext is one', async t => {
  const stored = asStored(events)
  t.notSame(stored, events)
  const { faults, notes } = await verify(stored)
  t.same([...faults, ...notes], [])
  const encrypted = stored.filter(({ data }) => 'personal' in (data as object))
  t.ok(new Set(encrypted.map(({ type }) => type)).size > 4)
  for (const event of encrypted.slice(0, 5)) {
    const data = { ...(event.data as object), personal: 'AAAA' }
    const { faults: found } = await verify(stored.map(each => (each === event ? { ...each, data } : each)))
    const { stream, revision, id: eventId } = event
    t.match(found, [{ stream, revision, eventId, what: 'its link does not match what was written' }])
  }
})

/** An event of a type, such as the second one, or the last one with -1. */
const eventOf = (type: string, number = 0): RawEvent => {
  const event = events.filter(event => event.type === type).at(number)
  if (!event) throw new Error(`the log has no such ${type}`)
  return event
}

/** The log with another event instead of one. */
const changed = (event: RawEvent, change: object): RawEvent[] =>
  events.map(each => (each === event ? { ...each, ...change } : each))

/** The log with other data of an event. */
const withData = (event: RawEvent, data: object): RawEvent[] =>
  changed(event, { data: { ...(event.data as object), ...data }, stored: undefined })

/** The log with other metadata of an event. */
const withMetadata = (event: RawEvent, metadata: object): RawEvent[] =>
  changed(event, { metadata: { ...(event.metadata as object), ...metadata } })

const without = (...removed: RawEvent[]): RawEvent[] => events.filter(event => !removed.includes(event))

/** The log with further events after one. */
const withAfter = (event: RawEvent, ...added: RawEvent[]): RawEvent[] =>
  events.flatMap(each => (each === event ? [each, ...added] : [each]))

const grant = eventOf('CreditsGranted', 1)
/** An event of the operator, after the grant. */
const happened = (type: string): RawEvent => ({ ...grant, id: crypto.randomUUID(), type, data: { reason: 'unpaid' } })
const debit = eventOf('CreditsDebited', 5)
const queued = events.filter(isAcceptance)[5] as RawEvent
const refund = eventOf('CreditsRefunded')
const refundOfFailure = events.findLast(
  ({ data }) => (data as { error?: object }).error && 'debit' in (data as object),
) as RawEvent
function isTest({ data }: RawEvent): boolean {
  return (data as { livemode?: false }).livemode === false
}
const runOf = ({ data }: RawEvent) => (data as { runId: string }).runId
const failure = events.find(event => event.type === 'RunFailed' && runOf(event) === runOf(refundOfFailure)) as RawEvent
const startOfFailed = events.find(event => event.type === 'RunStarted' && runOf(event) === runOf(failure))
/** The event that queues the run of an event which starts it at once. */
const waiting = ({ data, ...event }: RawEvent): RawEvent => {
  const { upstream: _, ...request } = data as { upstream: object }
  return { ...event, type: 'RunQueued', data: request }
}
/** What follows a failure that may have left files. */
const deletionOfLeft = { ...refundOfFailure, type: 'RunOutputDeleted', data: { runId: runOf(failure) } }
const willDeleteAt = '2030-01-01T00:00:00.000Z'
const receiptOf = ({ data }: RawEvent) => (data as { receipt: { totalMicros: number } }).receipt
const debitOf = ({ data }: RawEvent): object => (data as { debit: object }).debit
const limitedKey = events.find(
  ({ type, data }) => type === 'ApiKeyCreated' && (data as { budget?: object }).budget,
) as RawEvent
const limitedKeyId = (limitedKey.data as { keyId: string }).keyId
const ofLimited = (type: string) =>
  events.filter(
    event =>
      event.type === type &&
      ((event.metadata as { actor: { keyId?: string } }).actor.keyId === limitedKeyId ||
        (event.data as { debit?: { keyId?: string } }).debit?.keyId === limitedKeyId),
  )
const limitedRefund = ofLimited('CreditsRefunded').at(-1) as RawEvent
const [limitedDebit] = ofLimited('CreditsDebited').slice(-1) as [RawEvent]
const sumOf = (type: string) =>
  ofLimited(type)
    .filter(({ position }) => position <= limitedDebit.position)
    .reduce((sum, { data }) => sum + (data as { amountMicros: number }).amountMicros, 0)
/** What the key has spent with its last debit. */
const spentMicros = sumOf('CreditsDebited') - sumOf('CreditsRefunded') - sumOf('CreditsReleased')
const [setFirst, setAgain] = [eventOf('BudgetSet'), eventOf('BudgetSet', 1)]
const removed = eventOf('BudgetRemoved')
const named = events.filter(({ type, data }) => type === 'CreditsDebited' && (data as { budget?: object }).budget)
const [, , namedDebit] = named as [RawEvent, RawEvent, RawEvent, RawEvent]
const useIn = ({ data }: RawEvent) => (data as { budget: object }).budget
const namedRefund = events.find(
  ({ type, data }) => type === 'CreditsRefunded' && (data as { debit?: { budget?: object } }).debit?.budget,
) as RawEvent
const usedModel = (limitedDebit.data as { receipt: { model: string } }).receipt.model
const [lowBalance, exhaustedBudget] = [eventOf('NoticeRaised'), eventOf('NoticeRaised', 1)]
const noticeIn = ({ data }: RawEvent) => (data as { notice: object }).notice
const notice = (number: number, about: object): RawEvent => ({
  ...exhaustedBudget,
  id: crypto.randomUUID(),
  data: { number, notice: about, to: {} },
})
/** A notice of a model that retires in so many days, at the time of the last notice. */
const retiring = (number: number, days: number, model = usedModel): RawEvent => {
  const at = Date.parse((exhaustedBudget.metadata as { at: string }).at)
  const retiresAt = new Date(at + days * 24 * 60 * 60 * 1000).toISOString()
  return notice(number, { kind: 'model_retiring', model, endpoints: [`${model}-t2i`], retiresAt, days: 30 })
}
const testKey = events.find(isTest) as RawEvent
const testQueued = events.find(event => isAcceptance(event) && isTest(event)) as RawEvent
const ofTest = (type: string) =>
  events.find(event => event.type === type && runOf(event) === runOf(testQueued)) as RawEvent
const testUpload = events.find(event => event.type === 'UploadGranted' && isTest(event)) as RawEvent
const testReceipt = (testQueued.data as { receipt: { totalMicros: number } }).receipt
/** An event about a test run that moves credits or tells a cost, after its end. */
const moved = (type: string, more: object) => {
  const { runId } = testQueued.data as { runId: string }
  return withAfter(ofTest('RunCompleted'), { ...ofTest('RunCompleted'), id, type, data: { runId, ...more } })
}
const vendor = { upstream: { provider: 'fal', model: 'flux', account: '1234abcd' } }
const next = (event: RawEvent): RawEvent =>
  events.find(({ stream, revision }) => stream === event.stream && revision === event.revision + 1) as RawEvent
const receipt = (debit.data as { receipt: { totalMicros: number; lines: object[]; catalogRevision: number } }).receipt
const id = '00000000-0000-4000-8000-000000000000'

/** Faults that break a chain, and what is reported where. */
const broken: Record<string, { log: RawEvent[]; at: RawEvent; what: RegExp }> = {
  'a changed amount': { log: withData(grant, { amountMicros: 1 }), at: grant, what: /link does not match/ },
  'a changed type': { log: changed(grant, { type: 'CreditsWithdrawn' }), at: grant, what: /link does not match/ },
  'a changed time': {
    log: withMetadata(grant, { at: '2030-01-01T00:00:00.000Z' }),
    at: grant,
    what: /link does not match/,
  },
  'a changed actor': {
    log: withMetadata(grant, { actor: { kind: 'operator', name: 'mallory' } }),
    at: grant,
    what: /link does not match/,
  },
  'a changed id': { log: changed(grant, { id }), at: { ...grant, id }, what: /link does not match/ },
  'a changed input': { log: withData(queued, { input: { prompt: 'x' } }), at: queued, what: /link does not match/ },
  'a changed catalog': {
    log: changed(eventOf('FamilyPublished'), { data: (eventOf('FamilyPublished', 1) as RawEvent).data }),
    at: eventOf('FamilyPublished'),
    what: /link does not match/,
  },
  'a changed link': { log: withMetadata(grant, { hash: '0'.repeat(64) }), at: grant, what: /link does not match/ },
  'a dropped event': { log: without(queued), at: next(queued), what: /revision \d+ is missing/ },
  'a doubled event': { log: withAfter(queued, queued), at: queued, what: /comes again after revision/ },
  'a removed format': { log: withMetadata(grant, { format: undefined }), at: grant, what: /format falls from 4 to 1/ },
  'an unknown format': { log: withMetadata(grant, { format: 5 }), at: grant, what: /format 5 is unknown/ },
  'a log without its first events': {
    log: events.slice(3),
    at: events[3] as RawEvent,
    what: /events before it are missing/,
  },
  'swapped events': {
    log: events.map(event => (event === debit ? next(debit) : event === next(debit) ? debit : event)),
    at: next(debit),
    what: /revision \d+ is missing/,
  },
  'an event in another stream': {
    log: changed(grant, { stream: eventOf('AccountOpened', -1).stream }),
    at: { ...grant, stream: eventOf('AccountOpened', -1).stream },
    what: /comes again|is missing/,
  },
}

t.test('what a failed run has left may be deleted', async t => {
  const log = withData(failure, { willDeleteAt }).flatMap(event =>
    event === refundOfFailure ? [event, deletionOfLeft] : [event],
  )
  const { faults } = await verify(log)
  t.same(
    faults.filter(({ what }) => /files|additional properties/.test(what)),
    [],
  )
})

for (const [name, { log, at, what }] of Object.entries(broken))
  t.test(`${name} is found`, async t => {
    const { faults } = await verify(log)
    const { stream, revision, id } = at
    t.ok(
      faults.some(
        fault =>
          fault.stream === stream && fault.revision === revision && fault.eventId === id && what.test(fault.what),
      ),
      JSON.stringify(faults.slice(0, 5)),
    )
  })

/** Faults that whoever can rewrite the log would hide from the chains, and what is reported. */
const untrue: Record<string, { log: RawEvent[]; what: RegExp }> = {
  'a changed amount': { log: withData(grant, { amountMicros: 1 }), what: /its balance is \d+, and 0 \+ 1 is not/ },
  'a changed balance': { log: withData(debit, { balanceAfterMicros: 5 }), what: /its balance is 5/ },
  'a doubled refund': { log: withAfter(refund, refund), what: /the refunds of the run are \d+, and it cost/ },
  'a doubled grant': { log: withAfter(grant, grant), what: /its reference .* was used before/ },
  'a refund of another run': {
    log: withData(refund, { runId: (debit.data as { runId: string }).runId }),
    what: /it refunds a run that was never debited/,
  },
  'a refund of too little': { log: withData(refund, { amountMicros: 1 }), what: /its balance is|is refunded 1 of/ },
  'a refund that repeats another model': {
    log: withData(refund, { debit: { ...debitOf(refund), model: 'kling-3-pro' } }),
    what: /it repeats the debit .*"model":"kling-3-pro".*, which was /,
  },
  'a refund that repeats another key': {
    log: withData(refundOfFailure, { debit: { ...debitOf(refundOfFailure), keyId: 'key_00000000000000000000000000' } }),
    what: /it repeats the debit .*key_0{26}.*, which was /,
  },
  'a refund that repeats a label which the debit lacks': {
    log: withData(refund, { debit: { ...debitOf(refund), label: 'spring' } }),
    what: /it repeats the debit .*"label":"spring"/,
  },
  'a refund that repeats another error': {
    log: withData(refundOfFailure, { error: 'cancelled' }),
    what: /it repeats the error cancelled, which was content_rejected/,
  },
  'a refund of a completed run that looks like that of a failure': {
    log: withData(refund, { error: 'cancelled' }),
    what: /it repeats the error cancelled, which was none/,
  },
  'a price off its receipt': {
    log: withData(debit, { receipt: { ...receipt, totalMicros: receipt.totalMicros + 1 } }),
    what: /its receipt adds up to/,
  },
  'a receipt that says another price': {
    log: withData(debit, { receipt: { ...receipt, lines: [{ kind: 'base', amountMicros: receipt.totalMicros + 7 }] } }),
    what: /its receipt adds up to/,
  },
  'a receipt off its catalog revision': {
    log: withData(debit, { receipt: { ...receipt, catalogRevision: receipt.catalogRevision + 1 } }),
    what: /catalog revision \d+ publishes/,
  },
  'a receipt of a catalog revision that does not exist': {
    log: withData(debit, { receipt: { ...receipt, catalogRevision: 100_000 } }),
    what: /names catalog revision 100000, which publishes no prices/,
  },
  'a receipt of a price list of credits': {
    log: withData(debit, { receipt: { ...receipt, catalogRevision: eventOf('PacksPublished').revision } }),
    what: /names catalog revision \d+, which publishes no prices/,
  },
  'a run of another model than its receipt': {
    log: withData(queued, { model: 'kling-3-pro' }),
    what: /and its receipt is for/,
  },
  'a run without its debit': { log: without(debit), what: /was never debited/ },
  'a debit without its run': { log: without(queued), what: /is not the acceptance of/ },
  'a failure without its refund': {
    log: without(refundOfFailure),
    what: /is not the CreditsRefunded of|ends before the CreditsRefunded/,
  },
  'a deletion of the files of a failed run that left none': {
    log: withAfter(refundOfFailure, deletionOfLeft),
    what: /the files of a failed run that left none are deleted/,
  },
  'an open run that leaves the lists': {
    log: withAfter(failure, {
      ...failure,
      type: 'RunsArchived',
      data: { runs: [{ runId: runOf(failure), revisions: [0] }] },
    }),
    what: new RegExp(`it archives ${runOf(failure)}, which has not ended`),
  },
  'files of a run that never started': {
    log: withData(failure, { willDeleteAt }).map(event => (event === startOfFailed ? waiting(event) : event)),
    what: /a run that never started cannot have left files/,
  },
  'a run that ends twice': {
    log: withAfter(eventOf('RunCompleted'), eventOf('RunCompleted')),
    what: /a run that is completed cannot become completed/,
  },
  'a run that never started': {
    log: without(events.find(event => event.type === 'RunStarted' && !isAcceptance(event)) as RawEvent),
    what: /a run that is queued cannot become/,
  },
  'a run that starts at once, and then again': {
    log: withAfter(queued, { ...queued, id, data: { runId: runOf(queued), ...vendor } }),
    what: /a run that is processing cannot become processing/,
  },
  'a run that is accepted twice': { log: withAfter(queued, queued), what: /a run that is processing cannot become/ },
  'an account that was not opened': { log: without(eventOf('AccountOpened')), what: /the account was not opened/ },
  'an account that is opened twice': {
    log: withAfter(eventOf('AccountOpened'), eventOf('AccountOpened')),
    what: /the account was opened before/,
  },
  'a removed account': {
    log: events.filter(({ stream }) => stream !== eventOf('AccountOpened').stream),
    what: /was not opened/,
  },
  'a removed login': {
    log: events.filter(({ stream }) => stream !== eventOf('LoginLinked').stream),
    what: /the login of the account is missing/,
  },
  'a login that leads to the account of another': {
    log: withData(eventOf('LoginLinked', 1), eventOf('LoginLinked').data as object),
    what: /was opened with another address/,
  },
  'a key that the account does not have': {
    log: without(eventOf('ApiKeyCreated')),
    what: /is not an active key of this account/,
  },
  'a change by the owner of a suspended account': {
    log: withAfter(grant, happened('AccountSuspended')),
    what: /the owner of the account caused it during its suspension/,
  },
  'limits that the service sets': {
    log: withAfter(grant, {
      ...happened('LimitsSet'),
      data: {},
      metadata: { ...(grant.metadata as object), actor: { kind: 'service' } },
    }),
    what: /caused by a service, but only operators do this/,
  },
  'a tester whom the service names': {
    log: withAfter(grant, {
      ...happened('TesterSet'),
      data: { tester: true },
      metadata: { ...(grant.metadata as object), actor: { kind: 'service' } },
    }),
    what: /caused by a service, but only operators do this/,
  },
  'an account that is suspended twice': {
    log: withAfter(grant, happened('AccountSuspended'), happened('AccountSuspended')),
    what: /the account was suspended before/,
  },
  'an account that is resumed although it was not suspended': {
    log: withAfter(grant, happened('AccountResumed')),
    what: /the account was not suspended/,
  },
  'a key that is revoked twice': {
    log: withAfter(eventOf('ApiKeyRevoked'), eventOf('ApiKeyRevoked')),
    what: /is not an active key with this hash/,
  },
  'a debit that passes a budget': {
    log: withData(limitedKey, { budget: { amountMicros: spentMicros - 1, period: 'week' } }),
    what: /has spent \d+ of its budget of \d+ for the week from \d{4}-\d\d-\d\d/,
  },
  'a debit with an expired key': {
    log: withData(limitedKey, { expiresAt: '2020-01-01T00:00:00.000Z' }),
    what: /has expired at 2020-01-01/,
  },
  'a debit for a model that its key may not run': {
    log: withData(limitedKey, { models: ['kling-3-pro'] }),
    what: /may not run gpt-6-1-terra-t2t/,
  },
  'a refund that gives back to another period': {
    log: withData(limitedRefund, { debit: { ...debitOf(limitedRefund), budgetPeriod: '2020-01-06' } }),
    what: /gives back to the budget of 2020-01-06, and its debit was in/,
  },
  'a refund that gives back to no period': {
    log: withData(limitedRefund, { debit: { ...debitOf(limitedRefund), budgetPeriod: undefined } }),
    what: /gives back to the budget of no period, and its debit was in/,
  },
  'a debit that passes a named budget': {
    log: withData(setFirst, { amountMicros: receiptOf(namedDebit).totalMicros - 1 }),
    what: /\d+ of the budget "customer 17" of \d+ are spent/,
  },
  'a debit of a named budget that the account does not have': {
    log: without(setFirst),
    what: /the account has no budget "customer 17" of number 1/,
  },
  'a debit under another number of a named budget': {
    log: withData(namedDebit, { budget: { ...useIn(namedDebit), number: 2 } }),
    what: /the account has no budget "customer 17" of number 2/,
  },
  'a debit in another period of a named budget': {
    log: withData(namedDebit, { budget: { ...useIn(namedDebit), firstDay: '2020-01-01' } }),
    what: /it counts in the period from 2020-01-01, and its time is in \d{4}-\d\d-01/,
  },
  'a refund that gives back to another named budget': {
    log: withData(namedRefund, { debit: { ...debitOf(namedRefund), budget: { ...useIn(namedDebit), number: 2 } } }),
    what: /gives back to the budget "customer 17" of number 2 .*, and its debit was in the budget .* of number 1/,
  },
  'a refund that gives back to no named budget': {
    log: withData(namedRefund, { debit: { ...debitOf(namedRefund), budget: undefined } }),
    what: /gives back to no budget, and its debit was in the budget "customer 17"/,
  },
  'a named budget that counts on with another period': {
    log: withData(setAgain, { number: 1 }),
    what: /its number is 1, and should be 2/,
  },
  'a named budget that is removed twice': {
    log: withAfter(removed, { ...removed, id }),
    what: /the account has no budget "customer 17"/,
  },
  'a refund that gives back to a budget that its key does not have': {
    log: withData(refund, { debit: { ...debitOf(refund), budgetPeriod: '2020-01-06' } }),
    what: /gives back to the budget of 2020-01-06, and its debit was in none/,
  },
  'a test run with a debit': {
    log: moved('CreditsDebited', { amountMicros: 1, balanceAfterMicros: 1, receipt }),
    what: /a test run is debited/,
  },
  'a test run with a debit before it': {
    log: withAfter(events[events.indexOf(testQueued) - 1] as RawEvent, {
      ...testQueued,
      id,
      type: 'CreditsDebited',
      data: { runId: runOf(testQueued), amountMicros: 1, balanceAfterMicros: 1, receipt: testReceipt },
    }),
    what: /a test run is debited/,
  },
  'a test run with a refund': {
    log: moved('CreditsRefunded', { amountMicros: 1, balanceAfterMicros: 1, reason: 'x', debit: debitOf(refund) }),
    what: /a test run is refunded/,
  },
  'a test run with a cost': {
    log: moved('ProviderCostRecorded', { ...vendor.upstream, source: 'unknown', salt: '0'.repeat(32) }),
    what: /a test run has a cost/,
  },
  'a test run that ends with a cost': {
    log: withData(ofTest('RunCompleted'), { cost: { source: 'unknown', salt: '0'.repeat(32) } }),
    what: /a test run has a cost/,
  },
  'a test run that starts at a provider': {
    log: withData(ofTest('RunStarted'), vendor),
    what: /a test run went to fal, not to the sandbox/,
  },
  'a test run that a provider completes': {
    log: withData(ofTest('RunCompleted'), vendor),
    what: /a test run went to fal, not to the sandbox/,
  },
  'a test run that does not say what it would cost': {
    log: withData(testQueued, { receipt: undefined }),
    what: /does not say what it would cost/,
  },
  'a test run that says another price': {
    log: withData(testQueued, { receipt: { ...testReceipt, totalMicros: testReceipt.totalMicros + 1 } }),
    what: /its receipt adds up to/,
  },
  'a test run that is queued twice': {
    log: withAfter(testQueued, { ...testQueued, id }),
    what: /was accepted before/,
  },
  'a live run that a test key asks for': {
    log: withData(testQueued, { livemode: undefined }),
    what: /was never debited/,
  },
  'a test run that a live key asks for': {
    log: withData(testKey, { livemode: undefined }),
    what: /key_\w+ is a live key, and run_\w+ is test/,
  },
  'a test run that nobody asks for': {
    log: withMetadata(testQueued, { actor: { kind: 'operator', name: 'mallory' } }),
    what: /it is in test mode, but neither a key nor a session requested it/,
  },
  'an upload of another mode than its key': {
    log: withData(testUpload, { livemode: undefined }),
    what: /key_\w+ is a test key, and upl_\w+ is live/,
  },
  'a test run with an expired key': {
    log: withData(testKey, { expiresAt: '2020-01-01T00:00:00.000Z' }),
    what: /has expired at 2020-01-01/,
  },
  'a test run of a model that its key may not run': {
    log: withData(testKey, { models: ['kling-3-pro'] }),
    what: /may not run gpt-6-1-terra-t2t/,
  },
  'a test key with a budget': {
    log: withData(testKey, { budget: { amountMicros: 1, period: 'day' } }),
    what: /a test key has a budget/,
  },
  'a live key that a test key creates': {
    log: withAfter(testQueued, {
      ...testQueued,
      id,
      type: 'ApiKeyCreated',
      data: { ...(limitedKey.data as object), keyId: 'key_00000000000000000000000000' },
    }),
    what: /a test key creates a live key/,
  },
  'a live key that a test key revokes': {
    log: withAfter(testQueued, {
      ...testQueued,
      id,
      type: 'ApiKeyRevoked',
      data: { keyId: limitedKeyId, hash: (limitedKey.data as { hash: string }).hash },
    }),
    what: /a test key revokes a live key/,
  },
  'a use that is recorded twice': {
    log: withAfter(eventOf('ApiKeyUsed'), eventOf('ApiKeyUsed')),
    what: /the use of key_\w+ on [\d-]+ is recorded twice/,
  },
  'a use of another key': {
    log: withData(eventOf('ApiKeyUsed'), { hash: '0'.repeat(64) }),
    what: /is not an active key with this hash/,
  },
  'a webhook that was not due': {
    log: withAfter(eventOf('WebhookDelivered'), eventOf('WebhookDelivered')),
    what: /no delivery of this webhook is pending/,
  },
  'a webhook that was not abandoned': { log: without(eventOf('WebhookAbandoned')), what: /WebhookAbandoned of/ },
  'a notice that is missing': { log: without(lowBalance), what: /its number is 2|its notice is not that of/ },
  'notices that are missing': {
    log: without(lowBalance, exhaustedBudget),
    what: /it is not the notice of (balance_low|budget_exhausted), which an earlier event requires/,
  },
  'a crossing without a notice at the end': {
    log: events.slice(0, events.indexOf(lowBalance)),
    what: /the stream ends before the notice of budget_exhausted/,
  },
  'a notice that nothing calls for': {
    log: withAfter(exhaustedBudget, notice(3, noticeIn(lowBalance))),
    what: /no event before it requires a notice/,
  },
  'a notice of another balance': {
    log: withData(lowBalance, { notice: { ...noticeIn(lowBalance), balanceMicros: 1 } }),
    what: /its notice is not that of .*, which an earlier event requires/,
  },
  'a notice of another budget': {
    log: withData(exhaustedBudget, { notice: { ...noticeIn(exhaustedBudget), kind: 'budget_warning' } }),
    what: /its notice is not that of .*budget_exhausted/,
  },
  'a notice with the number of another': { log: withData(exhaustedBudget, { number: 7 }), what: /its number is 7/ },
  'a notice to another URL': {
    log: withData(lowBalance, { to: { url: 'https://example.com' } }),
    what: /wants no notices at this URL/,
  },
  'mail that nobody wants': {
    log: withData(eventOf('NoticesSet'), { email: false }),
    what: /the account wants no mail/,
  },
  'a notice of a key that expires in more than a week': {
    log: withAfter(
      exhaustedBudget,
      notice(3, { kind: 'key_expiring', keyId: limitedKeyId, expiresAt: '2100-01-01T00:00:00.000Z' }),
    ),
    what: /expires in more than a week/,
  },
  'a notice of a key that does not expire': {
    log: withAfter(
      exhaustedBudget,
      notice(3, { kind: 'key_expiring', keyId: `key_${'0'.repeat(26)}`, expiresAt: '2100-01-01T00:00:00.000Z' }),
    ),
    what: /no notice of the expiry of key_0+ is due/,
  },
  'a notice of a model that the account has not used': {
    log: withAfter(exhaustedBudget, retiring(3, 20, 'unused')),
    what: /the account has not used unused lately/,
  },
  'a notice of a model that retires later': {
    log: withAfter(exhaustedBudget, retiring(3, 31)),
    what: /retires at .*, not within 30 days/,
  },
  'a second notice of a model that retires': {
    log: withAfter(exhaustedBudget, retiring(3, 20), retiring(4, 20)),
    what: /the owner was already notified of /,
  },
  'a key that has expired without a notice': {
    log: withMetadata(events.at(-1) as RawEvent, { at: '2100-01-02T00:00:00.000Z' }),
    what: /there was no notice of the expiry of key_/,
  },
  'a notice that is delivered twice': {
    log: withAfter(eventOf('NoticeDelivered'), eventOf('NoticeDelivered')),
    what: /no delivery of this notice is pending/,
  },
  'a notice that was not abandoned': { log: without(eventOf('NoticeAbandoned')), what: /NoticeAbandoned of/ },
  'an upload that was not granted': {
    log: without(eventOf('UploadGranted')),
    what: /an upload that is unknown cannot/,
  },
  'an upload that is deleted twice': {
    log: withAfter(eventOf('UploadDeleted'), eventOf('UploadDeleted')),
    what: /an upload that is deleted cannot become deleted/,
  },
  'a field that no event has': { log: withData(grant, { note: 'x' }), what: /must NOT have additional properties/ },
  'an event of an unknown type': {
    log: changed(grant, { type: 'CreditsMinted' }),
    what: /hold no events of this type/,
  },
  'a time that goes back': {
    log: withMetadata(debit, { at: '2020-01-01T00:00:00.000Z' }),
    what: /its time 2020-01-01T00:00:00.000Z is before/,
  },
}

for (const [name, { log, what }] of Object.entries(untrue))
  t.test(`${name} is found in a rewritten log`, async t => {
    const { faults, notes } = await verify(rewritten(log))
    t.ok(
      [...faults, ...notes].some(fault => what.test(fault.what)),
      JSON.stringify(faults.slice(0, 5)),
    )
    t.notOk(
      faults.some(fault => /link does not match|is missing$/.test(fault.what) && !/login/.test(fault.what)),
      'the chains are whole',
    )
  })

t.test('refunds from before they repeated their debits are no fault', async t => {
  const older = events.map(event => {
    if (event.type !== 'CreditsRefunded') return event
    const { debit: _, error: __, ...data } = event.data as Record<string, unknown>
    return { ...event, data }
  })
  t.same((await verify(rewritten(older))).faults, [])
})

t.test('an open run is a fault ten minutes after its time', async t => {
  const { position, data, metadata } = eventOf('RunStarted', -1)
  const { runId } = data as { runId: string }
  const isOfRun = (event: RawEvent) => (event.data as { runId?: string }).runId === runId
  const accepted = events.find(event => isAcceptance(event) && isOfRun(event)) as RawEvent
  const { timeoutMs } = accepted.data as { timeoutMs: number }
  const openedLater = (ms: number) => {
    const at = new Date(Date.parse((metadata as { at: string }).at) + ms).toISOString()
    const later = { ...eventOf('ApiKeyCreated', -1), id, metadata: { ...(metadata as object), at } }
    const data = { ...(later.data as object), keyId: 'key_00000000000000000000000000' }
    const open = events.filter(event => !(event.position > position && isOfRun(event)))
    return rewritten([...open, { ...later, data }])
  }
  t.same((await verify(openedLater(timeoutMs + 9 * 60_000))).faults, [])
  t.match((await verify(openedLater(timeoutMs + 11 * 60_000))).faults, [
    { what: /has not ended, and its time was over at/ },
  ])
})

t.test('faults of several accounts are in the order of the log', async t => {
  const { metadata } = eventOf('ApiKeyCreated', -1)
  const later = {
    ...eventOf('ApiKeyCreated', -1),
    id,
    metadata: { ...(metadata as object), at: '2100-01-01T00:00:00.000Z' },
  }
  const open = events.filter(({ type }) => type !== 'RunCompleted')
  const moved = open.map(event =>
    event.type === 'LoginLinked' ? { ...event, data: eventOf('LoginLinked').data } : event,
  )
  const changed = rewritten([...moved, later]).map(event =>
    event.type === 'RunStarted' ? { ...event, metadata: { ...(event.metadata as object), requestId: 'other' } } : event,
  )
  const { faults } = await verify(changed)
  const streamsOf = (what: RegExp) => faults.filter(fault => what.test(fault.what)).map(({ stream }) => stream)
  const inLog = [...new Set(events.map(({ stream }) => stream))]
  const positions = faults.flatMap(({ position }) => position ?? [])
  t.same(
    positions,
    positions.toSorted((one, next) => one - next),
  )
  for (const [what, streams] of [
    [/has not ended/, 4],
    [/was opened with another address/, 3],
    [/the login of the account is missing/, 3],
  ] as const) {
    const found = [...new Set(streamsOf(what))]
    t.same(
      found,
      inLog.filter(stream => found.includes(stream)),
    )
    t.equal(found.length, streams)
  }
})

t.test('a run whose time is never over is no fault, and does not end the verification', async t => {
  const runId = (queued.data as { runId: string }).runId
  const unended = withData(queued, { timeoutMs: Number.MAX_SAFE_INTEGER }).filter(
    ({ type, data }) => type !== 'RunCompleted' || (data as { runId: string }).runId !== runId,
  )
  const { faults } = await verify(rewritten(unended))
  t.same(
    faults.filter(({ what }) => what.includes('has not ended')),
    [],
  )
})
