import type Replicate from 'replicate'
import type { UpstreamCall } from '../upstream-call.ts'
import type { VendorAccount } from '../vendor.ts'

/**
 * A client for one call. The library repeats requests that fail, without an option against it; the call sends one. It
 * gets no files to encode, since as data URLs it would send itself, the key included.
 */
export const openReplicate = async ({ key, baseUrl }: VendorAccount, call: UpstreamCall): Promise<Replicate> => {
  const { default: Client } = await import('replicate')
  return new Client({
    auth: key,
    fetch: call.fetch,
    fileEncodingStrategy: 'upload',
    useFileOutput: false,
    ...(baseUrl !== undefined && { baseUrl }),
  })
}
