import type OpenAI from 'openai'
import type { ProviderOutcome, Submitted } from '../../../ports/provider.ts'
import type { LargeFiles } from '../large-files.ts'
import type { UpstreamCall } from '../upstream-call.ts'
import type { VendorAccount } from '../vendor.ts'

/** Makes one request with a job's parameters, including the model. */
export type Operation = (
  client: OpenAI,
  parameters: Record<string, unknown>,
  options: OpenAI.RequestOptions,
  files: LargeFiles,
) => Promise<ProviderOutcome | Submitted>

const OPENAI_URL = 'https://api.openai.com/v1'

/**
 * One client for all calls, since creating a client takes a fifth of the time of a call. Sets everything that the
 * client would read from the environment.
 */
export const openClient = async ({ key, baseUrl }: VendorAccount): Promise<OpenAI> => {
  const { OpenAI } = await import('openai')
  const request = fetchOfCall(key)
  class Client extends OpenAI {
    // The caller's signal limits the time. The original method would add a timer, a signal and listeners.
    override fetchWithTimeout(url: Parameters<typeof fetch>[0], init?: RequestInit) {
      return request(url, { ...init, method: init?.method?.toUpperCase() ?? 'GET' })
    }
  }
  return new Client({
    apiKey: key,
    baseURL: baseUrl ?? OPENAI_URL,
    adminAPIKey: null,
    organization: null,
    project: null,
    webhookSecret: null,
    maxRetries: 0,
    logLevel: 'off',
    // The client looks for `Response` there. Without it, the client would call `fetch` to find it.
    fetch: Object.assign(request, { Response }),
  })
}

/** The options of a request that belongs to a call. */
export const through = (call: UpstreamCall, signal: AbortSignal): OpenAI.RequestOptions => ({
  signal,
  fetchOptions: { call } as NonNullable<OpenAI.RequestOptions['fetchOptions']>,
})

/**
 * Sends only the headers that the API needs. The client adds OPENAI_CUSTOM_HEADERS from the environment, which no
 * option prevents, and facts about this machine.
 */
const fetchOfCall =
  (key: string): typeof fetch =>
  async (input, init) => {
    const { call, headers, ...rest } = init as RequestInit & { call: UpstreamCall }
    const sent: Record<string, string> = { authorization: `Bearer ${key}` }
    for (const name of ['accept', 'content-type']) {
      const value = (headers as Headers).get(name)
      if (value !== null) sent[name] = value
    }
    return call.fetch(input, { ...rest, headers: sent })
  }
