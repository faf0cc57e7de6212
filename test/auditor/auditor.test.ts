import t, { type Test } from 'tap'
import type { AccountEvent, DebitFacts } from '../../schemas/account-events.ts'
import type { Receipt } from '../../schemas/catalog.ts'
import { accountStream, CATALOG_STREAM } from '../../schemas/events.ts'
import type { RawEvent } from '../../schemas/recorded.ts'
import { account } from '../../src/domain/account/account.ts'
import type { AccountCommand } from '../../src/domain/account/commands.ts'
import { BEFORE_FIRST } from '../../src/ports/event-log.ts'
import { publishShipped } from '../../src/services/catalog/published-catalog.ts'
import { publishConfigured } from '../../src/services/purchases/price-list.ts'
import {
  accepted,
  accountId,
  accountResumed,
  accountSuspended,
  cancelRequested,
  completeRun,
  costRecorded,
  delivered,
  failed,
  failRun,
  granted,
  keyCreated,
  keyId,
  limitsSet,
  opened,
  openAccount as openSample,
  outputDeleted,
  queueRun,
  redeliveryRequested,
  refunded,
  secretRotated,
  sessionId,
  sessionOpened,
  startRun,
  tested,
  testMode,
  testRequested,
  uploadDeleted,
  uploadDeletionRequested,
  uploadGranted,
  uploadStored,
  vendorUpstream,
  webhookTested,
} from '../support/account-samples.ts'
import { family } from '../support/catalog-samples.ts'
import { collect } from '../support/collect.ts'
import { forgedTopUps, topUpHistory } from '../support/forged-top-ups.ts'
import { at } from '../support/given.ts'
import { tokenReceipt } from '../support/ledger-events.ts'
import { makeLink } from '../support/links.ts'
import { priceList } from '../support/pack-samples.ts'
import { openAccount, openFolder } from '../support/service.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'
import { type AuditedEvent, Auditor } from './auditor.ts'
import { TopUps } from './top-ups.ts'

const DAY_MS = 24 * 60 * 60 * 1000

const SESSION = { kind: 'session', sessionId: sessionId() }

