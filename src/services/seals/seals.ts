import type { Seal } from '../../../schemas/api/seal.ts'
import { SEALS_STREAM } from '../../../schemas/events.ts'
import type { RawEvent } from '../../../schemas/recorded.ts'
import type { LogSealed, SealKeyAdopted } from '../../../schemas/seal-events.ts'
import { sha256 } from '../../domain/digest.ts'
import { refuse } from '../../domain/refusal.ts'
import { canonicalJson } from '../../engine/log/hash-chain.ts'
import type { EventLog } from '../../ports/event-log.ts'
import type { SealCopy } from '../../ports/seal-sink.ts'
import { type Answer, answer } from '../answer.ts'
import type { Caller } from '../caller.ts'
import { eventCodec } from '../event-codec.ts'
import type { SealStream } from './seal-stream.ts'

/** Shows the seals of the log, and the keys that signed them. */
export class Seals {
  readonly #log: Pick<EventLog, 'readEvent'>
  readonly #stream: SealStream

  /** Public keys are for everyone and reveal nothing about any account. */
  readonly permissions = { keys: 'public', find: 'read' } as const

  constructor({ log, seals }: { log: Pick<EventLog, 'readEvent'>; seals: SealStream }) {
    this.#log = log
    this.#stream = seals
  }

  /** All keys that ever signed seals, in the order of their first adoption. */
  async keys(_caller: Caller): Promise<Answer<SealKeyAdopted[]>> {
    const { keys } = await this.#stream.recentState()
    return answer([...new Map(keys.map(key => [key.keyId, key])).values()])
  }

  /** The newest seal, or the seal with a number. */
  async find(_caller: Caller, number?: number): Promise<Answer<Seal>> {
    const { links, seal, sealLink = '' } = await this.#stream.recentState()
    if (seal && (number ?? seal.number) === seal.number) return answer(show(sealLink, seal))
    const earlier = number !== undefined && number < links.size ? await this.#read(number) : undefined
    return earlier ? answer(earlier) : refuse('seal_not_found', { number })
  }

  async #read(number: number): Promise<Seal | undefined> {
    const raw = await this.#log.readEvent(SEALS_STREAM, number)
    return raw && sealIn(raw)
  }
}

/** The seal as a line of JSON for a sink; undefined for any other event. */
export const copyOf = (raw: RawEvent): SealCopy | undefined => {
  const seal = sealIn(raw)
  return seal && { number: seal.number, link: seal.link, name: seal.name, text: canonicalJson(seal) }
}

/** The API form of a seal; undefined for any other event. */
export const sealIn = (raw: RawEvent): Seal | undefined => {
  const event = eventCodec.decode(raw)
  return event.type === 'LogSealed' ? show(event.metadata.hash, event.data) : undefined
}

const show = (link: string, data: LogSealed): Seal => ({
  ...{ object: 'seal', number: data.number, name: sealName(data), link, data },
})

/** The name of a seal: its number, and the digest of its signed content. No signature covers its link. */
export const sealName = ({ signature: _, ...signed }: LogSealed): string =>
  `${signed.number}:sha256-${sha256(canonicalJson(signed))}`
