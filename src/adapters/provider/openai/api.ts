import type { Job, ProviderOutcome, Submitted } from '../../../ports/provider.ts'
import type { LargeFiles } from '../large-files.ts'
import { UpstreamCall } from '../upstream-call.ts'
import type { VendorAccount, VendorDependencies } from '../vendor.ts'

const OPENAI_URL = 'https://api.openai.com/v1'

/** A call of the API. */
export interface ApiCall extends VendorAccount {
  call: UpstreamCall
  signal: AbortSignal
  onText?: Job['onText']
}

/** Makes one request with a job's parameters, including the model. */
export type Operation = (api: ApiCall, parameters: Record<string, unknown>) => Promise<ProviderOutcome | Submitted>

export const openCall = (
  { key, baseUrl, request }: VendorDependencies,
  signal: AbortSignal,
  files?: LargeFiles,
): ApiCall => ({ key, baseUrl, call: new UpstreamCall(request, files), signal })

export const urlOf = ({ baseUrl }: VendorAccount, path = ''): string => (baseUrl ?? OPENAI_URL) + path

export const headersOf = ({ key }: VendorAccount) => ({ authorization: `Bearer ${key}` })

/** GETs JSON, or POSTs it. The vendor's client declares the types. */
export const requestJson = <Answer>(api: ApiCall, path: string, body?: object): Promise<Answer> =>
  api.call.json(urlOf(api, path), { headers: headersOf(api), body, signal: api.signal })
