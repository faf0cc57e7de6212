import { SEALS_STREAM } from '../../../../schemas/events.ts'
import type { RawEvent } from '../../../../schemas/recorded.ts'
import type { LogSealed } from '../../../../schemas/seal-events.ts'
import type { ReadableLog } from '../../../ports/event-log.ts'
import { eventCodec } from '../../../services/event-codec.ts'
import { linkOf } from '../../../services/seals/proof-parts.ts'
import { sealName } from '../../../services/seals/seals.ts'
import { hasName } from '../../seals/kept-seal.ts'

/** A seal as people name it: its number, and perhaps its name. */
export interface NamedSeal {
  number: number
  name?: string | undefined
}

/** A seal, and its event as it was written. */
export interface FoundSeal {
  raw: RawEvent
  seal: LogSealed
}

/** A seal of the log; the newest if none is named. Throws NoProof if the log does not have it. */
export const findSeal = async (log: ReadableLog, named: NamedSeal | undefined): Promise<FoundSeal> => {
  const raw = named ? await log.readEvent(SEALS_STREAM, named.number) : await newestSeal(log)
  if (raw?.type !== 'LogSealed') throw new NoProof(missing(named, await newestSeal(log)))
  const seal = eventCodec.decode(raw).data as LogSealed
  const found = { number: raw.revision, name: sealName(seal), link: linkOf(raw) }
  if (named?.name !== undefined && !hasName(found, named.name))
    throw new NoProof(`Seal ${named.number} of the log is ${found.name}, and not the one you named.`)
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

/** The log has nothing to prove. The message says why. */
export class NoProof extends Error {
  override name = 'NoProof'
}
