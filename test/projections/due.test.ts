import t from 'tap'
import { due } from '../../projections/due.ts'
import { accountStream, type RecordedEvent } from '../../schemas/events.ts'
import { accountId, redeliveryRequested } from '../support/account-samples.ts'

const place = due.indexes['byQueue'] as NonNullable<(typeof due.indexes)['byQueue']>

t.test('a delivery to any recorded address gets a short index entry', async t => {
  for (const url of [`http://${'a'.repeat(2000)}/`, `http://${'$'.repeat(2000)}/`, 'http://[::1]:80/', 'no address']) {
    const { type, data } = redeliveryRequested()
    const event = {
      id: 'a',
      stream: accountStream(accountId()),
      revision: 0,
      position: 0,
      type,
      data: { ...data, url },
      metadata: { at: '2026-01-01T00:00:00.000Z', actor: { kind: 'operator' }, hash: 'a' },
    } as unknown as RecordedEvent
    const row = due.on.WebhookRedeliveryRequested(undefined, event)
    t.match(row, { task: 'deliver-webhook' }, url.slice(0, 30))
    t.ok(row && Buffer.byteLength(String(place(row, ''))) < 1000)
  }
})
