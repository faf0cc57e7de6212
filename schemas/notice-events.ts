import { type Static, Type } from 'typebox'
import {
  Attempt,
  AttemptReason,
  Closed,
  Day,
  HttpStatus,
  KeyId,
  Micros,
  OneOf,
  PositiveMicros,
  PurchaseId,
  Sha256,
  Slug,
  Tagged,
  Timestamp,
} from './primitives.ts'
import { Money } from './purchase-events.ts'

/**
 * The notices of an account, and their destinations: mail, a URL, or both. `identityNumber` is the identity that
 * gets mail: its number in the order in which the account got its identities, from 0. In events of earlier versions,
 * `login` is the digest of this identity. Without both, the first e-mail identity gets mail. A limit of 0 means no
 * notices of the balance, since a balance is never negative.
 */
export const NoticeSettings = Closed({
  email: Type.Boolean(),
  identityNumber: Type.Optional(Type.Integer({ minimum: 0 })),
  login: Type.Optional(Sha256),
  url: Type.Optional(Type.String()),
  balanceUnderMicros: Micros,
})
export type NoticeSettings = Static<typeof NoticeSettings>

/** Replaces all earlier settings. */
export const NoticesSet = NoticeSettings

const budgetUse = {
  keyId: KeyId,
  /** The first day of the period. */
  budgetPeriod: Day,
  spentMicros: PositiveMicros,
  budgetMicros: PositiveMicros,
  renewsAt: Timestamp,
}

/** The subject of a notice. */
export const Notice = Tagged(
  'kind',
  Closed({ kind: Type.Literal('balance_low'), balanceMicros: Micros, underMicros: PositiveMicros }),
  Closed({ kind: Type.Literal('budget_warning'), ...budgetUse }),
  Closed({ kind: Type.Literal('budget_exhausted'), ...budgetUse }),
  Closed({ kind: Type.Literal('key_expiring'), keyId: KeyId, expiresAt: Timestamp }),
  Closed({
    kind: Type.Literal('credits_expiring'),
    lot: Type.Integer({ minimum: 1 }),
    /** The credits that are left in the lot. */
    amountMicros: Micros,
    expiresAt: Timestamp,
    /** At most this many days are left. */
    days: Type.Integer({ minimum: 1 }),
  }),
  /** The code says why the last payment failed. */
  Closed({ kind: Type.Literal('top_up_stopped'), code: Type.String({ minLength: 1 }) }),
  Closed({
    kind: Type.Literal('model_retiring'),
    /** A family, and its endpoints that retire at this time. */
    model: Slug,
    endpoints: Type.Array(Slug, { minItems: 1 }),
    retiresAt: Timestamp,
    /** The replacement of the family. */
    replacedBy: Type.Optional(Slug),
    /** At most this many days are left. */
    days: Type.Integer({ minimum: 1 }),
  }),
  /** The receipt of a declaration. */
  Closed({
    kind: Type.Literal('withdrawal_received'),
    purchaseId: PurchaseId,
    declaredAt: Timestamp,
    paidAt: Timestamp,
    creditsMicros: PositiveMicros,
    paid: Money,
    refund: Money,
  }),
)
export type Notice = Static<typeof Notice>

/**
 * A notice for the account's owner, in the append of its cause. Its deliveries are due at once; with an empty `to`,
 * there are none. The e-mail address is looked up when mail is sent, so the event does not repeat it.
 */
export const NoticeRaised = Closed({
  /** Counts the account's notices from 1. */
  number: Type.Integer({ minimum: 1 }),
  notice: Notice,
  to: Closed({ email: Type.Optional(Type.Literal(true)), url: Type.Optional(Type.String()) }),
})

export const NOTICE_CHANNELS = ['email', 'url'] as const
export type NoticeChannel = (typeof NOTICE_CHANNELS)[number]

const delivery = { number: Type.Integer({ minimum: 1 }), channel: OneOf(...NOTICE_CHANNELS) }

/** `status` is missing for mail. */
export const NoticeDelivered = Closed({ ...delivery, attempt: Attempt, status: Type.Optional(HttpStatus) })

/** `status` is missing if there was no response, and `nextAttemptAt` after the last attempt. */
export const NoticeAttemptFailed = Closed({
  ...delivery,
  attempt: Attempt,
  status: Type.Optional(HttpStatus),
  reason: AttemptReason,
  nextAttemptAt: Type.Optional(Timestamp),
})

/** No further attempts follow. */
export const NoticeAbandoned = Closed({ ...delivery, attempts: Attempt })

/** Days before a model retires, or credits expire, on which owners get notices: time to plan, to act, a last call. */
export const NOTICE_DAYS = [1, 7, 30]

/** The first step before an end that is still ahead, or else the end itself, in ISO 8601. */
export const firstStepAt = (endsAt: string, now: string): string => nextStepAt(endsAt, Number.POSITIVE_INFINITY, now)

/** The step after the one that was told, in days before the end. */
export const nextStepAt = (endsAt: string, toldDays: number, now = ''): string => {
  const steps = NOTICE_DAYS.filter(days => days < toldDays)
    .map(days => new Date(Date.parse(endsAt) - days * 24 * 60 * 60 * 1000).toISOString())
    .filter(at => at > now)
  return steps.at(-1) ?? endsAt
}

/** How long before its expiry a key gets a notice. Keys with a shorter life get none: their creators know the end. */
const EXPIRY_NOTICE_MS = 7 * 24 * 60 * 60 * 1000

/** When the owner of an account is notified that a key expires, in ISO 8601; undefined for no notice. */
export const expiryNoticeAt = (expiresAt: string | undefined, createdAt: string): string | undefined => {
  const atMs = Date.parse(expiresAt ?? '') - EXPIRY_NOTICE_MS
  return atMs > Date.parse(createdAt) ? new Date(atMs).toISOString() : undefined
}
