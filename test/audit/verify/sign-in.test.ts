import { join } from 'node:path'
import t from 'tap'
import type { RawEvent } from '../../../schemas/recorded.ts'
import { BEFORE_FIRST } from '../../../src/ports/event-log.ts'
import { Auditor } from '../../auditor/auditor.ts'
import { asStored } from '../../support/as-stored.ts'
import { BrowserClient, codeIn, messagesIn } from '../../support/browser-client.ts'
import { collect } from '../../support/collect.ts'
import { openLog } from '../../support/engine.ts'
import { copyFixtureLog } from '../../support/fixture-log.ts'
import { rewritten } from '../../support/rewritten.ts'
import { startService } from '../../support/service.ts'
import { until } from '../../support/until.ts'
import { verified } from '../../support/verified.ts'

const service = await startService(t)
const browser = new BrowserClient(service.url)
await browser.signIn(service, 'ada@example.com')
await browser.post('/console/identities', { email: 'ada@work.example.com' })
const find = async () => codeIn((await messagesIn(service)).find(message => message.includes('To: ada@work')))
await browser.post('/console/identities/code', { code: await until('the code arrives', find) })
await browser.post('/console/sign-out')
await browser.signIn(service, 'ada@work.example.com')
const events = await collect(service.core.log.readAll(BEFORE_FIRST))
await service.stop()

const eventOf = (type: string, number = 0) => events.filter(event => event.type === type).at(number) as RawEvent
const without = (...removed: RawEvent[]) => events.filter(event => !removed.includes(event))
const withAfter = (event: RawEvent, added: RawEvent) =>
  events.flatMap(each => (each === event ? [each, { ...added, id: crypto.randomUUID() }] : [each]))
const withData = (event: RawEvent, data: object) =>
  events.map(each => (each === event ? { ...each, data: { ...(each.data as object), ...data } } : each))

t.test('a log in which somebody signs in, links an address and signs out is clean', async t => {
  const { faults, notes } = await verified(events, { isDense: true })
  t.same([...faults, ...notes], [])
  t.same((await verified(asStored(events), { isDense: true })).faults, [], 'nor without keys')
  const streams = groupBy(events)
  for (const [stream, own] of streams) {
    const auditor = new Auditor(stream)
    auditor.followChain(own)
    // What stands alone in an append is not shown here.
    t.same(
      auditor.faults.filter(fault => !/append/.test(fault)),
      [],
    )
  }
})

const closed = eventOf('SessionClosed')
const linked = eventOf('IdentityLinked')

/** What a log would say that was rewritten, and what is reported. */
const untrue: Record<string, { log: RawEvent[]; what: RegExp; isNote?: true }> = {
  'a session that was not opened': {
    log: without(eventOf('SessionOpened')),
    what: /^sess_\w+ is not an open session of this account$/,
  },
  'a session that is opened twice': {
    log: withAfter(eventOf('SessionOpened'), eventOf('SessionOpened')),
    what: /^sess_\w+ was opened before$/,
  },
  'a session that is closed twice': { log: withAfter(closed, closed), what: /is not an open session/ },
  'a session that had expired': {
    log: withData(eventOf('SessionOpened'), { expiresAt: '2020-01-01T00:00:00.000Z' }),
    what: /had expired at 2020-01-01/,
  },
  'welcome credits for two spellings of an address': {
    log: withAfter(eventOf('WelcomeDecided'), {
      ...eventOf('WelcomeDecided'),
      data: { ...(eventOf('WelcomeDecided').data as object), login: '0'.repeat(64) },
    }),
    what: /^the identity got its welcome credits before$/,
  },
  'an identity that is linked to no account': {
    log: without(eventOf('LoginLinked', -1)),
    what: /^it lists an identity that is not linked to it$/,
  },
  'a link of another kind': {
    log: events.map(each =>
      each === eventOf('LoginLinked', -1) ? { ...each, data: eventOf('LoginLinked').data } : each,
    ),
    what: /was opened with another address/,
  },
  'a login that is unlinked from another account': {
    log: withAfter(eventOf('LoginLinked'), {
      ...eventOf('LoginLinked'),
      ...{ type: 'LoginUnlinked', data: { accountId: `acct_${'0'.repeat(26)}` } },
    }),
    what: /^the login is not linked to acct_0+$/,
  },
  'an identity that the account does not list': { log: without(linked), what: /does not list it/, isNote: true },
}

for (const [name, { log, what, isNote }] of Object.entries(untrue))
  t.test(`${name} is found`, async t => {
    const { faults, notes } = await verified(rewritten(log), { isDense: true })
    t.match(
      (isNote ? notes : faults).map(fault => fault.what),
      [what],
    )
  })

t.test('swapped logins are found where their names have no key', async t => {
  const old = await collect((await openLog(t, join(await copyFixtureLog(t, 1), 'log'))).readAll(BEFORE_FIRST))
  const links = old.filter(({ type }) => type === 'LoginLinked')
  const [one, other] = links as [RawEvent, RawEvent]
  const swapped = old.map(each =>
    each === one ? { ...each, data: other.data } : each === other ? { ...each, data: one.data } : each,
  )
  t.same((await verified(rewritten(old), { isDense: true })).faults, [])
  t.match((await verified(rewritten(swapped), { isDense: true })).faults, [
    { stream: one.stream, what: /was opened with another address/ },
    { stream: other.stream, what: /was opened with another address/ },
  ])
})

/** The events of each stream. */
function groupBy(all: RawEvent[]): Map<string, RawEvent[]> {
  const streams = new Map<string, RawEvent[]>()
  for (const event of all) streams.set(event.stream, [...(streams.get(event.stream) ?? []), event])
  return streams
}
