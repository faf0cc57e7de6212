import { accountOf } from '../schemas/events.ts'
import { expiryNoticeAt, type NoticeChannel } from '../schemas/notice-events.ts'
import { clockOf } from '../schemas/recorded.ts'
import type { NoticeTask } from '../schemas/views.ts'
import { projection } from './define.ts'
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
