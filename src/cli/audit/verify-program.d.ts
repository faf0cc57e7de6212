// The types of `docs/verify/verify.mjs`, the program with which customers check proofs.

/** The bytes of each public key in base64url, by its thumbprint (RFC 7638). */
export type Keys = ReadonlyMap<string, string>

export interface Shown {
  seals: { number: number; name: string; link: string; at: string }[]
  lines: string[]
}

/** A proof does not prove what it claims. The message says why, as a clause without a full stop. */
export class Wrong extends Error {}

/** Reads Ed25519 public keys in PEM, as a JSON Web Key, or as a set of them. The map is empty if there are none. */
export function parseKeys(text: string): Keys

/** The seals of a proof, and its other contents as lines. Throws Wrong. */
export function examine(text: string, keys: Keys): Shown

/** The contents of a proof as lines. If `kept` is given, the proof must contain that seal. Throws Wrong. */
export function check(text: string, keys: Keys, kept?: string): string[]

export function readEvent(texts: object, stream: string, revision: number): { type: string; data: unknown }
export function isSigned(text: string, signature: string, x: string): boolean
