import { hash } from 'node:crypto'
import canonicalize from 'canonicalize'

/** A JSON value in the one form that RFC 8785 gives it, so that equal values have equal text. */
export const canonicalJson = (value: unknown): string => {
  const text = canonicalize(value)
  if (text === undefined) throw new TypeError('only a JSON value has a canonical form')
  return text
}

/** SHA-256 in lowercase hex. */
export const sha256 = (text: string | Uint8Array): string => hash('sha256', text, 'hex')