t.test('the auditor detects every kind of forged history', async t => {
  const history = [openSample({ welcome: 30 }), queueRun({ key: 'a' }), startRun(), failRun()].reduce<{
    appends: AuditedEvent[][]
    state: typeof account.initial
  }>(
    ({ appends, state }, command) => {
      const decision = account.decide(command, state, 0)
      const events = 'accept' in decision ? decision.accept.map(event => at(0, event)) : []
      return { appends: appends.concat([events]), state: events.reduce(account.evolve, state) }
    },
    { appends: [], state: account.initial },
  ).appends
  const [opening, queueing, starting, failing] = history as [
    AuditedEvent[],
    AuditedEvent[],
    AuditedEvent[],
    AuditedEvent[],
  ]
  const [failure, refund] = failing as [AuditedEvent, AuditedEvent]
  const other = (event: AuditedEvent, change: object) => ({ ...event, data: { ...(event.data as object), ...change } })

  const uploaded = (event: AccountEvent): AuditedEvent => at(0, event)
  const [grant, store, seal] = [uploadGranted(), uploadStored(), uploadStored(1, { sealed: true })].map(uploaded) as [
    AuditedEvent,
    AuditedEvent,
    AuditedEvent,
  ]
  const [requested, deleted] = [uploadDeletionRequested(), uploadDeleted()].map(uploaded) as [
    AuditedEvent,
    AuditedEvent,
  ]

  const [suspended, resumed] = [accountSuspended(), accountResumed()].map(uploaded) as [AuditedEvent, AuditedEvent]
  const signedIn = uploaded(sessionOpened())
  const byOwner = queueing.map(event => ({ ...event, metadata: { ...(event.metadata as object), actor: SESSION } }))

  const testKey = uploaded(keyCreated(1, 'full', testMode))
  const byTest = (event: AuditedEvent) => ({
    ...event,
    metadata: { ...(event.metadata as object), actor: { kind: 'key', keyId: keyId(1) } },
  })
  const testing = [byTest(uploaded(tested({ key: 'a' })))]
  const [started] = starting as [AuditedEvent]
  const cost = uploaded(costRecorded({ source: 'unknown', salt: '0'.repeat(32) }))
  const hooked = queueing.map(event =>
    event.type === 'RunQueued' ? other(event, { webhookUrl: 'https://a.b' }) : event,
  )
  const resendable = [opening, hooked, starting, failing, [signedIn], [uploaded(delivered())]]
  const resent = (count: number, actor: object): AuditedEvent[][] =>
    Array.from({ length: count }, () => [
      [{ ...uploaded(redeliveryRequested()), metadata: { at: '1970-01-01T00:00:00.000Z', actor } }],
      [uploaded(delivered())],
    ]).flat()
  const tests = (count: number) => Array.from({ length: count }, (_, index) => [uploaded(testRequested(index + 1))])
  const rotatedAgain = (ms: number): AuditedEvent => at(ms, secretRotated(2))

  const forgeries: Record<string, AuditedEvent[][]> = {
    'a run is refunded twice': [...history, [refund]],
    'a refund is too high': [opening, queueing, starting, [failure, other(refund, { amountMicros: 11 })]],
    'a refund repeats another debit': [
      opening,
      queueing,
      starting,
      [failure, other(refund, { debit: { model: 'x' } })],
    ],
    'a refund repeats no debit': [opening, queueing, starting, [failure, other(refund, { debit: undefined })]],
    'a refund is in a separate append': [opening, queueing, starting, [failure], [refund]],
    'a run ends twice': [...history, failing],
    'a debit has no run': [opening, queueing.slice(0, 1)],
    'a run has no debit': [opening, queueing.slice(1)],
    'a balance is wrong': [opening.map(event => other(event, { balanceAfterMicros: 1 }))],
    'a key is charged twice': [opening, queueing, queueing.map(event => other(event, { runId: 'run_2' }))],
    'an account is opened twice': [opening, opening.slice(0, 1)],
    'a run starts twice': [opening, queueing, starting, starting],
    'the output of an open run is deleted': [opening, queueing, [uploaded(outputDeleted())]],
    'an account is suspended twice': [opening, [suspended], [suspended]],
    'an account is resumed twice': [opening, [suspended], [resumed], [resumed]],
    'a suspended account runs something': [opening, [signedIn], [suspended], byOwner],
    'the service sets limits': [opening, [{ ...uploaded(limitsSet({})), metadata: { actor: { kind: 'service' } } }]],
    'the files of a failed run are deleted that left none': [...history, [uploaded(outputDeleted())]],
    'a run that never started leaves files': [opening, queueing, [other(failure, { willDeleteAt: 'later' }), refund]],
    'a test run has a debit': [opening, [testKey], queueing.slice(0, 1).concat(testing)],
    'a test run is queued twice': [opening, [testKey], testing, testing],
    'a test run is refunded': [opening, [testKey], testing, starting, [failure, refund]],
    'a test run is refunded later': [opening, [testKey], testing, starting, [failure], [refund]],
    'a test run starts at a provider': [opening, [testKey], testing, [other(started, { upstream: vendorUpstream })]],
    'a test run is done by a provider': [
      ...[opening, [testKey], testing, starting],
      [other(failure, { upstream: vendorUpstream })],
    ],
    'a test run has a cost': [opening, [testKey], testing, starting, [failure, cost]],
    'a test run is asked for by a live key': [opening, [other(testKey, { livemode: undefined })], testing],
    'a test run is asked for by the operator': [opening, testing.map(event => ({ ...event, metadata: {} }))],
    'a live run is asked for by a test key': [opening, [testKey], queueing.map(byTest)],
    'a live run is cancelled by a test key': [
      ...[opening, [testKey], queueing, starting],
      [byTest(uploaded(cancelRequested()))],
    ],
    'a test key has a budget': [opening, [other(testKey, { budget: { amountMicros: 1, period: 'day' } })]],
    'a webhook of an open run is sent again': [opening, hooked, [uploaded(redeliveryRequested())]],
    'a run without a webhook has one sent again': [...history, [uploaded(redeliveryRequested())]],
    'a webhook is sent again that is pending': [opening, hooked, starting, failing, [uploaded(redeliveryRequested())]],
    'an owner has too many webhooks sent again': [...resendable, ...resent(101, SESSION)],
    'a secret is rotated to no next generation': [opening, [uploaded(secretRotated(2))]],
    'a secret is rotated twice within a day': [opening, [uploaded(secretRotated(1))], [rotatedAgain(DAY_MS - 1)]],
    'a sixth test of a webhook is requested': [opening, ...tests(6)],
    'a test is requested twice': [opening, ...tests(1), ...tests(1)],
    'a test has a result that was not requested': [opening, [uploaded(webhookTested())]],
    'a test has two results': [opening, ...tests(1), [uploaded(webhookTested())], [uploaded(webhookTested())]],
    'an upload is granted twice': [opening, [grant], [grant]],
    'an upload is stored twice': [opening, [grant], [store], [store]],
    'an upload is stored after it was sealed': [opening, [grant], [seal], [store]],
    'an upload is stored after its deletion request': [opening, [grant], [requested], [seal]],
    'an upload deletion is requested twice': [opening, [grant], [requested], [requested]],
    'an upload is deleted twice': [opening, [grant], [deleted], [deleted]],
  }
  const audit = (appends: AuditedEvent[][]) => {
    const auditor = new Auditor(accountStream(accountId()))
    for (const append of appends) auditor.follow(append)
    return auditor.faults
  }
  t.same(audit(history), [])
  t.same(audit([opening, [signedIn], [suspended], [resumed], byOwner, [suspended], ...history.slice(2)]), [])
  const leaving = [other(failure, { willDeleteAt: 'later' }), refund]
  t.same(audit([opening, queueing, starting, leaving, [uploaded(outputDeleted())]]), [])
  t.same(
    audit([opening, [testKey], testing, starting, [failure], queueing.map(event => other(event, { runId: 'run_2' }))]),
    [],
  )
  t.same(audit([opening, [grant], [store], [seal], [requested], [deleted], [grant]]), [])
  t.same(
    audit([opening, ...tests(5), [uploaded(webhookTested(5))], [uploaded(secretRotated(1))], [rotatedAgain(DAY_MS)]]),
    [],
  )
  t.same(audit([...resendable, ...resent(100, SESSION), ...resent(101, { kind: 'operator' })]), [])
  for (const [forgery, appends] of Object.entries(forgeries)) t.not(audit(appends).length, 0, forgery)
})

