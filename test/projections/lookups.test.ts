import t from 'tap'
import { fold } from '../../projections/define.ts'
import { jobLookup, jobLookups, requestLookup, requestLookups } from '../../projections/lookups.ts'
import type { AccountEvent } from '../../schemas/account-events.ts'
import { accepted, accountId, recorded, runId, started, startedAtOnce, submitted } from '../support/account-samples.ts'

const asked = (event: AccountEvent | undefined, requestId?: string) => {
  const { metadata, ...rest } = recorded(event as AccountEvent)
  return { ...rest, metadata: { ...metadata, requestId } } as ReturnType<typeof recorded>
}

t.test('the acceptance of a run leads from its request to it', async t => {
  const [, queueing] = accepted({ after: 90 })
  for (const acceptance of [queueing, startedAtOnce(queueing as AccountEvent)]) {
    t.equal(requestLookups.key(asked(acceptance, 'order-1')), `${requestLookup('order-1')}${runId()}`)
    t.same(fold(requestLookups, [asked(acceptance, 'order-1')]), { accountId: accountId(), runId: runId() })
    t.equal(requestLookups.key(asked(acceptance)), undefined, 'old events have no request')
  }
  t.equal(requestLookups.key(asked(started(), 'order-1')), undefined, 'a start of a queued run is nobody’s request')
})

t.test('a job leads to its run by the last part of its ID', async t => {
  t.same(fold(jobLookups, [recorded(submitted(1))]), { accountId: accountId(), runId: runId(), jobId: 'job-1' })
  t.equal(jobLookup('models/veo/operations/a1'), jobLookup('a1'))
  t.match(jobLookup('x'.repeat(255)), /^job\/x{200}\/$/)
  t.equal(jobLookup('a\u0000 b?'), 'job/a__b_/')
})
