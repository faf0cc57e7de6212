import type { GoogleGenAI } from '@google/genai'
import { clientFetch } from '../client-fetch.ts'
import type { UpstreamCall } from '../upstream-call.ts'
import type { VendorAccount } from '../vendor.ts'
import { API_VERSION, baseUrlOf } from './api.ts'

/** A client for one call, for jobs. Sets everything that the client would read from the environment. */
export const openClient = async (account: VendorAccount, call: UpstreamCall): Promise<GoogleGenAI> => {
  const { GoogleGenAI } = await import('@google/genai')
  return new GoogleGenAI({
    apiKey: account.key,
    enterprise: false,
    apiVersion: API_VERSION,
    httpOptions: { baseUrl: baseUrlOf(account), fetch: clientFetch(call) },
  })
}
