import type { GoogleGenAI } from '@google/genai'
import type { UpstreamCall } from '../upstream-call.ts'
import type { VendorAccount } from '../vendor.ts'

const GOOGLE_URL = 'https://generativelanguage.googleapis.com'

/** The version with all the models: https://ai.google.dev/gemini-api/docs/api-versions */
const API_VERSION = 'v1beta'

/** A client of the Gemini API. Whatever it would read from the environment is set here. */
export const openClient = async (
  { key, baseUrl }: VendorAccount,
  request: typeof fetch = withoutCall,
): Promise<GoogleGenAI> => {
  const { GoogleGenAI } = await import('@google/genai')
  return new GoogleGenAI({
    apiKey: key,
    enterprise: false,
    apiVersion: API_VERSION,
    httpOptions: { baseUrl: baseUrl ?? GOOGLE_URL, fetch: request },
  })
}

/** The configuration of a request that belongs to a call. */
export const through = (call: UpstreamCall, signal: AbortSignal) => ({
  abortSignal: signal,
  httpOptions: { fetch: call.fetch },
})

/** The address of a file in the store of the API, by its name. */
export const fileUrl = ({ baseUrl }: VendorAccount, name: string): string =>
  `${baseUrl ?? GOOGLE_URL}/${API_VERSION}/files/${name}:download?alt=media`

const withoutCall: typeof fetch = async () => {
  throw new Error('a request to Google belongs to no call')
}
