import { createHash, createPublicKey, verify } from 'node:crypto'
import { open } from 'node:fs/promises'
import { SEALS_STREAM } from '../../schemas/events.ts'
import { LogSealed, SealKeyAdopted, type SealPublicKey } from '../../schemas/seal-events.ts'
import { compileGuard } from '../engine/log/codec.ts'
import { canonicalJson } from '../engine/log/hash-chain.ts'
import type { ReadableLog } from '../ports/event-log.ts'
import { Damaged } from '../ports/faults.ts'
import { sealName } from '../services/seals/seals.ts'

/** A seal that was kept outside the log. */
export interface KeptSeal {
  number: number
  /** The name of the seal. Seals from before names have their number and link, such as `12:6cdf…`. */
  name: string
  /**
   * For a whole seal from a file: the key that signed it, whether the log adopted the key, and the place in the file.
   */
  signer?: { keyId: string; isAdopted: boolean; place: string }
}

/** Whether a name has the old form. Such a name may be forged, because no signature covers a link. */
export const isOldName = (name: string): boolean => !name.includes(':sha256-')

/** Whether anyone could have made the seal. */
export const isForgeable = ({ name, signer }: KeptSeal): boolean => isOldName(name) || signer?.isAdopted === false

/** Whether a seal has a name, in the new or the old form. */
export const hasName = (seal: KeptSeal & { link: string }, name: string): boolean =>
  name === seal.name || name === `${seal.number}:${seal.link}`

/** The public keys that a log adopted, by thumbprint. Faults of adoptions are reported elsewhere. */
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

/** Whether a signature of an object's canonical JSON is valid. */
export const isSigned = (signed: object, signature: string, key: SealPublicKey): boolean => {
  try {
    const publicKey = createPublicKey({ key, format: 'jwk' })
    return verify(null, Buffer.from(canonicalJson(signed)), publicKey, Buffer.from(signature, 'base64url'))
  } catch {
    // The bytes are not a point on the curve.
    return false
  }
}

/**
 * The seals in a file that the service wrote, one per line. The last line may be incomplete, if the service was writing
 * it. `keys` are the keys that the log adopted. Rejects with Damaged for another kind of file, and for a line with an
 * invalid signature: anyone could have written that line, so it proves nothing about the log.
 */
export const readSealFile = async (path: string, keys: SealKeys): Promise<KeptSeal[]> => {
  const file = await open(path)
  const seals: KeptSeal[] = []
  let odd: number | undefined
  let number = 0
  for await (const line of file.readLines()) {
    number += 1
    if (odd !== undefined) break
    const data = sealIn(line)
    if (data) seals.push(keptSeal(data, keys, `${path}, line ${number}`))
    else odd = number
  }
  if (odd !== undefined && (odd < number || seals.length === 0)) throw new Damaged(`${path}, line ${odd} is not a seal`)
  if (seals.length === 0) throw new Damaged(`${path} has no seals`)
  return seals
}

const isSeal = compileGuard(LogSealed)

const sealIn = (line: string): LogSealed | undefined => {
  try {
    const { data } = JSON.parse(line) as { data?: unknown }
    return isSeal(data) ? data : undefined
  } catch {
    return undefined
  }
}

/** A seal named by its signed content, which every line has. Seals from before names have no other name. */
const keptSeal = (data: LogSealed, keys: SealKeys, place: string): KeptSeal => {
  const { signature, ...signed } = data
  const { number, keyId } = data
  const key = keys.get(keyId)
  if (key && !isSigned(signed, signature, key)) throw new Damaged(`${place} is not signed with its key ${keyId}`)
  return { number, name: sealName(data), signer: { keyId, place, isAdopted: key !== undefined } }
}
