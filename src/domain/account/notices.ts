import type { AccountEvent } from '../../../schemas/account-events.ts'
import { NOTICE_DAYS, type Notice, type NoticeChannel, type NoticeSettings } from '../../../schemas/notice-events.ts'
import type { KeyId } from '../../../schemas/primitives.ts'
import { DAY_MS } from '../days.ts'
import { accept } from '../decider.ts'
import { isSameIdentity, unkeyedLoginOf } from '../login/identity.ts'
import { type Decided, refuse } from '../refusal.ts'
import { reachedShare } from './budgets.ts'
import type { RecordNotice, Retirement, SetNotices } from './commands.ts'
import { writeRefusal } from './keys.ts'
import { areSame } from './limits.ts'
import { type AccountState, CLOCK_TOLERANCE_MS } from './state.ts'

/** The settings of a new account: mail to the address that opened it, once a tenth of the welcome credits is left. */
export const DEFAULT_NOTICES: NoticeSettings = { email: true, balanceUnderMicros: 10_000_000 }

/**
 * Failed runs are refunded, so a balance at the limit may cross it many times a second. Each crossing is an event, but
 * the owner gets the next notice only after an hour, or after a grant.
 */
export const BALANCE_QUIET_MS = 60 * 60 * 1000

/** Deliveries of an account that may be pending. Further notices are recorded, but not delivered. */
export const MAX_PENDING_NOTICES = 200

export const setNotices = (
  { keyId, settings, mailTo }: SetNotices,
  state: AccountState,
  atMs: number,
): Decided<AccountEvent> => {
  const refusal = writeRefusal(keyId, state, atMs)
  if (refusal) return refusal
  const identityNumber = mailTo && state.identities.findIndex(identity => isSameIdentity(identity, mailTo))
  if (identityNumber === -1) return refuse('notice_address_unlinked')
  const data = { ...settings, ...(identityNumber !== undefined && { identityNumber }) }
  return accept(areSame(data, state.notices) ? [] : [{ type: 'NoticesSet', data }])
}

/** The address that mail goes to; undefined if the account has no e-mail identity. */
export const mailAddress = ({
  notices: { identityNumber, login },
  identities,
}: Pick<AccountState, 'notices' | 'identities'>): string | undefined =>
  (identityNumber === undefined ? identities : identities.slice(identityNumber, identityNumber + 1))
    .filter(identity => identity.kind === 'email')
    .find(identity => login === undefined || unkeyedLoginOf(identity) === login)?.address

/** The notices that a debit calls for, for its append. `atMs` is missing where no time matters. */
export const debitNotices = (
  { keyId, amountMicros, atMs }: { keyId?: KeyId | undefined; amountMicros: number; atMs?: number },
  state: AccountState,
): AccountEvent[] => {
  const { email, url, balanceUnderMicros: underMicros } = state.notices
  if (!email && url === undefined) return []
  const share = atMs === undefined ? undefined : reachedShare(keyId, amountMicros, atMs, state)
  const balanceMicros = state.balanceMicros - amountMicros
  const notices: Notice[] = []
  if (state.balanceMicros >= underMicros && balanceMicros < underMicros)
    notices.push({ kind: 'balance_low', balanceMicros, underMicros })
  if (share) {
    const { percent, firstDay: budgetPeriod, spentMicros, budgetMicros, renewsAt } = share
    const kind = percent === 100 ? 'budget_exhausted' : 'budget_warning'
    notices.push({ kind, keyId: keyId as KeyId, budgetPeriod, spentMicros, budgetMicros, renewsAt })
  }
  const isUntold = (notice: Notice) => notice.kind === 'balance_low' && isQuiet(state, atMs)
  return notices.map((notice, index) => noticeRaised(state, notice, index, isUntold(notice)))
}

/** Raises the notice that a key expires, once for each key. With notices off, it reaches no channel. */
export const raiseKeyExpiry = (
  { keyId }: { keyId: KeyId },
  state: AccountState,
  atMs: number,
): Decided<AccountEvent> => {
  const { expiresAt, expiryNoticeAt } = state.activeKeys.get(keyId) ?? {}
  if (expiresAt === undefined || expiryNoticeAt === undefined || atMs < Date.parse(expiryNoticeAt))
    return refuse('notice_not_due')
  return accept([noticeRaised(state, { kind: 'key_expiring', keyId, expiresAt })])
}

