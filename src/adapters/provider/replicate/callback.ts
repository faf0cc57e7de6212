import { timingSafeEqual } from 'node:crypto'
import { Webhook } from 'standardwebhooks'
import { bodyOf, headerOf, isRecent, type ReadCallback, VendorKeys } from '../callback.ts'
import { UpstreamCall } from '../upstream-call.ts'
import type { VendorParts } from '../vendor.ts'
import { openReplicate } from './client.ts'
import { replicateFailures } from './failures.ts'

/** An account's signatures in the header; there are two while it changes its secret. A bound on the work. */
const MAX_SIGNATURES = 16

/**
 * Reads Replicate's callbacks, which are signed with a secret of the account by Standard Webhooks:
 * https://replicate.com/docs/topics/webhooks/verify-webhook
 */
export const createReplicateCallback = (parts: VendorParts): ReadCallback => {
  const keys = new VendorKeys(signal => fetchSecret(parts, signal))
  return async (headers, rawBody, nowMs) => {
    const [id, time, signatures] = ['id', 'timestamp', 'signature'].map(name => headerOf(headers, `webhook-${name}`))
    if (!id || !time || !signatures || !isRecent(time, nowMs)) return undefined
    const sentAt = new Date(Number(time) * 1000)
    const sent = signatures.split(' ').slice(0, MAX_SIGNATURES)
    const verifies = (secret: Webhook) => {
      const expected = secret.sign(id, sentAt, Buffer.from(rawBody))
      return sent.some(signature => isEqual(signature, expected))
    }
    if (!(await keys.verify(nowMs, verifies))) return undefined
    const jobId = bodyOf(rawBody)?.['id']
    return typeof jobId === 'string' && /^[\w-]{1,255}$/.test(jobId) ? { jobId } : undefined
  }
}

/** https://replicate.com/docs/reference/http#webhooks.default.secret.get */
const fetchSecret = async (parts: VendorParts, signal: AbortSignal): Promise<Webhook> => {
  const call = new UpstreamCall(parts.fetch)
  let answer: unknown
  try {
    const client = await openReplicate(parts, call)
    answer = await client.webhooks.default.secret.get({ signal })
  } catch (error) {
    const { message } = call.unanswered(error, replicateFailures)
    throw new Error(`the secret of Replicate's callbacks cannot be fetched: ${message}`)
  }
  const { key } = (answer ?? {}) as { key?: unknown }
  try {
    return new Webhook(typeof key === 'string' ? key : '')
  } catch {
    throw new Error('Replicate sent no secret for its callbacks')
  }
}

const isEqual = (one: string, other: string): boolean => {
  const [first, second] = [Buffer.from(one), Buffer.from(other)]
  return first.length === second.length && timingSafeEqual(first, second)
}
