import type { Test } from 'tap'
import { BEFORE_FIRST } from '../../src/ports/event-log.ts'
import type { Provider } from '../../src/ports/provider.ts'
import { boundTo } from './bound-to.ts'
import { collect } from './collect.ts'
import { doneFor } from './done.ts'
import { openAccount, startService } from './service.ts'
import { offer, syncOrder, vendorFamily } from './vendor-families.ts'

/** What the vendor says of each completed run. */
export const work = { version: 'v7', units: { seconds: 1.5 }, cost: { amountMicros: 8_123_456, currency: 'USD' } }

/** Completes runs, but for those whose prompt asks for a failure. */
const vendor: Provider = {
  submit: async job =>
    job.input['prompt'] === 'fail'
      ? { kind: 'failed', code: 'provider_timeout', message: 'It took too long.' }
      : { ...doneFor(job), work },
}

/** A service whose vendor charges for runs, after a completed one with a known cost and a failed one without. */
export const startWithCosts = async (t: Test, environment: Record<string, string> = {}) => {
  const service = await startService(t, { environment, providers: { vendor }, bindingsOf: boundTo('vendor') })
  await offer(service.core, vendorFamily())
  const customer = await openAccount(service)
  await customer.run(syncOrder())
  await customer.run(syncOrder({ prompt: 'fail' }))
  return { service, customer, events: () => collect(service.core.log.readAll(BEFORE_FIRST)) }
}
