import t from 'tap'
import { projections, type Unhandled } from '../../projections/all.ts'
import type { AccountEvent } from '../../schemas/account-events.ts'
import { events } from '../../schemas/events.ts'
import type { Recorded } from '../../schemas/recorded.ts'
import {
  accepted,
  completed,
  RECORDED_AT,
  recorded,
  started,
  startedAtOnce,
  tested,
} from '../support/account-samples.ts'

t.test('every event type is handled or listed as unprojected', async t => {
  const handled = new Set(projections.flatMap(({ on }) => Object.keys(on)))
  const types = Object.values(events).flatMap(category => Object.keys(category))
  t.same(
    types.filter(type => !handled.has(type)),
    [
      ...['AccountSuspended', 'AccountResumed', 'TesterSet', 'LimitsSet', 'RetentionSet'],
      ...['CreditsOwed', 'CreditsSettled'],
      ...['TopUpSet', 'TopUpRemoved'],
      ...['BudgetSet', 'BudgetRemoved'],
      ...['IdentityLinked', 'SessionOpened', 'SessionConfirmed', 'SessionClosed', 'ProviderCostRecorded'],
      'NoticesSet',
      ...['WebhookSecretRotated', 'WebhookTestRequested', 'WebhookTested'],
      ...['FamilyPublished', 'FamilyRevised', 'FamilyWithdrawn', 'PacksPublished'],
      ...['LoginInvited', 'LoginCodeRequested', 'LoginCodeTried', 'LoginLinked', 'LoginUnlinked'],
      ...['WelcomeDecided', 'RegistrationAdmitted'],
      ...['SealKeyAdopted', 'LogSealed'],
      ...['PeriodCloseRequested', 'PeriodClosed'],
      ...['AuditorKeyCreated', 'AuditorKeyRevoked', 'AuditorRead'],
      ...['ProviderDisabled', 'ProviderEnabled', 'BindingDisabled', 'BindingEnabled', 'BindingsOrdered'],
      'ProviderWaitEnded',
      ...['OperatorNoticeRaised', 'OperatorTroubleEnded', 'OperatorNoticeDelivered'],
      ...['OperatorNoticeAttemptFailed', 'OperatorNoticeAbandoned'],
    ],
  )
  t.same(
    [...handled].filter(type => !types.includes(type)),
    [],
  )
})

t.test('an event type that no projection handles does not compile', async t => {
  type Handling = { on: { Granted: unknown } } | { on: { Debited: unknown } }
  const none: Unhandled<Handling, 'Granted' | 'Debited'>[] = []
  const some: Unhandled<Handling, 'Granted' | 'Debited' | 'Withdrawn'>[] = ['Withdrawn']
  // @ts-expect-error: a handled type must not be listed
  const wrong: Unhandled<Handling, 'Granted' | 'Debited' | 'Withdrawn'>[] = ['Granted']
  t.same([none, some, wrong], [[], ['Withdrawn'], ['Granted']])
})

t.test('projections have unique names', async t => {
  const names = projections.map(({ name }) => name)
  t.equal(new Set(names).size, names.length)
})

t.test('a run that starts at once has the rows of one that has waited', async t => {
  const [debit, queueing] = accepted({ after: 90, webhook: true, key: 'a', metadata: { order: 7 } })
  for (const [before, acceptance] of [
    [[debit as AccountEvent], queueing as AccountEvent],
    [[], tested({ webhook: true })],
  ] as const)
    for (const end of [[], [completed()]]) {
      const rows = rowsAfter([...before, startedAtOnce(acceptance), ...end])
      t.same(rows, rowsAfter([...before, acceptance, started(), ...end]))
      t.match(rows['webhooks'], { status: end.length > 0 ? 'pending' : 'waiting' })
    }
})

/** The row that each projection keeps of these events, which are all about one run. */
const rowsAfter = (happened: AccountEvent[]): Record<string, object | undefined> => {
  const rows: Record<string, object | undefined> = {}
  const metadata = { at: RECORDED_AT, actor: { kind: 'service' } }
  for (const event of happened.map(each => ({ ...recorded(each), metadata }) as Recorded))
    for (const { name, key, on } of projections) {
      const evolve = on[event.type]
      if (name !== 'balance' && evolve && key(event) !== undefined) rows[name] = evolve(rows[name], event)
    }
  return rows
}
