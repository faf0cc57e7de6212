import t from 'tap'
import type { Provider } from '../../../src/ports/provider.ts'
import { boundTo } from '../../support/bound-to.ts'
import { allRuns, auditLog } from '../../support/ledger.ts'
import { instantProvider, openAccount, startService } from '../../support/service.ts'
import { startVendor } from '../../support/vendor.ts'
import { offer, order, syncOrder, vendorFamily } from '../../support/vendor-families.ts'
import { createVendorProvider } from '../../support/vendor-provider.ts'

const RUNS = 100

/** Makes more than one provider has slots, so that a queue builds up. */
const many = <Value>(make: () => Promise<Value>) => Promise.all(Array.from({ length: RUNS }, make))

for (const [mode, orderIn] of Object.entries({ async: order, sync: syncOrder }))
  t.test(`${mode}: a hanging provider does not delay the runs of another`, async t => {
    const vendor = await startVendor(t)
    let submissions = 0
    const hung: Provider = {
      ...instantProvider,
      submit: () => {
        submissions += 1
        return new Promise(() => undefined)
      },
    }
    const providers = { hung, vendor: createVendorProvider(vendor.url) }
    const bindingsOf = (endpoint: string) => boundTo(endpoint.startsWith('first') ? 'hung' : 'vendor')(endpoint)
    const service = await startService(t, { providers, bindingsOf })
    // The queue of the hanging provider comes first.
    await offer(service.core, vendorFamily('first'), vendorFamily())
    const [stuck, unaffected] = await Promise.all([0, 1].map(() => openAccount(service, { credits: RUNS })))
    if (!stuck || !unaffected) throw new Error('no accounts')

    const hanging = await many(() => stuck.run(orderIn({}, 'first'), { Prefer: 'wait=1' }))
    t.same(new Set(hanging.map(({ status }) => status)), new Set([202]))
    t.equal(submissions, 64)
    const done = await many(() => unaffected.run(orderIn(), { Prefer: 'wait=120' }))
    t.same(new Set(done.map(({ body }) => body.status)), new Set(['completed']))

    const { faults, ledgers } = await auditLog(service.core.log)
    t.same(faults, [])
    const ends = [...(ledgers.get(stuck.accountId)?.runs.values() ?? [])].map(run => run.end)
    t.same(ends, Array(RUNS).fill(undefined))
    t.equal(submissions, 64)
    t.equal(allRuns({ faults, ledgers }).size, 2 * RUNS)
  })