t.test('the auditor detects every kind of forged top-up', async t => {
  const audit = (events: typeof topUpHistory) => {
    const topUps = new TopUps()
    let [balanceMicros, isSuspended] = [0, false]
    return events.flatMap(event => {
      const { type, data, metadata } = event
      balanceMicros = Number(data['balanceAfterMicros'] ?? balanceMicros)
      isSuspended ||= type === 'AccountSuspended'
      return topUps.take(event, { at: metadata.at, clock: metadata.at }, balanceMicros, isSuspended)
    })
  }
  t.same(audit(topUpHistory), [])
  for (const [forgery, [, events]] of Object.entries(forgedTopUps)) t.not(audit(events).length, 0, forgery)
})

t.test('the auditor detects every kind of forged release', async t => {
  const usage = { input: 0, cached_input: 0, output: 1000, thinking: 0 }
  const commands: AccountCommand[] = [
    openSample({ welcome: 30 }),
    { ...queueRun(), receipt: tokenReceipt(10_000) },
    startRun(),
    { ...completeRun(), usage },
  ]
  let state = account.initial
  const history = commands.map(command => {
    const decision = account.decide(command, state, 0)
    const events = 'accept' in decision ? decision.accept.map(event => at(0, event)) : []
    state = events.reduce(account.evolve, state)
    return events as AuditedEvent[]
  })
  const [opening, queueing, starting, ending] = history as [
    AuditedEvent[],
    AuditedEvent[],
    AuditedEvent[],
    AuditedEvent[],
  ]
  const [release, end] = ending as [AuditedEvent, AuditedEvent]
  const changed = (event: AuditedEvent, change: object) => ({
    ...event,
    data: { ...(event.data as object), ...change },
  })
  const { receipt } = release.data as { receipt: Receipt }
  const other = { ...receipt, lines: [{ kind: 'base', amountMicros: 10_000_000 }], totalMicros: 10_000_000 }
  const failure = at(0, failed()) as AuditedEvent
  const ended = (...append: AuditedEvent[]) => [opening, queueing, starting, append]
  const [line, ...lines] = receipt.lines
  const moved = (amountMicros: number) => ({ amountMicros, balanceAfterMicros: 20_000_000 + amountMicros })
  const plain = queueing.map(event => (event.type === 'CreditsDebited' ? changed(event, { receipt: other }) : event))
  const forgeries: Record<string, AuditedEvent[][]> = {
    'a release is too low': ended(changed(release, moved(8_999_999)), end),
    'a release is higher than the debit': ended(changed(release, moved(10_000_001)), end),
    'a run is released twice': ended(release, changed(release, { balanceAfterMicros: 38_000_000 }), end),
    'a release is in a separate append': [opening, queueing, starting, [release], [end]],
    'a release is of a failed run': ended(release, failure),
    'a release is of a queued run': [opening, queueing, [release, end]],
    'a release has another balance': ended(changed(release, { balanceAfterMicros: 1 }), end),
    'a release repeats another debit': ended(changed(release, { debit: { model: 'x' } }), end),
    'a final price does not add up': ended(
      changed(release, { ...moved(9_999_999), receipt: { ...receipt, totalMicros: 1 } }),
      end,
    ),
    'a run is released whose tokens have no price': [
      opening,
      plain,
      starting,
      [changed(release, moved(9_000_000)), end],
    ],
    'a final price has another rate': ended(
      changed(release, { receipt: { ...receipt, lines: [{ ...line, perMillionMicros: 1 }, ...lines] } }),
      end,
    ),
    'a final price is of other tokens': ended(release, changed(end, { usage: { ...usage, output: 999 } })),
    'a run does not tell its tokens': ended(release, changed(end, { usage: undefined })),
    'a run is not released': ended(end),
    'a release is refunded': [
      ...history,
      [at(0, refunded(1.000001, { after: 30.000001, reason: 'x', debit: debitIn(release) })) as AuditedEvent],
    ],
  }
  const audit = (appends: AuditedEvent[][]) => {
    const auditor = new Auditor(accountStream(accountId()))
    for (const append of appends) auditor.follow(append)
    return auditor.faults
  }
  t.equal(release.type, 'CreditsReleased')
  t.same(audit(history), [])
  for (const [forgery, appends] of Object.entries(forgeries)) t.not(audit(appends).length, 0, forgery)
})

