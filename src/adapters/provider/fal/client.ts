import type { FalClient } from '@fal-ai/client'
import { clientFetch } from '../client-fetch.ts'
import type { UpstreamCall } from '../upstream-call.ts'
import type { VendorAccount } from '../vendor.ts'

/**
 * A client for one call. The library knows only fal's own hosts, so the address is replaced at the last moment: the
 * host by the configured base URL, and the path because the library truncates the paths of nested models.
 */
export const openFal = async (
  { key, baseUrl }: VendorAccount,
  call: UpstreamCall,
  path?: string,
): Promise<FalClient> => {
  const { createFalClient } = await import('@fal-ai/client')
  return createFalClient({
    credentials: key,
    fetch: withoutRetries(clientFetch(call)),
    retry: { maxRetries: 0 },
    requestMiddleware: async request => ({ ...request, url: addressOf(request.url, baseUrl, path) }),
  })
}

const addressOf = (url: string, baseUrl: string | undefined, path: string | undefined): string => {
  const { origin, pathname, search } = new URL(url)
  return `${baseUrl ?? origin}${path === undefined ? pathname : `/${path}`}${search}`
}

/**
 * Whatever is configured, the library retries for half a minute after network errors, even after a truncated response.
 */
const withoutRetries =
  (request: typeof fetch): typeof fetch =>
  (input, init) =>
    request(input, init).catch(error => {
      throw new Error(error instanceof Error ? error.message : 'the request failed')
    })
