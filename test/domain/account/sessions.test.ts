import t from 'tap'
import type { AccountEvent } from '../../../schemas/account-events.ts'
import type { Identity } from '../../../schemas/identity.ts'
import { MAX_SESSIONS } from '../../../schemas/primitives.ts'
import { account } from '../../../src/domain/account/account.ts'
import {
  accountSuspended,
  createKey,
  opened,
  sessionClosed,
  sessionId,
  sessionOpened,
} from '../../support/account-samples.ts'
import { at, given, THEN_MS } from '../../support/given.ts'

const DAY_MS = 86_400_000

const open = (session = 1, replaces = 0) => ({
  ...({ type: 'OpenSession', sessionId: sessionId(session) } as const),
  expiresAt: new Date(THEN_MS + 30 * DAY_MS).toISOString(),
  ...(replaces > 0 && { replaces: sessionId(replaces) }),
})

const full = Array.from({ length: MAX_SESSIONS }, (_, index) => sessionOpened(index + 1))

const confirmed: AccountEvent = { type: 'SessionConfirmed', data: { sessionId: sessionId(1) } }

t.test('signing in opens a session in place of the earlier one of the browser', async () => {
  given(account, opened()).when(open()).then(sessionOpened())
  given(account, opened(), sessionOpened(1), sessionOpened(2))
    .when(open(3, 2))
    .then(sessionClosed(2, 'renewed'), sessionOpened(3))
  given(account, opened(), sessionOpened(1), sessionClosed(1)).when(open(3, 1)).then(sessionOpened(3))
})

t.test('the oldest of too many sessions ends', async t => {
  const crowded = given(account, opened(), ...full)
  crowded.when(open(90)).then(sessionClosed(1, 'displaced'), sessionOpened(90))
  crowded.when(open(90, 5)).then(sessionClosed(5, 'renewed'), sessionOpened(90))
  t.equal(crowded.state.sessions.size, MAX_SESSIONS)
})

t.test('a session can be closed once', async () => {
  const close = { type: 'CloseSession', sessionId: sessionId() } as const
  given(account, opened(), sessionOpened()).when(close).then(sessionClosed())
  given(account, opened(), sessionOpened(), sessionClosed()).when(close).refused('session_ended')
})

t.test('signing out everywhere closes the own session last', async () => {
  given(account, opened(), sessionOpened(1), sessionOpened(2), sessionOpened(3))
    .when({ type: 'CloseAllSessions', session: sessionId(2) })
    .then(...[1, 3, 2].map(number => sessionClosed(number, 'signed_out_everywhere')))
})

t.test('ending other sessions needs a code of the last hour, and the own session none', async () => {
  const HOUR_MS = 3_600_000
  const two = given(account, opened(), at(THEN_MS, sessionOpened(1)), at(THEN_MS, sessionOpened(2)))
  const session = sessionId(1)
  const others = [
    { type: 'CloseSession', sessionId: sessionId(2), session },
    { type: 'CloseAllSessions', session },
    { type: 'CloseAllSessions', exceptOwn: true, session },
  ] as const
  const own = { type: 'CloseSession', sessionId: session, session } as const
  for (const command of others) {
    two.when(command, THEN_MS + HOUR_MS).refused('fresh_code_required')
    const { decision } = two.when(command, THEN_MS + HOUR_MS - 1)
    t.ok('accept' in decision)
    given(account, opened(), at(THEN_MS, sessionOpened(1)), sessionOpened(2), accountSuspended())
      .when(command, THEN_MS + HOUR_MS)
      .then(...('accept' in decision ? decision.accept : []))
  }
  two.when(own, THEN_MS + HOUR_MS).then(sessionClosed(1))
  given(account, opened(), at(THEN_MS, sessionOpened(1)))
    .when({ type: 'CloseAllSessions', session }, THEN_MS + HOUR_MS)
    .then(sessionClosed(1, 'signed_out_everywhere'))
  two.when({ type: 'ConfirmSession', session }, THEN_MS + HOUR_MS).then(confirmed)
  given(account, opened(), at(THEN_MS, sessionOpened(1)), sessionOpened(2), at(THEN_MS + HOUR_MS, confirmed))
    .when({ type: 'CloseAllSessions', exceptOwn: true, session }, THEN_MS + 2 * HOUR_MS - 1)
    .then(sessionClosed(2, 'signed_out_everywhere'))
  given(account, opened()).when({ type: 'ConfirmSession' }).refused('session_ended')
})

t.test('whatever a session does is refused once it is closed, has expired or is made up', async () => {
  const bySession = { ...createKey(), session: sessionId() }
  const signedIn = given(account, opened(), sessionOpened())
  const { decision } = signedIn.when(bySession, THEN_MS + 30 * DAY_MS - 1)
  t.ok('accept' in decision)
  signedIn.when(bySession, THEN_MS + 30 * DAY_MS).refused('session_ended')
  given(account, opened(), sessionOpened(), sessionClosed()).when(bySession).refused('session_ended')
  given(account, opened()).when(bySession).refused('session_ended')
})

t.test('an identity is listed once, whatever its name', async () => {
  const telegram = (name: string): Identity => ({ kind: 'telegram', subject: '17', name })
  const linked = (identity: Identity): AccountEvent => ({ type: 'IdentityLinked', data: { identity } })
  given(account, opened())
    .when({ type: 'LinkIdentity', identity: telegram('Ada') })
    .then(linked(telegram('Ada')))
  given(account, opened(), linked(telegram('Ada')))
    .when({ type: 'LinkIdentity', identity: telegram('Ada L.') })
    .repeats('telegram')
})