const debitIn = ({ data }: AuditedEvent) => (data as { debit: DebitFacts }).debit

t.test('the auditor detects too many open runs', async t => {
  const auditor = new Auditor(accountStream(accountId()))
  auditor.follow([opened(), granted(10_001)].map(event => at(0, event)))
  const accept = (run: number) => accepted({ run, credits: 1, after: 10_001 - run }).map(event => at(0, event))
  for (let run = 1; run <= 10_000; run++) auditor.follow(accept(run))
  t.same(auditor.faults, [])
  auditor.follow(accept(10_001))
  t.match(auditor.faults, [/too many open runs/])
})

/** The faults of a whole log. */
const auditLog = (log: RawEvent[]): string[] =>
  [...new Set(log.map(({ stream }) => stream))].flatMap(stream => {
    const auditor = new Auditor(stream)
    auditor.followChain(log.filter(event => event.stream === stream))
    return auditor.faults
  })

/** A log that the service wrote: a catalog with two families and prices, an account, and the login of its owner. */
const writeLog = async (t: Test): Promise<RawEvent[]> => {
  const core = await openFolder(await temporaryFolder(t))
  t.teardown(() => core.close())
  await publishShipped(core.log, core.publishedCatalog, [family('lumen'), family('umbra')])
  await publishConfigured(core.publishedCatalog, priceList)
  await openAccount({ core, url: 'http://localhost' })
  return collect(core.log.readAll(BEFORE_FIRST))
}

t.test('an event of an unknown type is reported in streams of every category', async t => {
  const log = await writeLog(t)
  const streams = [...new Set(log.map(({ stream }) => stream))]
  t.same(streams.map(stream => stream.split('-')[0]).sort(), ['account', 'catalog', 'login'])
  t.same(auditLog(log), [])
  for (const stream of streams) {
    const last = log.findLast(event => event.stream === stream) as RawEvent & { metadata: { hash: string } }
    for (const type of ['SomethingHappened', stream === CATALOG_STREAM ? 'CreditsGranted' : 'FamilyPublished']) {
      const event = { ...last, id: crypto.randomUUID(), revision: last.revision + 1, type }
      const { link: hash } = makeLink(last.metadata.hash, event)
      const reported = auditLog([...log, { ...event, metadata: { ...last.metadata, hash } }])
      t.same(reported, [`${stream} at ${event.revision}: the event type ${type} is unknown`])
    }
  }
})

t.test('a broken chain is reported in streams of every category', async t => {
  const log = await writeLog(t)
  for (const changed of log) {
    const data = { ...(changed.data as object), isForged: true }
    const reported = auditLog(log.map(event => (event === changed ? { ...event, data, stored: data } : event)))
    t.same(reported, [`${changed.stream} at ${changed.revision}: the chain breaks`])
  }
})
