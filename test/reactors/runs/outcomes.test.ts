import t from 'tap'
import type { EventLog } from '../../../src/ports/event-log.ts'
import { Unavailable } from '../../../src/ports/faults.ts'
import { sandbox } from '../../support/client.ts'
import { collect } from '../../support/collect.ts'
import { openLog } from '../../support/engine.ts'
import { instantProvider, openAccount, startService } from '../../support/service.ts'

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

t.test('a run ends with whatever version its provider states', async t => {
  const versions = ['\ud800', `${'x'.repeat(199)}😀`]
  const text = { kind: 'done' as const, media: [], text: 'Hi.' }
  const submit = async () => ({ ...text, work: { version: String(versions.shift()) } })
  const log = await openLog(t)
  const service = await startService(t, { log, providers: { sandbox: { ...instantProvider, submit } } })
  const customer = await openAccount(service, { tester: true })
  for (const version of ['\ufffd', `${'x'.repeat(199)}\ufffd`]) {
    t.match((await customer.run(sandbox())).body, { status: 'completed' })
    const events = (await collect(log.readStream(`account-${customer.accountId}`, 0))).flat()
    t.match(events.filter(({ type }) => type === 'RunCompleted').at(-1)?.data, { upstream: { version } })
  }
})
