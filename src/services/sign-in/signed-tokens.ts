import { createHmac, timingSafeEqual } from 'node:crypto'
import { deriveKey } from '../derive-key.ts'

/** Longer than any token. */
const MAX_LENGTH = 200

/** Makes and reads tokens for cookies: two texts without dots, and a MAC, so that nobody else can make one. */
export class SignedTokens {
  readonly #key: Buffer

  /** Tokens of one purpose are none of another. */
  constructor(masterSecret: string, purpose: string) {
    this.#key = deriveKey(masterSecret, purpose)
  }

  make(first: string, second: string): string {
    return `${first}.${second}.${this.#macOf(first, second).toString('base64url')}`
  }

  /** The two texts; undefined for a token that was not made here. */
  read(token: string): [first: string, second: string] | undefined {
    if (token.length > MAX_LENGTH) return undefined
    const [first = '', second = '', given = ''] = token.split('.')
    const mac = Buffer.from(given, 'base64url')
    const expected = this.#macOf(first, second)
    return mac.length === expected.length && timingSafeEqual(mac, expected) ? [first, second] : undefined
  }

  #macOf(first: string, second: string): Buffer {
    return createHmac('sha256', this.#key).update(`${first}.${second}`).digest()
  }
}
