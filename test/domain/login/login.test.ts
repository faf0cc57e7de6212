import t from 'tap'
import type { LoginEvent } from '../../../schemas/login-events.ts'
import { CODE_WINDOW_MS, type LoginCommand, login, MAX_CODES, MAX_TRIES } from '../../../src/domain/login/login.ts'
import { accountId, digest } from '../../support/account-samples.ts'
import { at, given, THEN_MS } from '../../support/given.ts'

const CODE_MS = 600_000

const codeId = (number = 1) => `00000000-0000-4000-8000-${String(number).padStart(12, '0')}`
const expiresAt = new Date(THEN_MS + CODE_MS).toISOString()
const facts = (number = 1, hash = digest('a')) => ({ codeId: codeId(number), hash, expiresAt })

const requested = (number = 1, linkTo?: number): LoginEvent => ({
  type: 'LoginCodeRequested',
  data: { ...facts(number), ...(linkTo !== undefined && { linkTo: accountId(linkTo) }) },
})
const tried = (correct: boolean, number = 1): LoginEvent => ({
  type: 'LoginCodeTried',
  data: { codeId: codeId(number), correct },
})
const linked: LoginEvent = { type: 'LoginLinked', data: { accountId: accountId() } }

const request = (number = 1): LoginCommand => ({ type: 'RequestCode', ...facts(number) })
const tryCode = ({ hash = digest('a'), number = 1, linkTo = 0 } = {}): LoginCommand => ({
  ...{ type: 'TryCode', hash, codeId: codeId(number) },
  ...(linkTo > 0 && { linkTo: accountId(linkTo) }),
})

t.test('an identity is linked once', async () => {
  const link = { type: 'LinkLogin', accountId: accountId() } as const
  given(login).when(link).then(linked)
  given(login, linked).when(link).refused('account_exists')
  given(login, linked)
    .when({ ...link, accountId: accountId(2) })
    .refused('account_exists')
})

t.test('an unlinked identity may be linked to another account, and is unlinked once', async () => {
  const unlink = { type: 'UnlinkLogin', accountId: accountId() } as const
  const unlinked: LoginEvent = { type: 'LoginUnlinked', data: { accountId: accountId() } }
  given(login, linked).when(unlink).then(unlinked)
  given(login).when(unlink).repeats('unlinking')
  given(login, linked, unlinked).when(unlink).repeats('unlinking')
  given(login, linked)
    .when({ ...unlink, accountId: accountId(2) })
    .repeats('unlinking')
  const data = { accountId: accountId(2) }
  given(login, linked, unlinked)
    .when({ type: 'LinkLogin', ...data })
    .then({ type: 'LoginLinked', data })
})

t.test('no spelling of an unlinked identity gets a welcome', async () => {
  const unlinked: LoginEvent = { type: 'LoginUnlinked', data: { accountId: accountId() } }
  for (const [spelling, isAlias] of [
    ['a', false],
    ['b', true],
  ] as const)
    given(login, linked, unlinked).when(decide(spelling, { isAlias })).then(decided(spelling, 0))
})

t.test('an identity is invited once, and not if it has an account', async () => {
  const invited: LoginEvent = { type: 'LoginInvited', data: {} }
  given(login).when({ type: 'InviteLogin' }).then(invited)
  given(login, invited).when({ type: 'InviteLogin' }).repeats('invitation')
  given(login, linked).when({ type: 'InviteLogin' }).refused('account_exists')
})

const decided = (login: string, welcomeMicros = 100): LoginEvent => ({
  type: 'WelcomeDecided',
  data: { login: digest(login), welcomeMicros, ...(welcomeMicros === 0 && { withheld: 'alias' }) },
})
const decide = (login: string, welcome = {}): LoginCommand => ({
  ...{ type: 'DecideWelcome', login: digest(login), isAlias: true, welcomeMicros: 100 },
  ...welcome,
})

t.test('of all spellings of an identity, the first gets the welcome, and each decision holds', async t => {
  given(login).when(decide('a')).then(decided('a'))
  given(login, decided('a')).when(decide('a')).repeats(digest('a'))
  given(login, decided('a')).when(decide('b')).then(decided('b', 0))
  given(login, decided('a'), decided('b', 0)).when(decide('b')).repeats(digest('b'))
  given(login, decided('b', 0)).when(decide('c')).then(decided('c'))
  const many = Array.from({ length: 100 }, (_, index) => decided(`${index}`, index === 0 ? 100 : 0))
  given(login, ...many)
    .when(decide('b'))
    .then(decided('b', 0))
  t.equal(given(login, ...many).state.welcomes.length, 20)
})

t.test('a welcome that is withheld for another reason leaves it to another spelling', async () => {
  const data = { login: digest('a'), welcomeMicros: 0, withheld: 'network' } as const
  given(login)
    .when(decide('a', { welcomeMicros: 0, withheld: 'network' }))
    .then({ type: 'WelcomeDecided', data })
  given(login, { type: 'WelcomeDecided', data }).when(decide('b')).then(decided('b'))
})

t.test('another spelling of an identity that has an account gets no welcome', async () => {
  given(login, linked).when(decide('b')).then(decided('b', 0))
  given(login, linked)
    .when(decide('a', { isAlias: false }))
    .then(decided('a'))
})

