import { createCipheriv, createDecipheriv, type KeyObject } from 'node:crypto'
import type { Random } from '../../ports/random.ts'

// AES-256-GCM (NIST SP 800-38D) with random initialization vectors. One key serves up to 2^32 texts, more events than
// an account can have. Keys are KeyObjects: since OpenSSL 3.5, each use of the bytes of a key costs four times as much.

const ALGORITHM = 'aes-256-gcm'
const IV_BYTES = 12
const TAG_BYTES = 16

/** The initialization vector before a ciphertext, and the tag after it. */
export const OVERHEAD_BYTES = IV_BYTES + TAG_BYTES

export const KEY_BYTES = 32

/** Encrypts bytes. `context` must be the same when they are decrypted. */
export const encrypt = (key: KeyObject, bytes: Uint8Array, context: string, random: Random): Buffer => {
  const iv = Buffer.from(random.hex(IV_BYTES), 'hex')
  const cipher = createCipheriv(ALGORITHM, key, iv).setAAD(Buffer.from(context))
  return Buffer.concat([iv, cipher.update(bytes), cipher.final(), cipher.getAuthTag()])
}

/** The bytes that were encrypted; undefined if the key, the context or the text is another. */
export const decrypt = (key: KeyObject, encrypted: Uint8Array, context: string): Buffer | undefined => {
  const end = encrypted.byteLength - TAG_BYTES
  if (end < IV_BYTES) return undefined
  const decipher = createDecipheriv(ALGORITHM, key, encrypted.subarray(0, IV_BYTES), { authTagLength: TAG_BYTES })
  decipher.setAAD(Buffer.from(context)).setAuthTag(encrypted.subarray(end))
  try {
    return Buffer.concat([decipher.update(encrypted.subarray(IV_BYTES, end)), decipher.final()])
  } catch {
    return undefined
  }
}
