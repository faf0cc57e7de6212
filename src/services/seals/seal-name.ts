import type { LogSealed } from '../../../schemas/seal-events.ts'
import { sha256 } from '../../domain/digest.ts'
import { canonicalJson } from '../../engine/log/canonical.ts'

/** The name of a seal: its number, and the digest of what its signature covers. No signature covers its link. */
export const sealName = ({ signature: _, ...signed }: LogSealed): string =>
  `${signed.number}:sha256-${sha256(canonicalJson(signed))}`
