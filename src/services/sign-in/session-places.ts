import { createCipheriv, createDecipheriv } from 'node:crypto'
import type { Random } from '../../ports/random.ts'
import { deriveKey } from '../derive-key.ts'
import { rangeOf } from './admissions.ts'
import { browserName } from './browser-names.ts'
import type { Client } from './one-time-codes.ts'

/** Where a session was opened: a wide network (CIDR), and a browser without versions, such as `Firefox on Windows`. */
export interface SessionPlace {
  network?: string | undefined
  browser?: string | undefined
}

const CIPHER = 'aes-256-gcm'
const IV_BYTES = 12
const TAG_BYTES = 16

/**
 * Encrypts the places of sessions for the log, which never changes and which auditors read. With another master secret,
 * they are unknown.
 */
export class SessionPlaces {
  readonly #key: Buffer
  readonly #random: Random

  constructor(masterSecret: string, random: Random) {
    this.#key = deriveKey(masterSecret, 'session-places')
    this.#random = random
  }

  /** The place of a browser. No more is kept than its owner needs to know it again. */
  seal({ network, userAgent = '' }: Client): string {
    const place: SessionPlace = { network: rangeOf(network), browser: browserName(userAgent) }
    const iv = Buffer.from(this.#random.hex(IV_BYTES), 'hex')
    const cipher = createCipheriv(CIPHER, this.#key, iv)
    const text = Buffer.concat([cipher.update(JSON.stringify(place)), cipher.final()])
    return Buffer.concat([iv, cipher.getAuthTag(), text]).toString('base64url')
  }

  open(sealed: string | undefined): SessionPlace {
    if (sealed === undefined) return {}
    const bytes = Buffer.from(sealed, 'base64url')
    const textAt = IV_BYTES + TAG_BYTES
    const decipher = createDecipheriv(CIPHER, this.#key, bytes.subarray(0, IV_BYTES))
    decipher.setAuthTag(bytes.subarray(IV_BYTES, textAt))
    try {
      return JSON.parse(Buffer.concat([decipher.update(bytes.subarray(textAt)), decipher.final()]).toString())
    } catch {
      return {}
    }
  }
}
