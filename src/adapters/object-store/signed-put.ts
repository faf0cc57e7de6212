import { createHmac, timingSafeEqual } from 'node:crypto'
import { type PutGrant, PutRefused } from '../../ports/object-store.ts'

/** The query of a presigned URL that allows one PUT. */
export const signPut = (secret: string, { key, mimeType, maxSizeBytes, expiresAtMs }: PutGrant): URLSearchParams => {
  const query = new URLSearchParams({ expires: `${expiresAtMs}`, type: mimeType, max: `${maxSizeBytes}` })
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
  }
}

const signatureOf = (secret: string, key: string, query: URLSearchParams): string => {
  // JSON is unambiguous: different lists have different texts.
  const signed = JSON.stringify(['PUT', key, query.get('expires'), query.get('type'), query.get('max')])
  return createHmac('sha256', secret).update(signed).digest('hex')
}
