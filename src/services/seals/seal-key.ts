import { createPrivateKey, createPublicKey, hash, type KeyObject, sign } from 'node:crypto'
import type { SealPublicKey } from '../../../schemas/seal-events.ts'
import { canonicalJson } from '../../engine/log/hash-chain.ts'

/** An Ed25519 key that signs seals. */
export interface SealKey {
  publicKey: SealPublicKey
  /** The thumbprint of the public key (RFC 7638). */
  keyId: string
  /** Whether the service created the key, because none was configured. */
  isDevelopment: boolean
  /** The signature of the canonical JSON of some data, in base64url. */
  sign(data: object): string
}

/** Parses a private key in PEM (PKCS #8). Throws a TypeError if it is not an Ed25519 key. */
export const parseSealKey = (pem: string, { isDevelopment }: { isDevelopment: boolean }): SealKey => {
  const key = toPrivateKey(pem)
  const { x = '' } = createPublicKey(key).export({ format: 'jwk' })
  const publicKey: SealPublicKey = { kty: 'OKP', crv: 'Ed25519', x }
  return {
    publicKey,
    keyId: keyIdOf(publicKey),
    isDevelopment,
    sign: data => sign(null, Buffer.from(canonicalJson(data)), key).toString('base64url'),
  }
}

/** A thumbprint requires the members in alphabetical order, and so does canonical JSON. */
const keyIdOf = (publicKey: SealPublicKey): string => hash('sha256', canonicalJson(publicKey), 'base64url')

const toPrivateKey = (pem: string): KeyObject => {
  let key: KeyObject | undefined
  try {
    key = createPrivateKey(pem)
  } catch {
    // The error may quote the key.
  }
  if (key?.asymmetricKeyType === 'ed25519') return key
  throw new TypeError('it is not an Ed25519 private key in PEM; make a key with: openssl genpkey -algorithm ed25519')
}
