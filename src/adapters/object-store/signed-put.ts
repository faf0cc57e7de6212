import { createHmac, timingSafeEqual } from 'node:crypto'
import { type PutGrant, PutRefused } from '../../ports/object-store.ts'

/** The query of a presigned URL that allows one PUT. */
export const signPut = (secret: string, grant: PutGrant): URLSearchParams => {
  const { key, mimeType, maxSizeBytes, expiresAtMs, purpose } = grant
  const query = new URLSearchParams({ expires: `${expiresAtMs}`, type: mimeType, max: `${maxSizeBytes}`, for: purpose })
  query.set('signature', signatureOf(secret, key, query))
  return query
}

/** Verifies a presigned URL and returns its grant. Throws PutRefused. */
export const readGrant = (secret: string, key: string, query: URLSearchParams): PutGrant => {
  const [actual, expected] = [query.get('signature') ?? '', signatureOf(secret, key, query)].map(text =>
    Buffer.from(text),
  )
  if (!actual || !expected || actual.byteLength !== expected.byteLength || !timingSafeEqual(actual, expected))
    throw new PutRefused({ code: 'put_address_invalid' })
  return {
    key,
    mimeType: query.get('type') ?? '',
    maxSizeBytes: Number(query.get('max')),
    expiresAtMs: Number(query.get('expires')),
    purpose: query.get('for') ?? '',
  }
}

const signatureOf = (secret: string, key: string, query: URLSearchParams): string => {
  // JSON is unambiguous: different lists have different texts.
  const signed = JSON.stringify(['PUT', key, ...['expires', 'type', 'max', 'for'].map(name => query.get(name))])
  return createHmac('sha256', secret).update(signed).digest('hex')
}
