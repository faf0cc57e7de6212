import { createHash } from 'node:crypto'

/** The public keys that may have signed seals: the bytes of each in base64url, by its thumbprint (RFC 7638). */
export type Keys = ReadonlyMap<string, string>

/** Reads Ed25519 public keys in PEM, as a JSON Web Key, or as a set of them. The map is empty if there are none. */
export const parseKeys = (text: string): Keys => {
  const found = text.includes('-----BEGIN') ? keysInPem(text) : keysInJson(text)
  return new Map(found.filter(isKey).map(x => [thumbprintOf(x), x]))
}

/** An Ed25519 public key in PEM is these bytes and those of the key (RFC 8410). */
const PEM_PREFIX = '302a300506032b6570032100'

const keysInPem = (text: string): string[] =>
  [...text.matchAll(/-----BEGIN PUBLIC KEY-----([A-Za-z0-9+/=\s]*)-----END PUBLIC KEY-----/g)]
    .map(([, content = '']) => Buffer.from(content, 'base64'))
    .filter(bytes => bytes.toString('hex').startsWith(PEM_PREFIX) && bytes.length === 44)
    .map(bytes => bytes.subarray(12).toString('base64url'))

const keysInJson = (text: string): string[] => {
  try {
    const document = JSON.parse(text) as { keys?: unknown } | null
    const keys = (Array.isArray(document?.keys) ? document.keys : [document]) as Record<string, unknown>[]
    return keys.filter(key => key?.['kty'] === 'OKP' && key['crv'] === 'Ed25519').map(({ x }) => String(x))
  } catch {
    return []
  }
}

const isKey = (x: string): boolean => {
  const bytes = Buffer.from(x, 'base64url')
  return bytes.length === 32 && bytes.toString('base64url') === x
}

const thumbprintOf = (x: string): string =>
  createHash('sha256').update(`{"crv":"Ed25519","kty":"OKP","x":"${x}"}`).digest('base64url')
