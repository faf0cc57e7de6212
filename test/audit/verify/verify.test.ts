import t from 'tap'
import type { RawEvent } from '../../../schemas/recorded.ts'
import { verifyLog } from '../../../src/audit/verify/verify.ts'
import { busyLog } from '../../support/busy-log.ts'
import { makeLink } from '../../support/links.ts'

const events = await busyLog(t)

const verify = (changed: RawEvent[]) =>
  verifyLog(
    {
      head: async () => Math.max(-1, ...changed.map(({ position }) => position)),
      async *readAll() {
        yield changed
      },
    },
    { isDense: true },
  )

t.test('a clean log has no fault', async t => {
  const { faults, notes, ...counts } = await verify(events)
  t.same(faults, [])
  t.same(notes, [])
  t.match(counts, { events: events.length, head: events.length - 1, newestAt: events.at(-1)?.metadata })
})
