import { SEALS_STREAM } from '../../../../schemas/events.ts'
import type { ConsistencyProof } from '../../../../schemas/proof.ts'
import { consistencyPath, emptyLogTree, inclusionPath, rootOf, withLink } from '../../../domain/seals/log-tree.ts'
import type { ReadableLog } from '../../../ports/event-log.ts'
import { Damaged } from '../../../ports/faults.ts'
import { linkOf, PROOF, provenSeal } from '../../../services/seals/proof-parts.ts'
import { findSeal, type NamedSeal, NoProof } from './find-seal.ts'

/** Proves that a seal follows an earlier one. Throws NoProof if the log does not have them. */
export const proveConsistency = async (log: ReadableLog, from: NamedSeal, to: NamedSeal): Promise<ConsistencyProof> => {
  const [earlier, later] = [await findSeal(log, from), await findSeal(log, to)]
  const { number } = earlier.seal
  if (number >= later.seal.number) throw new NoProof('Name the earlier seal first, and then a later one.')
  const links: string[] = []
  for await (const page of log.readStream(SEALS_STREAM, 0)) {
    // A read that was interrupted may repeat events. A missing one shows in the root.
    for (const event of page) if (event.revision === links.length) links.push(linkOf(event))
    if (links.length >= later.seal.number) break
  }
  const before = links.slice(0, later.seal.number)
  if (rootOf(before.reduce(withLink, emptyLogTree)) !== later.seal.earlier)
    throw new Damaged(`seal ${later.seal.number} does not cover the seals before it; see tollgate audit verify`)
  return {
    ...{ ...PROOF, kind: 'consistency', earlier: provenSeal(earlier.raw), later: provenSeal(later.raw) },
    ...{ inclusion: inclusionPath(before, number), consistency: consistencyPath(before, number) },
  }
}
