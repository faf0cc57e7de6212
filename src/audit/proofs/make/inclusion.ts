import { SEALS_STREAM } from '../../../../schemas/events.ts'
import type { InclusionProof } from '../../../../schemas/proof.ts'
import type { RawEvent } from '../../../../schemas/recorded.ts'
import type { ReadableLog } from '../../../ports/event-log.ts'
import { PROOF, provenEvent, provenSeal } from '../../../services/seals/proof-parts.ts'
import { type OnProgress, readLog } from '../../read-log.ts'
import { findSeal, type NamedSeal, NoProof } from './find-seal.ts'
import { readSealed } from './sealed-log.ts'

/** An event by its id, or the debit of a run. */
type EventName = { eventId: string } | { runId: string }

/** Proves that a seal, by default the newest, covers an event. Throws NoProof if it does not. */
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