t.test('a code works once', async () => {
  given(login, requested()).when(tryCode()).then(tried(true))
  given(login, requested(), tried(true)).when(tryCode()).refused('code_not_valid', { reason: 'used' })
})

t.test('a wrong code is recorded, and after five of them none is tried', async () => {
  const wrong = tryCode({ hash: digest('b') })
  given(login, requested()).when(wrong).then(tried(false))
  const four = Array.from({ length: MAX_TRIES - 1 }, () => tried(false))
  given(login, requested(), ...four)
    .when(tryCode())
    .then(tried(true))
  given(login, requested(), ...four, tried(false))
    .when(tryCode())
    .refused('code_not_valid', { reason: 'tries' })
})

t.test('the tries of one code do not count for another', async () => {
  const five = Array.from({ length: MAX_TRIES }, () => tried(false, 1))
  given(login, requested(1), requested(2), ...five)
    .when(tryCode({ number: 2 }))
    .then(tried(true, 2))
})

t.test('an expired or unknown code is not tried', async () => {
  given(login, requested())
    .when(tryCode(), THEN_MS + CODE_MS - 1)
    .then(tried(true))
  given(login, requested())
    .when(tryCode(), THEN_MS + CODE_MS)
    .refused('code_not_valid', { reason: 'expired' })
  given(login, requested())
    .when(tryCode({ number: 2 }))
    .refused('code_not_valid', { reason: 'unknown' })
})

t.test('a code to link an identity signs nobody in, and links it only to the account that requested it', async () => {
  given(login, requested(1, 7)).when(tryCode()).refused('code_not_valid', { reason: 'unknown' })
  given(login, requested(1, 7))
    .when(tryCode({ linkTo: 8 }))
    .refused('code_not_valid', { reason: 'unknown' })
  given(login, requested(1, 7))
    .when(tryCode({ linkTo: 7 }))
    .then(tried(true))
  given(login, requested())
    .when(tryCode({ linkTo: 7 }))
    .refused('code_not_valid', { reason: 'unknown' })
})

t.test('an identity gets five codes in any hour', async t => {
  const codes = Array.from({ length: MAX_CODES }, (_, index) => at(THEN_MS + index * 1000, requested(index + 1)))
  const atMs = THEN_MS + 60_000
  given(login, ...codes.slice(1))
    .when(request(9), atMs)
    .then(requested(9))
  const full = given(login, ...codes)
  full.when(request(9), atMs).refused('too_many_codes', { retryAfterMs: CODE_WINDOW_MS - 60_000 })
  full.when(request(9), THEN_MS + CODE_WINDOW_MS).then(requested(9))
  t.equal(given(login, ...codes, at(THEN_MS + CODE_WINDOW_MS, requested(9))).state.codes.length, MAX_CODES)
})

t.test('the browsers of its owner get five more, which strangers cannot use up', async () => {
  const known = (number: number): LoginEvent => ({
    type: 'LoginCodeRequested',
    data: { ...facts(number), known: true },
  })
  const inBrowserOf = (account: number): LoginCommand =>
    ({ ...request(9), browserOf: accountId(account) }) as LoginCommand
  const strangers = Array.from({ length: MAX_CODES }, (_, index) => requested(index))
  const owners = Array.from({ length: MAX_CODES }, (_, index) => known(MAX_CODES + index))
  const full = ['too_many_codes', { retryAfterMs: CODE_WINDOW_MS }] as const
  const locked = given(login, linked, ...strangers)
  locked.when(inBrowserOf(1)).then(known(9))
  locked.when(inBrowserOf(2)).refused(...full)
  const signedIn = (account: number): LoginCommand => ({ ...request(9), linkTo: accountId(account) }) as LoginCommand
  locked.when(signedIn(1)).then({ ...known(9), data: { ...known(9).data, linkTo: accountId(1) } } as LoginEvent)
  locked.when(signedIn(2)).refused(...full)
  locked.when(request(9)).refused(...full)
  given(login, linked, ...strangers, ...owners)
    .when(inBrowserOf(1))
    .refused(...full)
  given(login, linked, ...owners)
    .when(request(9))
    .then(requested(9))
  given(login, linked, ...strangers, ...owners)
    .when(tryCode({ number: 0 }))
    .then(tried(true, 0))
})

t.test('a browser of an account is not known to an identity that has none', async () => {
  given(login)
    .when({ ...request(9), browserOf: accountId() } as LoginCommand)
    .then(requested(9))
})

t.test('used codes count too', async () => {
  const used = Array.from({ length: MAX_CODES }, (_, index) => [requested(index), tried(true, index)]).flat()
  given(login, ...used)
    .when(request(9))
    .refused('too_many_codes', { retryAfterMs: CODE_WINDOW_MS })
})

t.test('a clock that was set back by more than a minute does not lock an identity out', async () => {
  const ahead = Array.from({ length: MAX_CODES }, (_, index) => at(THEN_MS + 10 * CODE_WINDOW_MS, requested(index)))
  given(login, ...ahead)
    .when(request(9))
    .then(requested(9))
})
