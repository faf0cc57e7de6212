import t from 'tap'
import type { EventLog } from '../../src/ports/event-log.ts'
import { Unavailable } from '../../src/ports/faults.ts'
import { sandbox } from '../support/client.ts'
import { openLog } from '../support/engine.ts'
import { instantProvider, openAccount, startService } from '../support/service.ts'

t.test('an outcome is recorded once the log accepts writes again', async t => {
  const log = await openLog(t)
  let refusals = 2
  const append: EventLog['append'] = async (stream, events, expectedRevision) => {
    const isOutcome = events.some(({ type }) => type === 'RunCompleted')
    if (!isOutcome || refusals === 0) return log.append(stream, events, expectedRevision)
    refusals -= 1
    throw new Unavailable('the disk is full')
  }
  const service = await startService(t, { log: { ...log, append }, providers: { sandbox: instantProvider } })
  const customer = await openAccount(service, { tester: true })
  t.match((await customer.run(sandbox())).body, { status: 'completed' })
  t.equal(refusals, 0)
  t.equal(await customer.balance(), 99)
})