/** Counts each attempt once, even if two processes made it at the same time. */
export const recordNotice = (
  { number, channel, attempt, outcome }: RecordNotice,
  { noticeDeliveries }: AccountState,
): Decided<AccountEvent> => {
  const delivery = { number, channel }
  const before = noticeDeliveries.get(deliveryOf(delivery))
  if (before === undefined || attempt !== before + 1) return refuse('notice_not_due')
  const { delivered, ...facts } = outcome
  if (delivered) return accept([{ type: 'NoticeDelivered', data: { ...delivery, attempt, ...facts } }])
  const failure = facts as Omit<Extract<RecordNotice['outcome'], { delivered: false }>, 'delivered'>
  return accept([
    { type: 'NoticeAttemptFailed', data: { ...delivery, attempt, ...failure } },
    ...(failure.nextAttemptAt === undefined ? [abandoned(delivery, attempt)] : []),
  ])
}

/** Names a delivery in the state. */
export const deliveryOf = ({ number, channel }: { number: number; channel: NoticeChannel }): string =>
  `${number}/${channel}`

/** The delivery of a name in the state. */
export const noticeDeliveryIn = (name: string) => {
  const [number = '', channel] = name.split('/')
  return { number: Number(number), channel: channel as NoticeChannel }
}

/** Whether the owner just got a notice of a low balance. A future time is void: a clock was set back since. */
const isQuiet = ({ balanceLowAtMs }: AccountState, atMs: number | undefined): boolean => {
  if (balanceLowAtMs === undefined || atMs === undefined) return false
  const sinceMs = atMs - balanceLowAtMs
  return sinceMs < BALANCE_QUIET_MS && sinceMs >= -CLOCK_TOLERANCE_MS
}

/**
 * `index` is the number of other notices in the append before it. The receipt of a withdrawal is mailed whatever the
 * settings say, since the law requires it.
 */
export const noticeRaised = (state: AccountState, notice: Notice, index = 0, isUntold = false): AccountEvent => {
  const { notices, noticesRaised, noticeDeliveries } = state
  const { email, url } = notices
  const isReceipt = notice.kind === 'withdrawal_received'
  const to = {
    ...((email || isReceipt) && mailAddress(state) !== undefined && { email: true as const }),
    ...(url !== undefined && { url }),
  }
  const hasNone = isUntold || (noticeDeliveries.size >= MAX_PENDING_NOTICES && !isReceipt)
  return { type: 'NoticeRaised', data: { number: noticesRaised + 1 + index, notice, to: hasNone ? {} : to } }
}

const abandoned = (delivery: { number: number; channel: NoticeChannel }, attempts: number): AccountEvent => ({
  type: 'NoticeAbandoned',
  data: { ...delivery, attempts },
})

/** Raises the notice that a model retires: once at each step, and only for an account with notices. */
export const raiseRetirement = (
  { retirement }: { retirement: Retirement },
  state: AccountState,
  atMs: number,
): Decided<AccountEvent> => {
  const { email, url } = state.notices
  const days = noticeStep(retirement.retiresAt, atMs)
  const told = state.retirementsTold.get(nameOf(retirement))
  if ((!email && url === undefined) || days === undefined || (told !== undefined && told <= days))
    return refuse('notice_not_due')
  return accept([noticeRaised(state, { kind: 'model_retiring', ...retirement, days })])
}

/** The last step of each retirement that had a notice, without models that have retired by then. */
export const markRetirementNotice = (
  { retirementsTold }: AccountState,
  { days, ...retirement }: Retirement & { days: number },
  atMs: number,
): AccountState['retirementsTold'] =>
  retirementsTold.filter((_, name) => timeIn(name) > atMs).set(nameOf(retirement), days)

/** The step that has been reached before an end, in days before it; undefined before the first and after the end. */
export const noticeStep = (endsAt: string, atMs: number): number | undefined => {
  const leftMs = Date.parse(endsAt) - atMs
  return leftMs > 0 ? NOTICE_DAYS.find(days => leftMs <= days * DAY_MS) : undefined
}

const nameOf = ({ model, retiresAt }: Pick<Retirement, 'model' | 'retiresAt'>) => `${model} ${retiresAt}`

const timeIn = (name: string) => Date.parse(name.slice(name.indexOf(' ') + 1))
