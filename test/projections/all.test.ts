import t from 'tap'
import { projections, type Unhandled } from '../../projections/all.ts'
import { events } from '../../schemas/events.ts'

t.test('every event type is handled or listed as unprojected', async t => {
  const handled = new Set(projections.flatMap(({ on }) => Object.keys(on)))
  const types = Object.values(events).flatMap(category => Object.keys(category))
  t.same(
    types.filter(type => !handled.has(type)),
    [
      ...['AccountSuspended', 'AccountResumed', 'LimitsSet'],
      ...['IdentityLinked', 'SessionOpened', 'SessionClosed', 'ProviderCostRecorded'],
      'NoticesSet',
      ...['WebhookSecretRotated', 'WebhookTestRequested', 'WebhookTested'],
      ...['FamilyPublished', 'FamilyRevised', 'FamilyWithdrawn'],
      ...['LoginInvited', 'LoginCodeRequested', 'LoginCodeTried', 'LoginLinked'],
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
