import { createPrivateKey, createPublicKey, hash, type KeyObject, sign } from 'node:crypto'
import type { SealPublicKey } from '../../../schemas/seal-events.ts'
import { canonicalJson } from '../../engine/log/canonical.ts'

/** An Ed25519 key that signs seals. */
export interface SealKey {
  publicKey: SealPublicKey
  /** The thumbprint of the public key (RFC 7638). */
  keyId: string
  /** The service made it itself, beside the log, because none was configured. */
  isDevelopment: boolean
  /** The signature of the canonical JSON of some data, in base64url. */
  sign(data: object): string
}

/** Reads a private key in PEM (PKCS #8). Throws a TypeError if it is no Ed25519 key. */
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

/** The members of a thumbprint are in the order of their names, and so is their canonical JSON. */
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
