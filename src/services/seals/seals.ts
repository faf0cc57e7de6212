import { SEALS_STREAM } from '../../../schemas/events.ts'
import type { LogSealed, SealKeyAdopted } from '../../../schemas/seal-events.ts'
import { refuse } from '../../domain/refusal.ts'
import type { EventLog } from '../../ports/event-log.ts'
import { type Answer, answer } from '../answer.ts'
import type { Caller } from '../caller.ts'
import { eventCodec } from '../event-codec.ts'
import type { SealStream } from './seal-stream.ts'

/** A seal with the link of its event. */
export interface LinkedSeal {
  link: string
  seal: LogSealed
}

/** Shows the seals of the log, and the keys that signed them. */
export class Seals {
  readonly #log: Pick<EventLog, 'readEvent'>
  readonly #stream: SealStream

  constructor({ log, seals }: { log: Pick<EventLog, 'readEvent'>; seals: SealStream }) {
    this.#log = log
    this.#stream = seals
  }

  /** Each key that ever signed seals, in the order of their first adoption. */
  async keys(_caller: Caller): Promise<Answer<SealKeyAdopted[]>> {
    const { keys } = await this.#stream.recentState()
    return answer([...new Map(keys.map(key => [key.keyId, key])).values()])
  }

  /** The newest seal, or the one with a number. */
  async find(_caller: Caller, number?: number): Promise<Answer<LinkedSeal>> {
    const { links, seal, sealLink = '' } = await this.#stream.recentState()
    if (seal && (number ?? seal.number) === seal.number) return answer({ link: sealLink, seal })
    const earlier = number !== undefined && number < links.size ? await this.#read(number) : undefined
    return earlier ? answer(earlier) : refuse('seal_not_found', { number })
  }

  async #read(number: number): Promise<LinkedSeal | undefined> {
    const raw = await this.#log.readEvent(SEALS_STREAM, number)
    const event = raw && eventCodec.decode(raw)
    return event?.type === 'LogSealed' ? { link: event.metadata.hash, seal: event.data } : undefined
  }
}
