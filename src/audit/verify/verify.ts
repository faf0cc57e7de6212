import type { ReadableLog } from '../../ports/event-log.ts'
import type { OnProgress } from '../read-log.ts'
import type { KeptSeal } from '../seals/kept-seal.ts'
import { merge, type Verification } from './merge.ts'
import { verifyPart } from './part.ts'

export type { Verification }

export interface VerifyOptions {
  /** Checks only this account, and the catalog that its prices come from. */
  account?: string | undefined
  /** Whether positions have no gaps, as in the embedded log. */
  isDense: boolean
  /** Seals that were kept elsewhere, which the log must hold. */
  kept?: readonly KeptSeal[] | undefined
  onProgress?: OnProgress | undefined
}

/**
 * Checks everything that the log up to its present head must hold, and goes on after a fault to find the others.
 * Resolves to undefined if the log lacks the account that is to be checked.
 */
export const verifyLog = async (log: ReadableLog, options: VerifyOptions): Promise<Verification | undefined> => {
  const head = await log.head()
  const findings = await verifyPart(log, { ...options, head, part: { number: 0, of: 1 } })
  return findings.lacksAccount ? undefined : merge(head, [findings])
}
