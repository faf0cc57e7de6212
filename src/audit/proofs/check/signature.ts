import { createPublicKey, verify } from 'node:crypto'

/**
 * Whether an Ed25519 signature (RFC 8032) of a text is right. Both it and the key are in base64url. Keys of small order
 * are refused, because anybody can sign for them.
 */
export const isSigned = (text: string, signature: string, key: string): boolean => {
  const [bytes, keyBytes] = [Buffer.from(signature, 'base64url'), Buffer.from(key, 'base64url')]
  if (bytes.toString('base64url') !== signature || bytes.length !== 64 || !isSafe(keyBytes)) return false
  try {
    const publicKey = createPublicKey({ key: { kty: 'OKP', crv: 'Ed25519', x: key }, format: 'jwk' })
    return verify(null, Buffer.from(text), publicKey, bytes)
  } catch {
    // The bytes of the key are no point of the curve.
    return false
  }
}

/** The order of the field, and the coordinates y of the points whose order divides 8. */
const P = 2n ** 255n - 19n
const Y8 = 2707385501144840649318225287225658788936804267575313519463743609750303021036n
const SMALL_ORDER = [0n, 1n, P - 1n, Y8, P - Y8]

const isSafe = (key: Buffer): boolean => {
  const y = BigInt(`0x${Buffer.from(key).reverse().toString('hex')}`) % 2n ** 255n
  return key.length === 32 && y < P && !SMALL_ORDER.includes(y)
}
