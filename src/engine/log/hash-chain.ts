import { canonicalJson, sha256 } from './canonical.ts'

/** What the first event of a stream is chained to. */
export const GENESIS = '0'.repeat(64)

/** What of an event the chain vouches for. */
export interface Chained {
  type: string
  data: unknown
  metadata: object
}

/**
 * The link of an event: SHA-256 over the hash before it and the canonical JSON (RFC 8785) of its type, data and
 * metadata without the hash itself. A changed, dropped or reordered event breaks the chain at a known place.
 */
export const link = (previousHash: string, { type, data, metadata }: Chained): string => {
  const { hash: _, ...facts } = metadata as { hash?: string }
  return sha256(previousHash + canonicalJson({ data, metadata: facts, type }))
}
