import t from 'tap'
import { fold } from '../../projections/define.ts'
import { webhooks } from '../../projections/webhooks.ts'
import type { AccountEvent } from '../../schemas/account-events.ts'
import { accountStream } from '../../schemas/events.ts'
import type { Recorded } from '../../schemas/recorded.ts'
import {
  abandoned,
  accepted,
  accountId,
  completed,
  delivered,
  redeliveryRequested,
  startedAtOnce,
  undelivered,
} from '../support/account-samples.ts'

/** The row after these events, one second apart. */
const rowOf = (...events: AccountEvent[]) =>
  fold(
    webhooks,
    events.map((event, index): Recorded => {
      const at = new Date(Date.parse('2026-01-01T00:00:00.000Z') + index * 1000).toISOString()
      const place = { id: String(index), stream: accountStream(accountId()), revision: index, position: index }
      return { ...event, ...place, metadata: { at, actor: { kind: 'service' }, hash: '' } }
    }),
  )

const [debited, queued] = accepted({ after: 90, webhook: true }) as [AccountEvent, AccountEvent]
const next = '2026-01-01T00:05:00.000Z'

t.test('the row shows when the next attempt is due, while there is to be one', async t => {
  t.equal(rowOf(debited, queued)?.status, 'waiting')
  t.equal(rowOf(debited, startedAtOnce(queued))?.status, 'waiting')
  t.equal(rowOf(debited, startedAtOnce((accepted({ after: 90 }) as [AccountEvent, AccountEvent])[1])), undefined)
  t.match(rowOf(queued, completed()), { status: 'pending', nextAttemptAt: '2026-01-01T00:00:01.000Z', attempts: 0 })
  t.match(rowOf(queued, completed(), undelivered(1, { next })), { status: 'pending', nextAttemptAt: next, attempts: 1 })
  t.same(rowOf(queued, completed(), undelivered(1), abandoned(1))?.nextAttemptAt, undefined)
  t.match(rowOf(queued, completed(), delivered()), { status: 'delivered', attempts: 1 })
})

t.test('the attempts of earlier deliveries stay in the row, up to the latest 20', async t => {
  const again = [redeliveryRequested(), undelivered(1, { next }), delivered(2)]
  const row = rowOf(queued, completed(), delivered(), ...again)
  t.equal(row?.attempts, 2)
  t.match(row?.latest, [
    { attempt: 1, at: '2026-01-01T00:00:02.000Z', status: 200 },
    { attempt: 1, status: 503, reason: /./, nextAttemptAt: next },
    { attempt: 2, status: 200 },
  ])
  const many = rowOf(queued, completed(), delivered(), ...Array.from({ length: 15 }, () => again).flat())
  t.equal(many?.latest.length, 20)
  t.same(many?.latest.at(-1), { attempt: 2, at: '2026-01-01T00:00:47.000Z', status: 200 })
})
