import { SEALS_STREAM } from '../../../../schemas/events.ts'
import type { ProvenLeaf } from '../../../../schemas/proof.ts'
import { EMPTY_TREE, type StreamLeaf, withLeaves } from '../../../domain/seals/stream-tree.ts'
import type { ReadableLog } from '../../../ports/event-log.ts'
import { Damaged } from '../../../ports/faults.ts'
import { extended } from '../../../services/seals/grown-tree.ts'
import { linkOf, provenLeaf } from '../../../services/seals/proof-parts.ts'
import { type OnProgress, readLog } from '../../read-log.ts'
import type { FoundSeal } from './find-seal.ts'

/** The part of the log that proofs need, up to the last of some seals. */
export interface SealedLog {
  /** The links of each stream that was asked for. */
  links: Map<string, string[]>
  /** For each seal, the streams that were asked for and that it covers. */
  leaves: Map<string, ProvenLeaf>[]
}

/**
 * Builds the trees of some seals, which are in order, from the log. Throws Damaged if the log does not hold what they
 * cover.
 */
export const readSealed = async (
  log: ReadableLog,
  seals: FoundSeal[],
  streams: string[],
  onProgress?: OnProgress,
): Promise<SealedLog> => {
  const all = new Map<string, StreamLeaf>()
  const sealed: SealedLog = { links: new Map(streams.map(stream => [stream, []])), leaves: [] }
  let count = 0
  for await (const page of readLog(log, { onProgress }))
    for (const event of page) {
      const { stream, revision } = event
      if (stream === SEALS_STREAM) continue
      const link = linkOf(event)
      all.set(stream, extended(stream, [{ revision, link }], all.get(stream)))
      sealed.links.get(stream)?.push(link)
      count += 1
      for (let next = seals[sealed.leaves.length]; next?.seal.events === count; next = seals[sealed.leaves.length])
        sealed.leaves.push(leavesUnder(next, [...all.values()], streams))
      if (sealed.leaves.length === seals.length) return sealed
    }
  const missing = seals[sealed.leaves.length]
  throw new Damaged(`seal ${missing?.seal.number} covers ${missing?.seal.events} events, and the log holds ${count}`)
}

const leavesUnder = ({ seal }: FoundSeal, all: StreamLeaf[], streams: string[]): Map<string, ProvenLeaf> => {
  const { root, added } = withLeaves(EMPTY_TREE, all, new Map())
  if (root !== seal.root)
    throw new Damaged(`the log does not hold what seal ${seal.number} covers; see what tollgate audit verify finds`)
  const found = streams.map(stream => [stream, provenLeaf(root, stream, added)] as const)
  return new Map(found.filter((entry): entry is [string, ProvenLeaf] => entry[1] !== undefined))
}
