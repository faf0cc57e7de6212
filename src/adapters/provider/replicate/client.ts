import type Replicate from 'replicate'
import { clientFetch } from '../client-fetch.ts'
import type { UpstreamCall } from '../upstream-call.ts'
import type { VendorAccount } from '../vendor.ts'

/**
 * A client for one call. The library retries failed requests and has no option against it, but the call sends only one.
 * The library gets no files to encode: as data URLs, it would send them itself, with the key.
 */
export const openReplicate = async ({ key, baseUrl }: VendorAccount, call: UpstreamCall): Promise<Replicate> => {
  const { default: Client } = await import('replicate')
  return new Client({
    auth: key,
    fetch: clientFetch(call),
    fileEncodingStrategy: 'upload',
    useFileOutput: false,
    ...(baseUrl !== undefined && { baseUrl }),
  })
}
