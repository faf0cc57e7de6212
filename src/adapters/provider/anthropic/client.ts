import type { Anthropic } from '@anthropic-ai/sdk'
import type { UpstreamCall } from '../upstream-call.ts'
import type { VendorAccount } from '../vendor.ts'

const ANTHROPIC_URL = 'https://api.anthropic.com'

/** The newer version refuses sampling parameters: https://platform.claude.com/docs/en/api/versioning */
export type ApiVersion = '2023-06-01' | '2026-10-21'

/** The caller's signal aborts long before. By default, the client would refuse to request a long answer. */
const TIMEOUT_MS = 24 * 60 * 60 * 1000

/** A request as `through` marks it. */
type MarkedInit = RequestInit & { call: UpstreamCall; version: ApiVersion }

/** One client for all calls. Sets everything that the client would read from the environment. */
export const openClient = async ({ key, baseUrl }: VendorAccount): Promise<Anthropic> => {
  const { Anthropic } = await import('@anthropic-ai/sdk')
  return new Anthropic({
    apiKey: key,
    baseURL: baseUrl ?? ANTHROPIC_URL,
    webhookKey: null,
    maxRetries: 0,
    timeout: TIMEOUT_MS,
    logLevel: 'off',
    openTelemetry: false,
    fetch: fetchOfCall(key),
  })
}

/** The options of a request that belongs to a call. */
export const through = (call: UpstreamCall, version: ApiVersion, signal: AbortSignal): Anthropic.RequestOptions => ({
  signal,
  fetchOptions: { call, version } as object,
})

/**
 * Sends only the headers that the API needs. The client adds ANTHROPIC_CUSTOM_HEADERS from the environment, which no
 * option prevents, and facts about this machine.
 */
const fetchOfCall =
  (key: string): typeof fetch =>
  async (input, init) => {
    const { call, version, headers: _, ...rest } = init as MarkedInit
    const headers = {
      accept: 'application/json',
      authorization: `Bearer ${key}`,
      'anthropic-version': version,
      ...(rest.body !== undefined && { 'content-type': 'application/json' }),
    }
    return call.fetch(input, { ...rest, headers })
  }
