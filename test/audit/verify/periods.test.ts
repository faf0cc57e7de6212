import t from 'tap'
import type { RawEvent } from '../../../schemas/recorded.ts'
import { makeLink } from '../../support/links.ts'
import { clockAt, openPeriodWorld, operator } from '../../support/period-world.ts'
import { unwrap } from '../../support/unwrap.ts'
import { verified } from '../../support/verified.ts'

// October and November were closed one after the other.
const { all, open, grant, startSealer, periodsAt } = await openPeriodWorld(t)
const clock = clockAt('11-02T12:00')
startSealer(clock)
const account = await open(clockAt('10-20T12:00'), 'eve')
unwrap(await periodsAt(clock).close(operator, '2026-10'))
await grant(clockAt('10-31T12:00'), account, 'late')
clock.advance(30 * 86_400_000)
unwrap(await periodsAt(clock).close(operator, '2026-11'))
const events = await all()

const [october, november] = events.filter(({ type }) => type === 'PeriodClosed') as [RawEvent, RawEvent]
const [first, second] = events.filter(({ type }) => type === 'LogSealed') as [RawEvent, RawEvent]

/** The faults of the stream of periods, in a log that somebody wrote with new links. */
const faultsOf = async (log: RawEvent[]): Promise<string[]> => {
  let head: string | undefined
  let revision = 0
  const rewritten = log.map((event, position) => {
    if (event.stream !== 'periods') return { ...event, position }
    const moved = { ...event, position, revision: revision++ }
    head = makeLink(head, moved).link
    return { ...moved, metadata: { ...(event.metadata as object), hash: head } }
  })
  const { faults } = await verified(rewritten, { isDense: true })
  return faults.filter(({ stream }) => stream === 'periods').map(({ what }) => what)
}

const withData = (event: RawEvent, change: object) =>
  events.map(each => (each === event ? { ...each, data: { ...(each.data as object), ...change } } : each))
const sealOf = ({ data }: RawEvent) => (data as { seal: { number: number; link: string; events: number } }).seal

t.test('months that were closed in order have no fault', async t => {
  const { faults, notes } = await verified(events, { isDense: true })
  t.same([faults, notes], [[], []])
  t.same(await faultsOf(events), [])
})

const faults: Record<string, { log: RawEvent[]; what: RegExp }> = {
  'a month that is closed twice': {
    log: [...events, { ...november, id: '00000000-0000-4000-8000-000000000000' }],
    what: /^2026-11 was closed before, with 2026-11$/,
  },
  'an earlier month that is closed later': {
    log: withData(november, { period: '2026-09' }),
    what: /^2026-09 was closed before, with 2026-10$/,
  },
  'a seal with another link': {
    log: withData(november, { seal: { ...sealOf(november), link: 'a'.repeat(64) } }),
    what: /^the log does not hold its seal \d+ with the link a{64} before it$/,
  },
  'a seal that comes later': {
    log: withData(october, { seal: sealOf(november) }),
    what: /^the log does not hold its seal \d+ with the link \w+ before it$/,
  },
  'a seal of another extent': {
    log: withData(november, { seal: { ...sealOf(november), events: sealOf(november).events - 1 } }),
    what: /^its seal covers \d+ events, and not the \d+ that it names$/,
  },
  'a seal from before the end of the month': {
    log: withData(november, { seal: sealOf(october) }),
    what: /^its seal \d+ was made at 2026-11-02T12:00:00.000Z, before the end of 2026-11$/,
  },
  'a month that is closed before its end': {
    log: withData(november, { period: '2026-12' }),
    what: /^its seal \d+ was made at 2026-12-02T12:00:00.000Z, before the end of 2026-12$/,
  },
  'a later month with an earlier seal': {
    log: events
      .map(event =>
        event === october ? { ...november, data: { ...(november.data as object), period: '2026-10' } } : event,
      )
      .map(event =>
        event === november ? { ...november, data: { ...(november.data as object), seal: sealOf(october) } } : event,
      ),
    what: /^its seal covers \d+ events, and that of 2026-10 \d+$/,
  },
}

for (const [name, { log, what }] of Object.entries(faults))
  t.test(`${name} is found in a rewritten log`, async t => {
    const found = await faultsOf(log)
    t.ok(
      found.some(each => what.test(each)),
      found.join('; '),
    )
  })

t.test('the seals differ in what they cover', async t => {
  t.ok(sealOf(october).events < sealOf(november).events)
  t.same([sealOf(october).number, sealOf(november).number], [first.revision, second.revision])
})
