import t from 'tap'
import { dueKeyExpiries, dueMails, dueNotices } from '../../projections/due-notices.ts'
import type { AccountEvent } from '../../schemas/account-events.ts'
import type { DueRow } from '../../schemas/views.ts'
import { ProjectionSet } from '../../src/engine/views/project.ts'
import { accountId, keyCreated, keyId, keyRevoked, RECORDED_AT, recorded } from '../support/account-samples.ts'
import {
  balanceLow,
  keyExpiring,
  noticeAbandoned,
  noticeDelivered,
  noticeRaised,
  noticeUndelivered,
} from '../support/notice-samples.ts'

const projections = new ProjectionSet([dueMails, dueNotices, dueKeyExpiries])
const DAY_MS = 24 * 60 * 60 * 1000

/** The due rows after a history. */
const dueAfter = (...history: AccountEvent[]): Record<string, DueRow> => {
  const rows = new Map<string, DueRow>()
  for (const event of history.map(event => recorded(event)))
    for (const projection of projections.handling(event.type)) {
      const key = projection.key(event) as string | undefined
      if (key === undefined) continue
      const row = projection.on[event.type]?.(rows.get(key), event) as DueRow | undefined
      if (row) rows.set(key, row)
      else rows.delete(key)
    }
  return Object.fromEntries(rows)
}

const url = 'https://example.com/hooks'
const notice = balanceLow(5)
const raised = noticeRaised(1, notice, { email: true, url })
const [mailKey, urlKey] = [`notice/${accountId()}/1/email`, `notice/${accountId()}/1/url`]
const task = {
  ...{ task: 'deliver-notice' as const, accountId: accountId(), number: 1, notice },
  ...{ raisedAt: RECORDED_AT, dueAt: RECORDED_AT, attempt: 1 },
}
const mail: DueRow = { ...task, queue: 'deliver/free/@mail', channel: 'email' }
const post: DueRow = { ...task, queue: 'deliver/free/example.com', channel: 'url', url }

t.test('each channel of a notice is due at once, in a queue of its own', async t => {
  t.same(dueAfter(raised), { [mailKey]: mail, [urlKey]: post })
  t.same(dueAfter(noticeRaised(1, notice, { email: true })), { [mailKey]: mail })
  t.same(dueAfter(noticeRaised(1, notice, {})), {})
})

t.test('a channel is no longer due once it was delivered or abandoned, and later after a failure', async t => {
  t.same(dueAfter(raised, noticeDelivered()), { [urlKey]: post })
  const next = '2026-01-01T00:05:00.000Z'
  t.same(dueAfter(raised, noticeUndelivered(1, next, { channel: 'url' })), {
    [mailKey]: mail,
    [urlKey]: { ...post, dueAt: next, attempt: 2 },
  })
  t.same(dueAfter(raised, noticeUndelivered(1), noticeAbandoned(1)), { [urlKey]: post })
})

t.test('a key is due a week before it expires, until its owner was told or it was revoked', async t => {
  const expiresAt = new Date(Date.parse(RECORDED_AT) + 30 * DAY_MS).toISOString()
  const dueAt = new Date(Date.parse(RECORDED_AT) + 23 * DAY_MS).toISOString()
  const created = keyCreated(1, 'full', { expiresAt })
  const row = { task: 'notice-expiry', queue: 'notices/expiries', dueAt, accountId: accountId(), keyId: keyId() }
  t.same(dueAfter(created), { [`expiry/${keyId()}`]: row })
  t.same(dueAfter(created, noticeRaised(1, keyExpiring(expiresAt), {})), {})
  t.same(dueAfter(created, keyRevoked()), {})
  t.same(dueAfter(keyCreated()), {})
  const soon = new Date(Date.parse(RECORDED_AT) + 7 * DAY_MS).toISOString()
  t.same(dueAfter(keyCreated(1, 'full', { expiresAt: soon })), {})
})
