import { createHmac } from 'node:crypto'
import type { Identity } from '../../../schemas/identity.ts'
import { loginOf } from '../../domain/login/identity.ts'
import type { Random } from '../../ports/random.ts'
import { deriveKey } from '../derive-key.ts'

/**
 * The letters of a code: consonants that are hard to confuse, and that make no words (RFC 8628, section 6.1). Eight of
 * them have 2.5 · 10¹⁰ values.
 */
const LETTERS = 'BCDFGHJKLMNPQRSTVWXZ'
const CODE_LENGTH = 8

/** The multiples of 20 that fit into a byte, so that every letter is equally likely. */
const FAIR_BYTES = 240

/** A random code, as people type it: `WDJB-MJHT`. */
export const newCode = (random: Random): string => {
  let code = ''
  while (code.length < CODE_LENGTH) {
    const byte = Number.parseInt(random.hex(1), 16)
    if (byte < FAIR_BYTES) code += LETTERS[byte % LETTERS.length]
  }
  return `${code.slice(0, CODE_LENGTH / 2)}-${code.slice(CODE_LENGTH / 2)}`
}

/** Makes the hash of a code that the log holds. Without the master secret, nobody can tell the code from it. */
export const codeHasher = (masterSecret: string) => {
  const key = deriveKey(masterSecret, 'sign-in-codes')
  return (identity: Identity, codeId: string, code: string): string =>
    createHmac('sha256', key)
      .update(`${loginOf(identity)}/${codeId}/${code.toUpperCase().replaceAll(/[^A-Z]/g, '')}`)
      .digest('hex')
}
