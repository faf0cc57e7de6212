import { createHmac, timingSafeEqual } from 'node:crypto'
import { type PutGrant, PutRefused } from '../../ports/object-store.ts'

/** What makes an address allow one PUT, as its query. */
export const signPut = (secret: string, { key, mimeType, maxSizeBytes, expiresAtMs }: PutGrant): URLSearchParams => {
  const query = new URLSearchParams({ expires: `${expiresAtMs}`, type: mimeType, max: `${maxSizeBytes}` })
  query.set('signature', signatureOf(secret, key, query))
  return query
}

/** What an address allows, when it is one of ours. Throws PutRefused. */
export const readGrant = (secret: string, key: string, query: URLSearchParams): PutGrant => {
  const [given, right] = [query.get('signature') ?? '', signatureOf(secret, key, query)].map(text => Buffer.from(text))
  if (!given || !right || given.byteLength !== right.byteLength || !timingSafeEqual(given, right))
    throw new PutRefused('forbidden', 'The address is not one that was given for an upload.')
  return {
    key,
    mimeType: query.get('type') ?? '',
    maxSizeBytes: Number(query.get('max')),
    expiresAtMs: Number(query.get('expires')),
  }
}

const signatureOf = (secret: string, key: string, query: URLSearchParams): string => {
  // In JSON, no two different lists of texts look the same.
  const signed = JSON.stringify(['PUT', key, query.get('expires'), query.get('type'), query.get('max')])
  return createHmac('sha256', secret).update(signed).digest('hex')
}
