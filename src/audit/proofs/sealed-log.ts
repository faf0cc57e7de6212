import { SEALS_STREAM } from '../../../schemas/events.ts'
import type { ProvenLeaf } from '../../../schemas/proof.ts'
import type { RawEvent } from '../../../schemas/recorded.ts'
import type { LogSealed } from '../../../schemas/seal-events.ts'
import { EMPTY_TREE, type StreamLeaf, withLeaves } from '../../domain/seals/stream-tree.ts'
import type { ReadableLog } from '../../ports/event-log.ts'
import { Damaged } from '../../ports/faults.ts'
import { eventCodec } from '../../services/event-codec.ts'
import { extended } from '../../services/seals/grown-tree.ts'
import { linkOf, provenLeaf } from '../../services/seals/proof-parts.ts'
import { sealName } from '../../services/seals/seals.ts'
import { hasName } from '../kept-seals.ts'
import { type OnProgress, readLog } from '../read-log.ts'

/** The part of the log that proofs need, up to the last of some seals. */
export interface SealedLog {
  /** The links of each requested stream. */
  links: Map<string, string[]>
  /** For each seal, the requested streams that it covers. */
  leaves: Map<string, ProvenLeaf>[]
}

/**
 * Builds the trees of some seals, which must be in order. Throws Damaged if the log does not contain the events that
 * the seals cover.
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
  throw new Damaged(`seal ${missing?.seal.number} covers ${missing?.seal.events} events, but the log has ${count}`)
}

const leavesUnder = ({ seal }: FoundSeal, all: StreamLeaf[], streams: string[]): Map<string, ProvenLeaf> => {
  const { root, added } = withLeaves(EMPTY_TREE, all, new Map())
  if (root !== seal.root)
    throw new Damaged(`the log lacks events that seal ${seal.number} covers; run tollgate audit verify`)
  const found = streams.map(stream => [stream, provenLeaf(root, stream, added)] as const)
  return new Map(found.filter((entry): entry is [string, ProvenLeaf] => entry[1] !== undefined))
}

/** A seal by its number and, optionally, its name. */
export interface NamedSeal {
  number: number
  name?: string | undefined
}

/** A seal, and its recorded event. */
export interface FoundSeal {
  raw: RawEvent
  seal: LogSealed
}

/** A seal of the log, by default the newest. Throws NoProof if the log does not have the seal. */
export const findSeal = async (log: ReadableLog, named: NamedSeal | undefined): Promise<FoundSeal> => {
  const raw = named ? await log.readEvent(SEALS_STREAM, named.number) : await newestSeal(log)
  if (raw?.type !== 'LogSealed') throw new NoProof(missing(named, await newestSeal(log)))
  const seal = eventCodec.decode(raw).data as LogSealed
  const found = { number: raw.revision, name: sealName(seal), link: linkOf(raw) }
  if (named?.name !== undefined && !hasName(found, named.name))
    throw new NoProof(`Seal ${named.number} of the log is ${found.name}, not the seal that you named.`)
  return { raw, seal }
}

const missing = (named: NamedSeal | undefined, newest: RawEvent | undefined): string => {
  if (!newest) return 'The log has no seal yet: a service with the role sealer makes one within SEAL_MINUTES.'
  return `The log has no seal ${named?.number}; its newest is seal ${newest.revision}.`
}

const newestSeal = async (log: ReadableLog): Promise<RawEvent | undefined> => {
  let newest: RawEvent | undefined
  for await (const page of log.readStream(SEALS_STREAM, 0))
    newest = page.findLast(({ type }) => type === 'LogSealed') ?? newest
  return newest
}

/** The log cannot prove this. The message gives the reason. */
export class NoProof extends Error {
  override name = 'NoProof'
}
