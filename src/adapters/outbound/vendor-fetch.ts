import type { Agent } from 'undici'

/** A provider that cannot be reached is passed over; DNS, TCP and TLS take several round trips. */
const CONNECT_TIMEOUT_MS = 10_000

/** Shorter than what servers keep, so that hardly any request goes to a connection that its server has just closed. */
const KEEP_ALIVE_MS = 4_000

export interface VendorFetch {
  fetch: typeof fetch
  close(): Promise<void>
}

/**
 * The `fetch` of vendors' clients: to addresses that the operator configures, which may be private, and with no time
 * limit but that of the caller. It follows no redirect, since the key would go along; a caller may ask to see them.
 */
export const openVendorFetch = (): VendorFetch => {
  let agent: Promise<Agent> | undefined
  return {
    // The global one: that of the package does not take the forms of the vendors' clients.
    fetch: async (input, init) => {
      agent ??= openAgent()
      const dispatcher = (await agent) as unknown as NonNullable<RequestInit['dispatcher']>
      return fetch(input, { ...init, redirect: init?.redirect === 'manual' ? 'manual' : 'error', dispatcher })
    },
    close: async () => (await agent)?.destroy(),
  }
}

const openAgent = async (): Promise<Agent> => {
  const { Agent } = await import('undici')
  return new Agent({
    connect: { timeout: CONNECT_TIMEOUT_MS },
    keepAliveTimeout: KEEP_ALIVE_MS,
    keepAliveMaxTimeout: KEEP_ALIVE_MS,
    headersTimeout: 0,
    bodyTimeout: 0,
  })
}
