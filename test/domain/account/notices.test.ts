import t from 'tap'
import type { AccountEvent } from '../../../schemas/account-events.ts'
import type { Identity } from '../../../schemas/identity.ts'
import { account } from '../../../src/domain/account/account.ts'
import {
  BALANCE_QUIET_MS,
  DEFAULT_NOTICES,
  debitNotices,
  MAX_PENDING_NOTICES,
  mailAddress,
} from '../../../src/domain/account/notices.ts'
import type { PastEvent } from '../../../src/domain/decider.ts'
import { unkeyedLoginOf } from '../../../src/domain/login/identity.ts'
import { toMicros } from '../../../src/domain/money.ts'
import {
  accepted,
  failed,
  granted,
  keyCreated,
  keyId,
  keyRevoked,
  keyWithBudget,
  openAccount,
  opened,
  queueRun,
  refunded,
  startedAtOnce,
  withdrawCredits,
  withdrawn,
} from '../../support/account-samples.ts'
import { at, by, given, THEN_MS } from '../../support/given.ts'
import {
  balanceLow,
  budgetUsed,
  keyExpiring,
  noticeAbandoned,
  noticeDelivered,
  noticeRaised,
  noticesSet,
  noticeUndelivered,
  raiseKeyExpiry,
  recordNoticeSent,
  recordNoticeUnsent,
  setNotices,
} from '../../support/notice-samples.ts'

type History = (AccountEvent | PastEvent<AccountEvent>)[]

const HOUR_MS = 60 * 60 * 1000
const DAY_MS = 24 * HOUR_MS

/** An account with notices by mail and that many credits. */
const account20 = (...history: History) => given(account, opened(), noticesSet(), granted(20), ...history)

const fall = [...accepted({ run: 1, credits: 15, after: 5 }), noticeRaised(1, balanceLow(5))]
const restore = [failed(1), refunded(15, { run: 1, after: 20 })]

t.test('a debit that takes the balance under the limit raises a notice in its append', async () => {
  const { when } = account20()
  when(queueRun({ credits: 10 })).then(...accepted({ after: 10 }))
  when(queueRun({ credits: 10.5 })).then(...accepted({ credits: 10.5, after: 9.5 }), noticeRaised(1, balanceLow(9.5)))
  const [debit, queueing] = accepted({ credits: 15, after: 5 }) as [AccountEvent, AccountEvent]
  const raised = noticeRaised(1, balanceLow(5))
  when(queueRun({ credits: 15, startNow: true })).then(debit, startedAtOnce(queueing), raised)
})

t.test('a withdrawal that takes the balance under the limit raises a notice', async () => {
  account20()
    .when(withdrawCredits(15, 'mistake'))
    .then(withdrawn(15, { reference: 'mistake', after: 5 }), noticeRaised(1, balanceLow(5)))
})

t.test('a balance that is low already raises no notice', async () => {
  account20(...fall)
    .when(queueRun({ run: 2, credits: 1 }))
    .then(...accepted({ run: 2, credits: 1, after: 4 }))
})

t.test('a grant that lifts the balance re-arms the notice at once', async () => {
  account20(...fall, granted(10, { after: 15 }))
    .when(queueRun({ run: 2, credits: 10 }))
    .then(...accepted({ run: 2, credits: 10, after: 5 }), noticeRaised(2, balanceLow(5)))
})

t.test('each fall raises a notice, of which the owner is told once an hour', async () => {
  const restored = account20(...fall, ...restore)
  const again = (sinceMs: number) => [queueRun({ run: 2, credits: 15 }), THEN_MS + sinceMs] as const
  const quiet = accepted({ run: 2, credits: 15, after: 5 })
  const untold = noticeRaised(2, balanceLow(5), {})
  restored.when(...again(0)).then(...quiet, untold)
  restored.when(...again(BALANCE_QUIET_MS - 1)).then(...quiet, untold)
  restored.when(...again(-60_000)).then(...quiet, untold)
  restored.when(...again(BALANCE_QUIET_MS)).then(...quiet, noticeRaised(2, balanceLow(5)))
  // A clock was ahead when the first notice was raised.
  restored.when(...again(-60_001)).then(...quiet, noticeRaised(2, balanceLow(5)))
  // Crossings that the owner is not told of do not extend the hour.
  const late = at(THEN_MS + BALANCE_QUIET_MS - 1, untold)
  account20(...fall, ...restore, ...quiet, late, failed(2), refunded(15, { run: 2, after: 20 }))
    .when(queueRun({ run: 3, credits: 15 }), THEN_MS + BALANCE_QUIET_MS)
    .then(...accepted({ run: 3, credits: 15, after: 5 }), noticeRaised(3, balanceLow(5)))
})

