import { createHash, createPublicKey, verify } from 'node:crypto'
import { SEALS_STREAM } from '../../../schemas/events.ts'
import { SealKeyAdopted, type SealPublicKey } from '../../../schemas/seal-events.ts'
import { canonicalJson } from '../../engine/log/canonical.ts'
import { compileGuard } from '../../engine/log/guard.ts'
import type { ReadableLog } from '../../ports/event-log.ts'

/** The public keys that a log adopted, by their thumbprints. What is wrong with an adoption is reported elsewhere. */
export type SealKeys = ReadonlyMap<string, SealPublicKey>

export const sealKeysIn = async (log: ReadableLog): Promise<SealKeys> => {
  const keys = new Map<string, SealPublicKey>()
  for await (const page of log.readStream(SEALS_STREAM, 0))
    for (const { type, data } of page)
      if (type === 'SealKeyAdopted' && isAdoption(data)) keys.set(thumbprintOf(data.key), data.key)
  return keys
}

const isAdoption = compileGuard(SealKeyAdopted)

/** The thumbprint of a public key (RFC 7638). */
export const thumbprintOf = ({ crv, kty, x }: SealPublicKey): string =>
  createHash('sha256')
    .update(`{"crv":${JSON.stringify(crv)},"kty":${JSON.stringify(kty)},"x":${JSON.stringify(x)}}`)
    .digest('base64url')

/** Whether a signature of the canonical JSON of an object is right. */
export const isSigned = (signed: object, signature: string, key: SealPublicKey): boolean => {
  try {
    const publicKey = createPublicKey({ key, format: 'jwk' })
    return verify(null, Buffer.from(canonicalJson(signed)), publicKey, Buffer.from(signature, 'base64url'))
  } catch {
    // Its bytes are no point of the curve.
    return false
  }
}
