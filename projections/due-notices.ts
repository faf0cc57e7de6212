import { accountOf } from '../schemas/events.ts'
import { expiryNoticeAt, firstStepAt, type Notice, type NoticeChannel, nextStepAt } from '../schemas/notice-events.ts'
import { clockOf } from '../schemas/recorded.ts'
import type { LotExpiryTask, NoticeTask } from '../schemas/views.ts'
import { projection, type RecordedOf } from './define.ts'
import { byQueue, hostOf, queues } from './due.ts'

/** The deliveries of notices through one channel that are due: a part of the view `due` with keys of its own. */
const deliveries = (channel: NoticeChannel) =>
  projection({
    name: `due-notices-${channel}`,
    view: 'due',
    version: 1,
    key: event => {
      const isOther = event.type === 'NoticeRaised' ? !event.data.to[channel] : event.data.channel !== channel
      return isOther ? undefined : `notice/${accountOf(event)}/${event.data.number}/${channel}`
    },
    on: {
      NoticeRaised: (_, event): NoticeTask => {
        const {
          number,
          notice,
          to: { url },
        } = event.data
        return {
          task: 'deliver-notice',
          // Notices are free, so their rate is limited.
          queue: queues.deliverFree + (channel === 'email' ? MAIL : hostOf(url as string)),
          dueAt: clockOf(event),
          accountId: accountOf(event),
          ...{
            number,
            channel,
            ...(channel === 'url' && { url: url as string }),
            notice,
            raisedAt: clockOf(event),
            attempt: 1,
          },
        }
      },
      NoticeDelivered: () => undefined,
      NoticeAttemptFailed: (row, { data }) =>
        row?.task === 'deliver-notice' && data.nextAttemptAt !== undefined
          ? { ...row, dueAt: data.nextAttemptAt, attempt: data.attempt + 1 }
          : undefined,
      NoticeAbandoned: () => undefined,
    },
    indexes: { byQueue },
  })

/** The place of the mail server among the hosts of URLs, which have no such character. */
const MAIL = '@mail'

export const dueMails = deliveries('email')
export const dueNotices = deliveries('url')

/** The notices of keys that expire. */
export const dueKeyExpiries = projection({
  name: 'due-key-expiries',
  view: 'due',
  version: 1,
  key: event => {
    if (event.type === 'ApiKeyCreated' && !expiryNoticeAt(event.data.expiresAt, clockOf(event))) return undefined
    if (event.type !== 'NoticeRaised') return `expiry/${event.data.keyId}`
    return event.data.notice.kind === 'key_expiring' ? `expiry/${event.data.notice.keyId}` : undefined
  },
  on: {
    ApiKeyCreated: (_, event) => {
      const { keyId, expiresAt } = event.data
      const dueAt = expiryNoticeAt(expiresAt, clockOf(event)) as string
      return { task: 'notice-expiry', queue: `${queues.notices}expiries`, dueAt, accountId: accountOf(event), keyId }
    },
    ApiKeyRevoked: () => undefined,
    NoticeRaised: () => undefined,
  },
  indexes: { byQueue },
})

/** The lots that expire, with the notices before. */
export const dueLots = projection({
  name: 'due-lots',
  view: 'due',
  version: 1,
  key: event => {
    const { data } = event
    if (event.type === 'CreditsGranted' && event.data.expiresAt === undefined) return undefined
    const lot = event.type === 'NoticeRaised' ? lotIn(event.data.notice) : (data as { lot?: number }).lot
    return lot === undefined ? undefined : `lot/${accountOf(event)}/${lot}`
  },
  on: {
    CreditsGranted: (row, event) => row ?? lotRow(event, event.data.lot as number, event.data.expiresAt),
    LotExtended: (_, event) => lotRow(event, event.data.lot, event.data.expiresAt),
    NoticeRaised: (row, { data: { notice } }) =>
      row?.task === 'expire-lot' && notice.kind === 'credits_expiring'
        ? { ...row, dueAt: nextStepAt(row.expiresAt, notice.days) }
        : row,
    CreditsExpired: () => undefined,
  },
  indexes: { byQueue },
})

const lotIn = (notice: Notice): number | undefined => (notice.kind === 'credits_expiring' ? notice.lot : undefined)

const lotRow = (
  event: RecordedOf<'CreditsGranted' | 'LotExtended'>,
  lot: number,
  expiresAt: string | undefined,
): LotExpiryTask | undefined => {
  if (expiresAt === undefined) return undefined
  const dueAt = firstStepAt(expiresAt, clockOf(event))
  return { task: 'expire-lot', queue: `${queues.notices}lots`, dueAt, accountId: accountOf(event), lot, expiresAt }
}
