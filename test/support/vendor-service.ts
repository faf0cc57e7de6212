import type { Test } from 'tap'
import { type Service, startService } from './service.ts'
import { startVendor, type Vendor } from './vendor.ts'
import { offer, vendorFamily } from './vendor-families.ts'
import { createVendorProvider } from './vendor-provider.ts'

/** Starts a vendor, and a service that has the vendor's family on offer, until the test ends. */
export const startVendorService = async (t: Test): Promise<{ vendor: Vendor; service: Service }> => {
  const vendor = await startVendor(t)
  const service = await startService(t, { providers: { vendor: createVendorProvider(vendor.url) } })
  await offer(service.core, vendorFamily())
  return { vendor, service }
}
