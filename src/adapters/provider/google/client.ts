import type { GoogleGenAI } from '@google/genai'
import type { UpstreamCall } from '../upstream-call.ts'
import type { VendorAccount } from '../vendor.ts'

const GOOGLE_URL = 'https://generativelanguage.googleapis.com'

/** The API version with all models: https://ai.google.dev/gemini-api/docs/api-versions */
export const API_VERSION = 'v1beta'

/** A client of the Gemini API. Sets everything that the client would read from the environment. */
export const openClient = async (account: VendorAccount, request: typeof fetch = withoutCall): Promise<GoogleGenAI> => {
  const { GoogleGenAI } = await import('@google/genai')
  return new GoogleGenAI({
    apiKey: account.key,
    enterprise: false,
    apiVersion: API_VERSION,
    httpOptions: { baseUrl: baseUrlOf(account), fetch: request },
  })
}

/** The configuration of a request that belongs to a call. */
export const through = (call: UpstreamCall, signal: AbortSignal) => ({
  abortSignal: signal,
  httpOptions: { fetch: call.fetch },
})

export const baseUrlOf = ({ baseUrl }: VendorAccount): string => baseUrl ?? GOOGLE_URL

const withoutCall: typeof fetch = async () => {
  throw new Error('a request to Google belongs to no call')
}
