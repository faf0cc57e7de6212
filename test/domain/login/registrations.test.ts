import t from 'tap'
import type { RegistrationEvent } from '../../../schemas/registration-events.ts'
import { type AdmitRegistration, registrations } from '../../../src/domain/login/registrations.ts'
import { digest } from '../../support/account-samples.ts'
import { at, given, THEN_MS } from '../../support/given.ts'

const DAY_MS = 86_400_000

const admitted = (login: string, welcomeMicros = 100): RegistrationEvent => ({
  type: 'RegistrationAdmitted',
  data: { login: digest(login), welcomeMicros },
})

const admit = (login: string, options: Partial<AdmitRegistration> = {}): AdmitRegistration => ({
  ...{ login: digest(login), welcomeMicros: 100, atMs: THEN_MS + 1000, maxPerDay: 2, maxWelcomeMicrosPerDay: 1000 },
  ...options,
})

t.test('a day takes so many registrations', async () => {
  given(registrations, admitted('a')).when(admit('b')).then(admitted('b'))
  const full = given(registrations, admitted('a'), admitted('b'))
  full.when(admit('c')).refused('registrations_full', { retryAfterMs: DAY_MS - 1000 })
  full.when(admit('c', { atMs: THEN_MS + DAY_MS })).then(admitted('c'))
})

t.test('a day takes so many welcome credits', async () => {
  const limits = { maxPerDay: 100, maxWelcomeMicrosPerDay: 250 }
  given(registrations, admitted('a')).when(admit('b', limits)).then(admitted('b'))
  const full = given(registrations, admitted('a'), admitted('b'))
  full.when(admit('c', limits)).refused('registrations_full', { retryAfterMs: DAY_MS - 1000 })
  full.when(admit('c', { ...limits, welcomeMicros: 50 })).then(admitted('c', 50))
})

t.test('an identity counts once a day, so that a process that died can go on', async t => {
  given(registrations, admitted('a'), admitted('b')).when(admit('a')).repeats(digest('a'))
  const { state } = given(registrations, admitted('a'), at(THEN_MS + DAY_MS, admitted('b')))
  t.match(state, { day: (THEN_MS + DAY_MS) / DAY_MS, welcomeMicros: 100 })
  t.equal(state.logins.size, 1, 'only the last day is kept')
})
