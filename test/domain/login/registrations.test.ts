import t from 'tap'
import type { RegistrationEvent, WelcomeWithheld } from '../../../schemas/registration-events.ts'
import { type AdmitRegistration, admittedWelcome, registrations } from '../../../src/domain/login/registrations.ts'
import { registrationSnapshots } from '../../../src/services/sign-in/admissions.ts'
import { digest } from '../../support/account-samples.ts'
import { at, given, THEN_MS } from '../../support/given.ts'

const DAY_MS = 86_400_000

const admitted = (login: string, welcomeMicros = 100): RegistrationEvent => ({
  type: 'RegistrationAdmitted',
  data: { login: digest(login), welcomeMicros },
})

const admit = (login: string, options: Partial<AdmitRegistration> = {}): AdmitRegistration => ({
  ...{ login: digest(login), welcomeMicros: 100, maxPerDay: 2, maxWelcomeMicrosPerDay: 1000 },
  maxWelcomesPerNetwork: 1000,
  ...options,
})

t.test('the registrations of a day are limited', async () => {
  given(registrations, admitted('a')).when(admit('b')).then(admitted('b'))
  const full = given(registrations, admitted('a'), admitted('b'))
  full.when(admit('c'), THEN_MS + 1000).refused('registrations_full', { retryAfterMs: DAY_MS - 1000 })
  full.when(admit('c'), THEN_MS + DAY_MS).then(admitted('c'))
})

const without = (login: string, withheld: WelcomeWithheld, network?: string): RegistrationEvent => ({
  type: 'RegistrationAdmitted',
  data: { login: digest(login), welcomeMicros: 0, ...(network && { network: digest(network) }), withheld },
})

t.test('beyond the welcome credits of a day, accounts open without them', async () => {
  const limits = { maxPerDay: 100, maxWelcomeMicrosPerDay: 250 }
  given(registrations, admitted('a')).when(admit('b', limits)).then(admitted('b'))
  const full = given(registrations, admitted('a'), admitted('b'))
  full.when(admit('c', limits)).then(without('c', 'day'))
  full.when(admit('c', { ...limits, welcomeMicros: 50 })).then(admitted('c', 50))
  full.when(admit('c', { ...limits, welcomeMicros: 0 })).then(admitted('c', 0))
  given(registrations, admitted('a'), without('b', 'day')).when(admit('c', limits)).then(admitted('c'))
})

t.test('some accounts of a network get welcome credits in a day', async () => {
  const limits = { maxPerDay: 1000, maxWelcomesPerNetwork: 2, network: digest('one') }
  const from = (event: RegistrationEvent) => ({ ...event, data: { ...event.data, network: digest('one') } })
  const full = given(registrations, from(admitted('a')), without('b', 'alias', 'one'), from(admitted('c')))
  full.when(admit('d', limits)).then(without('d', 'network', 'one'))
  full.when(admit('d', { ...limits, network: undefined })).then(admitted('d'))
  full.when(admit('d', limits), THEN_MS + DAY_MS).then(from(admitted('d')))
  given(registrations, from(admitted('a')), without('b', 'alias', 'one'))
    .when(admit('d', limits))
    .then(from(admitted('d')))
})

t.test('what is known before the limits holds, and counts toward none', async t => {
  given(registrations)
    .when(admit('a', { withheld: 'disposable' }))
    .then(without('a', 'disposable'))
  given(registrations)
    .when(admit('a', { withheld: 'alias', welcomeMicros: 0 }))
    .then(admitted('a', 0))
  const { state } = given(registrations, without('a', 'alias', 'one'), admitted('b'))
  t.same(admittedWelcome(state, digest('a')), { welcomeMicros: 0, withheld: 'alias' })
  t.same(admittedWelcome(state, digest('b')), { welcomeMicros: 100 })
  t.equal(admittedWelcome(state, digest('c')), undefined)
  const thawed = registrationSnapshots.thaw(JSON.parse(JSON.stringify(registrationSnapshots.freeze(state))))
  t.same(admittedWelcome(thawed, digest('a')), { welcomeMicros: 0, withheld: 'alias' })
  t.same(thawed.days[0]?.networks.get(digest('one')), { accounts: 1, welcomes: 0 })
})