t.test('new settings re-arm the notice', async () => {
  account20(...fall, ...restore, noticesSet({ balanceUnderMicros: toMicros(6) }))
    .when(queueRun({ run: 2, credits: 15 }))
    .then(...accepted({ run: 2, credits: 15, after: 5 }), noticeRaised(2, balanceLow(5, 6)))
})

t.test('an account without notices, and one that wants none of its balance, has none', async t => {
  const run = accepted({ credits: 20, after: 0 })
  const budgeted = queueRun({ credits: 20, askedWith: 1 })
  given(account, opened(), granted(20), keyWithBudget(20))
    .when(budgeted)
    .then(...run)
  account20(noticesSet({ email: false }), keyWithBudget(20))
    .when(budgeted)
    .then(...run)
  account20(noticesSet({ balanceUnderMicros: 0 }))
    .when(queueRun({ credits: 20 }))
    .then(...run)
  t.same(given(account, opened(), granted(20)).state.notices, { email: false, balanceUnderMicros: 0 })
})

t.test('an account is opened with its notices', async t => {
  const command = { ...openAccount({ welcome: 0 }), notices: DEFAULT_NOTICES }
  const event = { type: 'AccountOpened', data: { ...opened().data, notices: DEFAULT_NOTICES } } as AccountEvent
  given(account).when(command).then(event)
  t.same(given(account, event).state.notices, DEFAULT_NOTICES)
})

t.test('a notice goes by mail, to the URL, or to nobody', async t => {
  const url = 'https://example.com/notices'
  const toOf = (...history: History) => {
    const [event] = debitNotices({ amountMicros: toMicros(15) }, given(account, ...history, granted(20)).state)
    return event?.type === 'NoticeRaised' && event.data.to
  }
  const email = true
  const telegram = { kind: 'telegram', subject: '1' } as const
  const byTelegram: AccountEvent = { type: 'AccountOpened', data: { ...opened().data, identity: telegram } as never }
  const linked: AccountEvent = {
    type: 'IdentityLinked',
    data: { identity: { kind: 'email', address: 'b@example.com' } },
  }
  t.same(toOf(opened(), linked, noticesSet()), { email })
  t.same(toOf(opened(), noticesSet({ url })), { email, url })
  t.same(toOf(opened(), noticesSet({ email: false, url })), { url })
  t.same(toOf(byTelegram, noticesSet()), {})
  t.same(toOf(byTelegram, linked, noticesSet()), { email })
})

const other = { kind: 'email', address: 'b@example.com' } as const
const linked = (identity: Identity): AccountEvent => ({ type: 'IdentityLinked', data: { identity } })

t.test('mail goes to the first e-mail identity, or to the one that was chosen', async t => {
  const { state, when } = given(account, opened(), linked(other))
  const chosen = { ...setNotices(), mailTo: other }
  t.equal(mailAddress(state), 'owner@example.com')
  when(chosen).then(noticesSet({ identityNumber: 1 }))
  t.equal(mailAddress({ ...state, notices: { ...DEFAULT_NOTICES, identityNumber: 1 } }), other.address)
  given(account, opened()).when(chosen).refused('notice_address_unlinked')
})

t.test('mail goes to the identity that an earlier version chose by its digest', async t => {
  const { state } = given(account, opened(), linked(other), noticesSet({ login: unkeyedLoginOf(other) }))
  t.equal(mailAddress(state), other.address)
})

/** The events of a run of a key, with the balance after it in credits. */
const spent = (run: number, credits: number, after: number, atMs = THEN_MS) =>
  accepted({ run, credits, after }).map(event => by(keyId(), atMs, event))

const budgeted = (...history: History) =>
  given(account, opened(), noticesSet(), granted(1000), keyWithBudget(100), ...history)

const ask = (credits: number, run = 9) => queueRun({ run, credits, askedWith: 1 })

t.test('a key that reaches 80 % and 100 % of its budget raises a notice for each', async () => {
  const { when } = budgeted(...spent(1, 70, 930))
  when(ask(9.999999)).then(...accepted({ run: 9, credits: 9.999999, after: 920.000001 }))
  when(ask(10)).then(...accepted({ run: 9, credits: 10, after: 920 }), noticeRaised(1, budgetUsed(80, 100)))
  budgeted(...spent(1, 80, 920), noticeRaised(1, budgetUsed(80, 100)))
    .when(ask(20))
    .then(...accepted({ run: 9, credits: 20, after: 900 }), noticeRaised(2, budgetUsed(100, 100)))
})

t.test('a debit that reaches both shares raises one notice, of the whole budget', async () => {
  budgeted(...spent(1, 50, 950))
    .when(ask(50))
    .then(...accepted({ run: 9, credits: 50, after: 900 }), noticeRaised(1, budgetUsed(100, 100)))
})

