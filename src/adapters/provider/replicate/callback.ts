import { createHmac, createSecretKey, type KeyObject, timingSafeEqual } from 'node:crypto'
import type { ReadCallback } from '../../../ports/provider.ts'
import { bodyOf, headerOf, isRecent, VendorKeys } from '../callback.ts'
import { UpstreamCall } from '../upstream-call.ts'
import type { VendorDependencies } from '../vendor.ts'
import { openReplicate } from './client.ts'
import { replicateFailures } from './failures.ts'

/** Signatures in the header. An account has two while it changes its secret. Limits the work. */
const MAX_SIGNATURES = 16

/**
 * Reads Replicate's callbacks, which are signed with a secret of the account by Standard Webhooks:
 * https://replicate.com/docs/topics/webhooks/verify-webhook The usual library would block everything else for 30 ms and
 * more with a body of 1 MB, which anybody may send.
 */
export const createReplicateCallback = (dependencies: VendorDependencies): ReadCallback => {
  const keys = new VendorKeys(signal => fetchSecret(dependencies, signal))
  return async (headers, rawBody, nowMs) => {
    const [id, time, signatures] = ['id', 'timestamp', 'signature'].map(name => headerOf(headers, `webhook-${name}`))
    if (!id || !time || !signatures || !isRecent(time, nowMs)) return undefined
    const sent = signatures.split(' ', MAX_SIGNATURES)
    const verifies = (secret: KeyObject) => {
      const expected = `v1,${createHmac('sha256', secret).update(`${id}.${time}.`).update(rawBody).digest('base64')}`
      return sent.some(signature => isEqual(signature, expected))
    }
    if (!(await keys.verify(nowMs, verifies))) return undefined
    const jobId = bodyOf(rawBody)?.['id']
    return typeof jobId === 'string' && /^[\w-]{1,255}$/.test(jobId) ? { jobId } : undefined
  }
}

/** https://replicate.com/docs/reference/http#webhooks.default.secret.get */
const fetchSecret = async (dependencies: VendorDependencies, signal: AbortSignal): Promise<KeyObject> => {
  const call = new UpstreamCall(dependencies.request)
  let answer: unknown
  try {
    const client = await openReplicate(dependencies, call)
    answer = await client.webhooks.default.secret.get({ signal })
  } catch (error) {
    const { message } = call.unanswered(error, replicateFailures)
    throw new Error(`the secret of Replicate's callbacks cannot be fetched: ${message}`)
  }
  const { key } = (answer ?? {}) as { key?: unknown }
  const base64 = /^whsec_([A-Za-z\d+/]{8,512}={0,2})$/.exec(String(key))?.[1]
  if (base64 === undefined) throw new Error('Replicate sent no secret for its callbacks')
  return createSecretKey(base64, 'base64')
}

const isEqual = (one: string, other: string): boolean => {
  const [first, second] = [Buffer.from(one), Buffer.from(other)]
  return first.length === second.length && timingSafeEqual(first, second)
}