t.test(
  'all networks of a provider may open a fifth of the accounts that are left, with credits for a fifth',
  async () => {
    const ofProvider = (index: number, welcomeMicros = 100): RegistrationEvent => ({
      type: 'RegistrationAdmitted',
      data: { ...admitted(`a ${index}`, welcomeMicros).data, network: digest(`${index}`), provider: digest('wide') },
    })
    const some = (count: number) => Array.from({ length: count }, (_, index) => ofProvider(index))
    const ask = (options: Partial<AdmitRegistration>) =>
      admit('next', {
        ...{ maxPerDay: 1000, maxWelcomeMicrosPerDay: 1e6, network: digest('next'), provider: digest('wide') },
        ...options,
      })
    const next = { ...admitted('next').data, network: digest('next'), provider: digest('wide') }
    const withCredits = { type: 'RegistrationAdmitted', data: next } as const
    const withNone = { ...withCredits, data: { ...next, welcomeMicros: 0, withheld: 'network' } } as const
    given(registrations, ...some(16))
      .when(ask({ maxPerDay: 100 }))
      .then(withCredits)
    given(registrations, ...some(17))
      .when(ask({ maxPerDay: 100 }))
      .refused('registrations_full', { retryAfterMs: DAY_MS, network: true })
    const credits = { maxWelcomeMicrosPerDay: 10_000 }
    given(registrations, ...some(16))
      .when(ask({ ...credits, maxWelcomesPerNetwork: 3 }))
      .then(withCredits)
    given(registrations, ...some(17))
      .when(ask({ ...credits, maxWelcomesPerNetwork: 3 }))
      .then(withNone)
    given(registrations, ...some(17))
      .when(ask({ ...credits, maxWelcomesPerNetwork: 18 }))
      .then(withCredits)
  },
)

t.test('a network may open a tenth of the accounts that are left, so none can use up a day', async t => {
  const from = (network: string, count: number, kind = network) =>
    Array.from({ length: count }, (_, index) => ({
      ...admitted(`${kind} ${index}`),
      data: { ...admitted(`${kind} ${index}`).data, network: digest(network) },
    }))
  const limits = { maxPerDay: 100, maxWelcomeMicrosPerDay: 1e6 }
  const ofShare = ['registrations_full', { retryAfterMs: DAY_MS, network: true }] as const
  const [next] = from('one', 1, 'next') as [RegistrationEvent]
  const ask = (network: string) => admit('next 0', { ...limits, network: digest(network) })
  given(registrations, ...from('one', 9))
    .when(ask('one'))
    .then(next)
  given(registrations, ...from('one', 10))
    .when(ask('one'))
    .refused(...ofShare)
  given(registrations, ...from('one', 8), ...from('two', 12))
    .when(ask('one'))
    .refused(...ofShare)
  given(registrations, ...from('one', 10))
    .when(admit('next 0', limits))
    .then(admitted('next 0'))
  const many = Array.from({ length: 90 }, (_, index) => from(`network ${index}`, 1)).flat()
  given(registrations, ...many)
    .when(ask('network 1'))
    .refused(...ofShare)
  given(registrations, ...many)
    .when(ask('one'))
    .then({ ...next })
  t.equal(given(registrations, ...many).state.days[0]?.networks.size, 90)
})

t.test('an identity counts once a day, so that a process that died can go on', async () => {
  given(registrations, admitted('a'), admitted('b')).when(admit('a')).repeats(digest('a'))
})

t.test('a clock that goes back does not start a day again, nor does one that is ahead at midnight', async () => {
  const full = [admitted('a'), admitted('b')]
  const ahead = at(THEN_MS + DAY_MS, admitted('c'))
  given(registrations, ...full, ahead)
    .when(admit('d'), THEN_MS + 1000)
    .refused('registrations_full', { retryAfterMs: DAY_MS - 1000 })
  const year = at(THEN_MS + 365 * DAY_MS, admitted('e'))
  given(registrations, ...full, year, ahead)
    .when(admit('d'), THEN_MS + 1000)
    .refused('registrations_full', { retryAfterMs: DAY_MS - 1000 })
  given(registrations, ...full, ahead, at(THEN_MS + DAY_MS, admitted('d')))
    .when(admit('e'), THEN_MS + DAY_MS)
    .refused('registrations_full', { retryAfterMs: DAY_MS })
})

t.test('only the days that were used last are kept', async t => {
  const days = Array.from({ length: 10 }, (_, day) => at(THEN_MS + day * DAY_MS, admitted('a')))
  const { state } = given(registrations, ...days)
  t.same(
    state.days.map(({ day, logins, welcomeMicros }) => [day - THEN_MS / DAY_MS, logins.size, welcomeMicros]),
    [9, 8, 7, 6].map(day => [day, 1, 100]),
  )
})