t.test('a share of a budget is told of once a period, whatever is refunded', async () => {
  const told = [...spent(1, 80, 920), noticeRaised(1, budgetUsed(80, 100))]
  const debit = { model: 'nano-banana-2', endpoint: 'nano-banana-2-t2i', keyId: keyId(), budgetPeriod: '2026-01-01' }
  const back = [failed(1), refunded(80, { run: 1, after: 1000, debit })]
  budgeted(...told, ...back)
    .when(ask(80))
    .then(...accepted({ run: 9, credits: 80, after: 920 }))
  const tomorrow = budgetUsed(80, 100, { firstDay: '2026-01-02', renewsAt: '2026-01-03T00:00:00.000Z' })
  budgeted(...told, ...back)
    .when(ask(80), THEN_MS + DAY_MS)
    .then(...accepted({ run: 9, credits: 80, after: 920 }), noticeRaised(2, tomorrow))
})

t.test('a debit may raise two notices, of the balance and of a budget', async () => {
  given(account, opened(), noticesSet(), granted(100), keyWithBudget(95))
    .when(ask(95))
    .then(
      ...accepted({ run: 9, credits: 95, after: 5 }),
      noticeRaised(1, balanceLow(5)),
      noticeRaised(2, budgetUsed(95, 95)),
    )
})

const expiresIn = (ms: number) => ({ expiresAt: new Date(THEN_MS + ms).toISOString() })

t.test('a key that expires is told of once, a week before', async () => {
  const month = expiresIn(30 * DAY_MS)
  const { when } = given(account, opened(), keyCreated(1, 'full', month))
  when(raiseKeyExpiry(), THEN_MS + 23 * DAY_MS - 1).refused('notice_not_due')
  const notice = noticeRaised(1, keyExpiring(month.expiresAt), {})
  when(raiseKeyExpiry(), THEN_MS + 23 * DAY_MS).then(notice)
  given(account, opened(), keyCreated(1, 'full', month), notice)
    .when(raiseKeyExpiry(), THEN_MS + 24 * DAY_MS)
    .refused('notice_not_due')
  given(account, opened(), keyCreated(1, 'full', month), keyRevoked())
    .when(raiseKeyExpiry(), THEN_MS + 24 * DAY_MS)
    .refused('notice_not_due')
})

t.test('a key that lives for a week, or does not expire, is not told of', async () => {
  for (const limits of [expiresIn(7 * DAY_MS), {}])
    given(account, opened(), keyCreated(1, 'full', limits))
      .when(raiseKeyExpiry(), THEN_MS + 100 * DAY_MS)
      .refused('notice_not_due')
})

t.test('an attempt is recorded once, and the last failed one abandons the delivery', async () => {
  const next = '2026-01-01T00:00:05.000Z'
  const { when } = account20(...fall)
  when(recordNoticeSent()).then(noticeDelivered())
  when(recordNoticeSent(2)).refused('notice_not_due')
  when(recordNoticeSent(1, { number: 2 })).refused('notice_not_due')
  when(recordNoticeSent(1, { channel: 'url' })).refused('notice_not_due')
  when(recordNoticeUnsent(1, next)).then(noticeUndelivered(1, next))
  when(recordNoticeUnsent(1)).then(noticeUndelivered(1), noticeAbandoned(1))
  account20(...fall, noticeUndelivered(1, next))
    .when(recordNoticeSent(2))
    .then(noticeDelivered(2))
  account20(...fall, noticeDelivered())
    .when(recordNoticeSent())
    .refused('notice_not_due')
  account20(...fall, noticeUndelivered(1), noticeAbandoned(1))
    .when(recordNoticeSent(2))
    .refused('notice_not_due')
})

t.test('a notice beyond the deliveries that may be pending is recorded, and goes to nobody', async t => {
  const falls = Array.from({ length: MAX_PENDING_NOTICES }, (_, index) => [
    at(THEN_MS, noticeRaised(index + 1, balanceLow(5))),
  ]).flat()
  const { state } = account20(...falls)
  t.equal(state.noticeDeliveries.size, MAX_PENDING_NOTICES)
  account20(...falls, granted(1, { after: 21 }))
    .when(queueRun({ run: 2, credits: 16 }))
    .then(...accepted({ run: 2, credits: 16, after: 5 }), noticeRaised(MAX_PENDING_NOTICES + 1, balanceLow(5), {}))
})

t.test('settings are replaced by those who may write', async () => {
  const url = 'https://example.com/notices'
  account20().when(setNotices({ url })).then(noticesSet({ url }))
  account20(keyCreated(1, 'read')).when(setNotices({}, 1)).refused('forbidden', { scope: 'read' })
  account20().when(setNotices({}, 1)).refused('key_revoked')
})
