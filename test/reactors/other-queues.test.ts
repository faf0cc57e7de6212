import t from 'tap'
import type { Provider } from '../../src/ports/provider.ts'
import { allRuns, auditLog } from '../support/ledger.ts'
import { instantProvider, openAccount, startService } from '../support/service.ts'
import { startVendor } from '../support/vendor.ts'
import { offer, order, syncOrder, vendorFamily } from '../support/vendor-families.ts'
import { createVendorProvider } from '../support/vendor-provider.ts'

const RUNS = 200

/** Many times the slots of one provider, for a whole queue behind those that hang. */
const many = <Value>(make: () => Promise<Value>) => Promise.all(Array.from({ length: RUNS }, make))

for (const [mode, orderIn] of Object.entries({ async: order, sync: syncOrder }))
  t.test(`${mode}: a provider that hangs holds up none of another provider’s runs`, async t => {
    const vendor = await startVendor(t)
    let asked = 0
    const hung: Provider = {
      ...instantProvider,
      submit: () => {
        asked += 1
        return new Promise(() => undefined)
      },
    }
    const service = await startService(t, { providers: { hung, vendor: createVendorProvider(vendor.url) } })
    // The queue of the one that hangs is looked at first.
    await offer(service.core, vendorFamily('first', { provider: 'hung' }), vendorFamily())
    const [stuck, lucky] = await Promise.all([0, 1].map(() => openAccount(service, { credits: RUNS })))
    if (!stuck || !lucky) throw new Error('no accounts')

    const hanging = await many(() => stuck.run(orderIn({}, 'first'), { Prefer: 'wait=1' }))
    t.same(new Set(hanging.map(({ status }) => status)), new Set([202]))
    t.equal(asked, 64)
    const done = await many(() => lucky.run(orderIn(), { Prefer: 'wait=120' }))
    t.same(new Set(done.map(({ body }) => body.status)), new Set(['completed']))

    const { faults, ledgers } = await auditLog(service.core.log)
    t.same(faults, [])
    const ends = [...(ledgers.get(stuck.accountId)?.runs.values() ?? [])].map(run => run.end)
    t.same(ends, Array(RUNS).fill(undefined))
    t.equal(asked, 64)
    t.equal(allRuns({ faults, ledgers }).size, 2 * RUNS)
  })
