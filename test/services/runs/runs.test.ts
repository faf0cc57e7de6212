import t, { type Test } from 'tap'
import { toMicros } from '../../../src/domain/money.ts'
import type { EventLog } from '../../../src/ports/event-log.ts'
import { Unavailable } from '../../../src/ports/faults.ts'
import { openLog } from '../../support/engine.ts'
import { type AccountOptions, openAccount } from '../../support/service.ts'
import { unwrap } from '../../support/unwrap.ts'
import { order, syncOrder } from '../../support/vendor-families.ts'
import { startVendorService } from '../../support/vendor-service.ts'

/** As many as one account may take of twice as many. */
const SLOTS = 2

/** A service with few slots. The log refuses a number of appends of an event, as a test sets it. */
const start = async (t: Test, options?: AccountOptions) => {
  const log = await openLog(t)
  const refusals: Record<string, number> = {}
  const append: EventLog['append'] = async (stream, events, expectedRevision) => {
    for (const { type } of events) {
      if (!refusals[type]) continue
      refusals[type] -= 1
      throw new Unavailable('the disk is full')
    }
    return log.append(stream, events, expectedRevision)
  }
  const parts = { log: { ...log, append }, limits: { permitsPerProvider: 2 * SLOTS } }
  const { vendor, service } = await startVendorService(t, parts)
  const customer = await openAccount(service, options)
  /** Fails by the test's time limit if the customer cannot have as many runs in progress as an account has slots. */
  const fillSlots = async () => {
    const grant = { amountMicros: toMicros(100), kind: 'courtesy', reason: 'for the runs' } as const
    unwrap(await service.core.services.accounts.grant({ kind: 'operator', name: 'ada' }, customer.accountId, grant))
    const request = syncOrder({ faults: [{ step: 'asked', act: 'hold' }] })
    const runs = Array.from({ length: SLOTS }, () => customer.run(request))
    await vendor.holds(SLOTS)
    vendor.release()
    for (const { body } of await Promise.all(runs)) t.equal(body.status, 'completed')
  }
  return { vendor, customer, refusals, fillSlots }
}

t.test('a refused run takes no slot', async t => {
  const { customer, fillSlots } = await start(t, { credits: 0 })
  for (let run = 0; run < SLOTS; run++) t.equal((await customer.run(syncOrder())).status, 402)
  await fillSlots()
})

t.test('concurrent requests with one key take one slot', async t => {
  const { customer, fillSlots } = await start(t)
  for (let key = 0; key < 10; key++) {
    const headers = { 'Idempotency-Key': `key-${key}` }
    const [one, other] = await Promise.all([customer.run(syncOrder(), headers), customer.run(syncOrder(), headers)])
    t.equal(one.body.run_id, other.body.run_id)
  }
  await fillSlots()
})

t.test('a run that the log does not accept takes no slot', async t => {
  const { customer, refusals, fillSlots } = await start(t)
  refusals['CreditsDebited'] = SLOTS
  for (let run = 0; run < SLOTS; run++) t.equal((await customer.run(syncOrder())).status, 503)
  await fillSlots()
})

t.test('a queued run that cannot be started now takes no slot', async t => {
  const { vendor, customer, refusals, fillSlots } = await start(t)
  refusals['RunStarted'] = SLOTS
  const { body } = await customer.run(order(), { Prefer: 'wait=20' })
  t.equal(body.status, 'completed')
  t.match(vendor.tally(body.run_id), { submissions: 1 })
  t.equal(refusals['RunStarted'], 0)
  await fillSlots()
})
