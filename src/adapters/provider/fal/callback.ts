import { createHash, createPublicKey, type JsonWebKey, type KeyObject, verify } from 'node:crypto'
import type { ReadCallback } from '../../../ports/provider.ts'
import type { RequestVendor } from '../../../ports/vendor-request.ts'
import { bodyOf, headerOf, isRecent, VendorKeys } from '../callback.ts'
import { UpstreamCall } from '../upstream-call.ts'
import type { VendorDependencies } from '../vendor.ts'

/** The service that publishes the keys. Another one runs the jobs. */
const KEYS_ORIGIN = 'https://rest.fal.ai'

/** fal has two keys while it changes them. Limits the work that a forged callback causes. */
const MAX_KEYS = 16

/**
 * Reads fal's callbacks, which fal signs: https://fal.ai/docs/documentation/model-apis/inference/webhooks A callback
 * names its job by the request ID, the last part of the job ID.
 */
export const createFalCallback = ({
  baseUrl,
  request,
}: Pick<VendorDependencies, 'baseUrl' | 'request'>): ReadCallback => {
  const keys = new VendorKeys(signal => fetchKeys(`${baseUrl ?? KEYS_ORIGIN}/.well-known/jwks.json`, request, signal))
  return async (headers, rawBody, nowMs) => {
    const [requestId, userId, time, signature] = ['request-id', 'user-id', 'timestamp', 'signature'].map(name =>
      headerOf(headers, `x-fal-webhook-${name}`),
    )
    if (!requestId || !userId || !time || !signature) return undefined
    if (!isRecent(time, nowMs) || !/^[0-9a-f]{128}$/i.test(signature)) return undefined
    const bodyHash = createHash('sha256').update(rawBody).digest('hex')
    const message = Buffer.from([requestId, userId, time, bodyHash].join('\n'))
    const bytes = Buffer.from(signature, 'hex')
    if (!(await keys.verify(nowMs, all => all.some(key => verify(null, message, key, bytes))))) return undefined
    const jobId = bodyOf(rawBody)?.['request_id']
    return typeof jobId === 'string' && /^[\w-]{1,255}$/.test(jobId) ? { jobId } : undefined
  }
}

const fetchKeys = async (url: string, request: RequestVendor, signal: AbortSignal): Promise<KeyObject[]> => {
  const call = new UpstreamCall(request)
  let found: unknown
  try {
    found = (await call.json<{ keys?: unknown } | null>(url, { headers: {}, signal }))?.keys
  } catch (error) {
    throw new Error(`fal's keys cannot be fetched: ${call.unanswered(error, { provider: 'fal' }).message}`)
  }
  const keys = Array.isArray(found) ? found.slice(0, MAX_KEYS).flatMap(toKey) : []
  if (keys.length === 0) throw new Error('fal published no key for its callbacks')
  return keys
}

/** Skips keys of another kind. */
const toKey = (jwk: unknown): KeyObject[] => {
  if (typeof jwk !== 'object' || jwk === null) return []
  const { kty, crv, x } = jwk as JsonWebKey
  if (kty !== 'OKP' || crv !== 'Ed25519') return []
  try {
    return [createPublicKey({ key: { kty, crv, x } as JsonWebKey, format: 'jwk' })]
  } catch {
    return []
  }
}
