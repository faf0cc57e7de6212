import { setTimeout as delay } from 'node:timers/promises'
import t, { type Test } from 'tap'
import type { Run, RunList } from '../../../schemas/api/run.ts'
import { boundTo } from '../../support/bound-to.ts'
import type { Client } from '../../support/client.ts'
import { allRuns, auditFolder } from '../../support/ledger.ts'
import { ManualClock } from '../../support/manual-clock.ts'
import { type Customer, openAccount, type Service, startService } from '../../support/service.ts'
import { temporaryFolder } from '../../support/temporary-folder.ts'
import { until } from '../../support/until.ts'
import type { Vendor } from '../../support/vendor.ts'
import { order, syncOrder } from '../../support/vendor-families.ts'
import { createVendorProvider } from '../../support/vendor-provider.ts'
import { startVendorService } from '../../support/vendor-service.ts'

t.setTimeout(90_000)

/** A started run is checked after 10 s; a lease that was not released ends after 15 s. */
const BETWEEN_WATCH_AND_LEASE_MS = 12_000

interface Place {
  folder: string
  vendor: Vendor
  service: Service
  customer: Customer
}

const environment = { ALLOW_PRIVATE_WEBHOOKS: 'true' }

const start = async (t: Test): Promise<Place> => {
  const folder = await temporaryFolder(t)
  const { vendor, service } = await startVendorService(t, { folder, environment })
  return { folder, vendor, service, customer: await openAccount(service) }
}

/** Starts the next service at a fixed time when only released runs can be taken over. */
const startNext = async (t: Test, { folder, vendor }: Place) => {
  const clock = new ManualClock(Date.now() + BETWEEN_WATCH_AND_LEASE_MS)
  return startService(t, {
    folder,
    environment,
    clock,
    providers: { vendor: createVendorProvider(vendor.url) },
    bindingsOf: boundTo('vendor'),
  })
}

const findEnd = (client: Client, runId: string): Promise<Run> =>
  until('the run has ended', async () => {
    const { body } = await client.send(`/v1/runs/${runId}`)
    return (body.status === 'completed' || body.status === 'failed') && body
  })

t.test('async runs stopped at any step are resumed by the next service', async t => {
  const place = await start(t)
  const { vendor, service, customer } = place
  const runIds = new Map<string, string>()
  for (const step of ['asked', 'taken', 'polled', 'copied'] as const) {
    const { body } = await customer.run(order({ result: 'media', faults: [{ step, act: 'hold' }] }))
    runIds.set(step, body.run_id)
    await until(`the run is held when ${step}`, () => vendor.tally(body.run_id)?.held[step])
  }
  await service.stop()
  vendor.release()

  const next = await startNext(t, place)
  for (const runId of runIds.values()) t.equal((await findEnd(customer.at(next.url), runId)).status, 'completed')
  const submissions = [...runIds].map(([step, runId]) => [step, vendor.tally(runId)?.submissions])
  t.same(submissions, [
    ['asked', 2],
    ['taken', 2],
    ['polled', 1],
    ['copied', 1],
  ])
  for (const runId of runIds.values()) t.match(vendor.tally(runId), { jobs: 1, cancellations: 0 })
  await next.stop()
  const audit = await auditFolder(place.folder)
  t.same(audit.faults, [])
  t.same(
    [...audit.ledgers.values()].map(ledger => ledger.balanceMicros),
    [96_000_000],
  )
})

t.test('sync runs get time to finish and are refunded after it', async t => {
  const { folder, vendor, service, customer } = await start(t)
  const steps = ['asked', 'polled', 'copied'] as const
  const held = steps.map(step => customer.run(syncOrder({ result: 'media', faults: [{ step, act: 'hold' }] })))
  const slow = customer.run(syncOrder({ workMs: 1500 }))
  const areHeld = async () => {
    const { body } = await customer.send<{ data: Run[] }>('/v1/runs')
    const tallies = body.data.map(({ run_id }) => vendor.tally(run_id))
    return tallies.length === 4 && steps.every(step => tallies.some(tally => tally?.held[step]))
  }
  await until('all runs are held', areHeld)

  const stopping = service.stop()
  t.match((await slow).body, { status: 'completed', output: { text: 'hello' } })
  for (const reply of held)
    t.match((await reply).body, { status: 'failed', credits_refunded: 1, error: { code: 'interrupted' } })
  await stopping
  const audit = await auditFolder(folder)
  t.same(audit.faults, [])
  t.same([...allRuns(audit).values()].map(run => run.end).sort(), ['completed', 'failed', 'failed', 'failed'])
  t.same(
    [...audit.ledgers.values()].map(ledger => ledger.balanceMicros),
    [99_000_000],
  )
})

t.test('an async run that the provider accepts during the stop is resumed', async t => {
  const place = await start(t)
  const { vendor, service, customer } = place
  const { body } = await customer.run(order({ workMs: 10_000, faults: [{ step: 'taken', act: 'hold' }] }))
  await vendor.holds(1)
  // Another run uses up the whole grace period.
  const slow = customer.run(syncOrder({ workMs: 3_600_000 }))
  const list = async () => (await customer.send<{ data: Run[] }>('/v1/runs')).body.data
  await until('both runs are listed', async () => (await list()).length === 2)
  const stopping = service.stop()
  // The stop has begun by then, well within its grace period.
  await delay(1000)
  vendor.release()
  await stopping
  t.equal((await slow).body.error?.code, 'interrupted')

  const next = await startNext(t, place)
  t.equal((await findEnd(customer.at(next.url), body.run_id)).status, 'completed')
  t.match(vendor.tally(body.run_id), { jobs: 1, cancellations: 0 })
})

t.test('queued runs wait for the next service', async t => {
  const place = await start(t)
  const { vendor, service, customer } = place
  // These fill the slots of the provider, so the next run has to wait.
  const faults = [{ step: 'asked', act: 'hold' } as const]
  await Promise.all(Array.from({ length: 64 }, () => customer.run(order({ faults }))))
  await vendor.holds(64)
  const reply = customer.run(order(), { Prefer: 'wait=60' })
  const isQueued = async () => (await customer.send<RunList>('/v1/runs?status=queued')).body.data.length === 1
  await until('the run is queued', isQueued)
  await service.stop()
  const { status, body } = await reply
  t.match({ status, body }, { status: 202, body: { status: 'queued' } })
  t.equal(vendor.tally(body.run_id), undefined)
  vendor.release()

  const next = await startNext(t, place)
  t.equal((await findEnd(customer.at(next.url), body.run_id)).status, 'completed')
  t.match(vendor.tally(body.run_id), { submissions: 1, jobs: 1 })
})
