import type { Test } from 'tap'
import type { Family } from '../../schemas/catalog.ts'
import type { Provider } from '../../src/ports/provider.ts'
import { boundTo } from './bound-to.ts'
import { type Service, type ServiceOptions, startService } from './service.ts'
import { startVendor, type Vendor } from './vendor.ts'
import { offer, vendorFamily } from './vendor-families.ts'
import { createVendorProvider } from './vendor-provider.ts'

export interface VendorServiceOptions extends Omit<ServiceOptions, 'providers'> {
  folder?: string
  family?: Family
  /** Wraps the provider between the service and the vendor. */
  wrap?(provider: Provider): Provider
}

/** Starts a vendor, and a service that offers its family, until the test ends. */
export const startVendorService = async (
  t: Test,
  { family = vendorFamily(), wrap = provider => provider, ...options }: VendorServiceOptions = {},
): Promise<{ vendor: Vendor; service: Service }> => {
  const vendor = await startVendor(t)
  const providers = { vendor: wrap(createVendorProvider(vendor.url)) }
  const service = await startService(t, { ...options, providers, bindingsOf: boundTo('vendor') })
  await offer(service.core, family)
  return { vendor, service }
}
