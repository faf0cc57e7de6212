import type OpenAI from 'openai'
import { clientFetch } from '../client-fetch.ts'
import { type ApiCall, headersOf, urlOf } from './api.ts'

/** The caller's signal aborts long before. */
const TIMEOUT_MS = 24 * 60 * 60 * 1000

/** A client for one call, for forms and jobs. Sets everything that the client would read from the environment. */
export const openClient = async (api: ApiCall): Promise<OpenAI> => {
  const { OpenAI } = await import('openai')
  return new OpenAI({
    apiKey: api.key,
    baseURL: urlOf(api),
    adminAPIKey: null,
    organization: null,
    project: null,
    webhookSecret: null,
    maxRetries: 0,
    timeout: TIMEOUT_MS,
    logLevel: 'off',
    // The client looks for `Response` there. Without it, the client would call `fetch` to find it.
    fetch: Object.assign(fetchOf(api), { Response }),
  })
}

/**
 * Sends only the headers that the API needs. The client adds OPENAI_CUSTOM_HEADERS from the environment, which no
 * option prevents, and facts about this machine.
 */
const fetchOf =
  (api: ApiCall): typeof fetch =>
  (input, init) => {
    const headers: Record<string, string> = headersOf(api)
    for (const [name, value] of new Headers(init?.headers))
      if (name === 'accept' || name === 'content-type') headers[name] = value
    return clientFetch(api.call)(input, { ...init, headers })
  }
