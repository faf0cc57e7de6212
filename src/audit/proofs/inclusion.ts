import { SEALS_STREAM } from '../../../schemas/events.ts'
import type { ConsistencyProof, InclusionProof } from '../../../schemas/proof.ts'
import type { RawEvent } from '../../../schemas/recorded.ts'
import { consistencyPath, emptyLogTree, inclusionPath, rootOf, withLink } from '../../domain/seals/log-tree.ts'
import type { ReadableLog } from '../../ports/event-log.ts'
import { Damaged } from '../../ports/faults.ts'
import { linkOf, PROOF, provenEvent, provenSeal } from '../../services/seals/proof-parts.ts'
import { type OnProgress, readLog } from '../read-log.ts'
import { findSeal, type NamedSeal, NoProof, readSealed } from './sealed-log.ts'

/** An event by its ID, or the debit of a run. */
type EventName = { eventId: string } | { runId: string }

/** Proves that a seal, by default the newest, covers an event. Throws NoProof if the seal does not cover it. */
export const proveInclusion = async (
  log: ReadableLog,
  name: EventName,
  { at, onProgress }: { at?: NamedSeal | undefined; onProgress?: OnProgress | undefined } = {},
): Promise<InclusionProof> => {
  const found = await findSeal(log, at)
  const event = await findEvent(log, name, onProgress)
  const { stream, revision } = event
  if (stream === SEALS_STREAM) throw new NoProof('A seal covers no other seal: prove it with --seals.')
  const { links, leaves } = await readSealed(log, [found], [stream], onProgress)
  const leaf = leaves[0]?.get(stream)
  if (!leaf || leaf.revision < revision)
    throw new NoProof(`Seal ${found.seal.number} does not cover the event yet: name a later seal, or wait for one.`)
  const { raw } = found
  return {
    ...PROOF,
    kind: 'inclusion',
    event: provenEvent(event, links.get(stream) ?? []),
    leaf,
    seal: provenSeal(raw),
  }
}

const findEvent = async (log: ReadableLog, name: EventName, onProgress?: OnProgress): Promise<RawEvent> => {
  const matches = (event: RawEvent) =>
    'eventId' in name
      ? event.id === name.eventId
      : event.type === 'CreditsDebited' && (event.data as { runId?: unknown } | null)?.runId === name.runId
  for await (const page of readLog(log, { onProgress })) {
    const event = page.find(matches)
    if (event) return event
  }
  throw new NoProof('eventId' in name ? `The log has no event ${name.eventId}.` : `The log has no run ${name.runId}.`)
}

/** Proves that a seal follows an earlier seal. Throws NoProof if the log lacks one of them. */
export const proveConsistency = async (log: ReadableLog, from: NamedSeal, to: NamedSeal): Promise<ConsistencyProof> => {
  const [earlier, later] = [await findSeal(log, from), await findSeal(log, to)]
  const { number } = earlier.seal
  if (number >= later.seal.number) throw new NoProof('Name the earlier seal first, and then a later one.')
  const links: string[] = []
  for await (const page of log.readStream(SEALS_STREAM, 0)) {
    // An interrupted read may repeat events. If an event is missing, the root differs.
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
