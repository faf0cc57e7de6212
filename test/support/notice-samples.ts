import type { AccountEvent } from '../../schemas/account-events.ts'
import type { Notice, NoticeChannel, NoticeSettings } from '../../schemas/notice-events.ts'
import type { AccountCommand, Retirement } from '../../src/domain/account/commands.ts'
import { DEFAULT_NOTICES } from '../../src/domain/account/notices.ts'
import { toMicros } from '../../src/domain/money.ts'
import { keyId } from './account-samples.ts'
import { THEN_MS } from './given.ts'

export const mailTo = { email: true }

export const setNotices = (settings: Partial<NoticeSettings> = {}, askedWith?: number) =>
  ({
    type: 'SetNotices',
    ...(askedWith !== undefined && { keyId: keyId(askedWith) }),
    settings: { ...DEFAULT_NOTICES, ...settings },
  }) satisfies AccountCommand

export const raiseKeyExpiry = (key = 1) => ({ type: 'RaiseKeyExpiry', keyId: keyId(key) }) satisfies AccountCommand

export const recordNoticeSent = (attempt = 1, { number = 1, channel = 'email' as NoticeChannel } = {}) =>
  ({ type: 'RecordNotice', number, channel, attempt, outcome: { delivered: true } }) satisfies AccountCommand

/** Without a next attempt, it is the last one. */
export const recordNoticeUnsent = (attempt = 1, next?: string, channel: NoticeChannel = 'email') =>
  ({
    type: 'RecordNotice',
    ...{ number: 1, channel, attempt },
    outcome: { delivered: false, reason: 'no', ...(next !== undefined && { nextAttemptAt: next }) },
  }) satisfies AccountCommand

export const noticesSet = (settings: Partial<NoticeSettings> = {}): AccountEvent => ({
  type: 'NoticesSet',
  data: { ...DEFAULT_NOTICES, ...settings },
})

export const noticeRaised = (number: number, notice: Notice, to: object = mailTo): AccountEvent => ({
  type: 'NoticeRaised',
  data: { number, notice, to },
})

/** The balance after the debit, in credits. */
export const balanceLow = (credits: number, under = 10): Notice => ({
  kind: 'balance_low',
  balanceMicros: toMicros(credits),
  underMicros: toMicros(under),
})

export const budgetUsed = (
  spent: number,
  of: number,
  { firstDay = '2026-01-01', renewsAt = '2026-01-02T00:00:00.000Z', key = 1 } = {},
): Notice => ({
  kind: spent === of ? 'budget_exhausted' : 'budget_warning',
  keyId: keyId(key),
  budgetPeriod: firstDay,
  spentMicros: toMicros(spent),
  budgetMicros: toMicros(of),
  renewsAt,
})

export const keyExpiring = (expiresAt: string, key = 1): Notice => ({
  kind: 'key_expiring',
  keyId: keyId(key),
  expiresAt,
})

/** A model that retires so many days after the default time of events. */
export const retirementIn = (days: number): Retirement => ({
  model: 'lumen',
  endpoints: ['lumen-t2i'],
  retiresAt: new Date(THEN_MS + days * 24 * 60 * 60 * 1000).toISOString(),
})

export const raiseRetirement = (retirement: Retirement) =>
  ({ type: 'RaiseRetirement', retirement }) satisfies AccountCommand

export const modelRetiring = (retirement: Retirement, days: number): Notice => ({
  kind: 'model_retiring',
  ...retirement,
  days,
})

export const noticeDelivered = (attempt = 1, number = 1, channel: NoticeChannel = 'email'): AccountEvent => ({
  type: 'NoticeDelivered',
  data: { number, channel, attempt },
})

export const noticeUndelivered = (
  attempt = 1,
  next?: string,
  { number = 1, channel = 'email' as NoticeChannel } = {},
): AccountEvent => ({
  type: 'NoticeAttemptFailed',
  data: { number, channel, attempt, reason: 'no', ...(next !== undefined && { nextAttemptAt: next }) },
})

export const noticeAbandoned = (attempts: number, number = 1, channel: NoticeChannel = 'email'): AccountEvent => ({
  type: 'NoticeAbandoned',
  data: { number, channel, attempts },
})
