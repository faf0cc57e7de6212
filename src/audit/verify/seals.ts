import { SEALS_STREAM } from '../../../schemas/events.ts'
import type { Position } from '../../../schemas/recorded.ts'
import type { LogSealed, SealKeyAdopted } from '../../../schemas/seal-events.ts'
import type { ReadableLog } from '../../ports/event-log.ts'
import { sealName } from '../../services/seals/seal-name.ts'
import type { Report } from '../fault.ts'
import type { KeptSeal } from '../seals/kept-seal.ts'
import { isSigned, thumbprintOf } from '../seals/seal-keys.ts'
import { Links, SealedStreams } from '../seals/sealed-streams.ts'
import type { AuditedEvent } from './rule.ts'

/** The newest seal, and how many events of the log it covers. */
export interface NewestSeal extends KeptSeal {
  link: string
  events: number
  at: string
}

/** The log up to the last event that a seal covers. */
interface Extent {
  root: string
  streams: number
  position: Position
}

/**
 * Each seal covers what the log holds, follows the seal before it, and is signed with the key that was adopted last
 * (`docs/ledger-format.md`, "Seals").
 */
export class Seals {
  readonly #streams = new SealedStreams()
  /** For each number of events that a seal covers, what the log holds. */
  readonly #extents = new Map<number, Extent | undefined>()
  readonly #last: number
  readonly #own = new Links()
  #events = 0
  #head: string | undefined
  #key: SealKeyAdopted | undefined
  /** Every seal so far, by its number. */
  readonly #seals = new Map<number, NewestSeal>()
  #newest: NewestSeal | undefined

  /** `covered` are the numbers of events that the seals of the log cover. */
  constructor(covered: number[]) {
    for (const events of covered) this.#extents.set(events, undefined)
    // There may be more of them than a call can have arguments.
    this.#last = covered.reduce((last, events) => Math.max(last, events), 0)
  }

  get newest(): NewestSeal | undefined {
    return this.#newest
  }

  /** A seal that was taken, by its number. */
  find(number: number): NewestSeal | undefined {
    return this.#seals.get(number)
  }

  /** The number of events, without those of the stream of seals. */
  get events(): number {
    return this.#events
  }

  /** Takes the next event of the log, as it was written, and as it was read if that was possible. */
  take(
    raw: { stream: string; position: Position; metadata: unknown },
    event: AuditedEvent | undefined,
    report: Report,
  ) {
    const { hash: found } = (raw.metadata ?? {}) as { hash?: unknown }
    // The metadata of a damaged event may hold anything.
    const hash = typeof found === 'string' ? found : ''
    if (raw.stream !== SEALS_STREAM) return this.#count(raw.stream, raw.position, hash)
    if (event?.type === 'SealKeyAdopted') this.#takeKey(event.data as SealKeyAdopted, report)
    if (event?.type === 'LogSealed') this.#takeSeal(event.data as LogSealed, event, report)
    this.#own.add(hash)
    this.#head = hash
  }

  #count(stream: string, position: Position, link: string) {
    this.#events += 1
    if (this.#events > this.#last) return
    this.#streams.take(stream, link)
    if (!this.#extents.has(this.#events)) return
    const { size: streams } = this.#streams
    this.#extents.set(this.#events, { root: this.#streams.root(), streams, position })
  }

  #takeKey(adopted: SealKeyAdopted, report: Report) {
    const { signature, ...signed } = adopted
    const signer = this.#key ?? adopted
    if (thumbprintOf(adopted.key) !== adopted.keyId) report('the id of the key is not its thumbprint')
    if (!isSigned(signed, signature, signer.key)) report(`the key is not signed with the key ${signer.keyId}`)
    if (adopted.development)
      report('the key of the seals was made by the service itself, beside the log, so that they prove little', true)
    this.#key = adopted
  }

  #takeSeal(seal: LogSealed, { revision, metadata: { hash } }: AuditedEvent, report: Report) {
    const { signature, ...signed } = seal
    if (seal.number !== revision) report(`its number is ${seal.number}, and its revision ${revision}`)
    if (seal.previous !== this.#head) report('it does not follow the event before it')
    if (seal.earlier !== this.#own.root()) report('it does not cover the seals before it')
    if (seal.keyId !== this.#key?.keyId) report(`its key ${seal.keyId} was not adopted`)
    else if (!isSigned(signed, signature, this.#key.key)) report('its signature is wrong')
    if (this.#newest && seal.events <= this.#newest.events)
      report(`it covers ${seal.events} events, and the seal before it ${this.#newest.events}`)
    this.#compare(seal, report)
    this.#newest = { number: revision, name: sealName(seal), link: hash, events: seal.events, at: seal.at }
    this.#seals.set(revision, this.#newest)
  }

  #compare({ events, root, streams, position }: LogSealed, report: Report) {
    const extent = this.#extents.get(events)
    if (!extent) return report(`it covers ${events} events, and the log holds ${this.#events} before it`)
    if (extent.streams !== streams)
      report(`it covers ${streams} streams, and these ${events} events are in ${extent.streams}`)
    if (extent.root !== root) report(`the first ${events} events of the log are not those that it covers`)
    if (extent.position !== position) report(`its position is ${position}, and ${extent.position} in this copy`, true)
  }
}

/** How many events the seals of a log cover. What is no seal is reported when it is read in its place. */
export const coveredIn = async (log: ReadableLog): Promise<number[]> => {
  const covered: number[] = []
  for await (const page of log.readStream(SEALS_STREAM, 0))
    for (const { type, data } of page) {
      const events = (data as { events?: unknown } | null)?.events
      if (type === 'LogSealed' && typeof events === 'number') covered.push(events)
    }
  return covered
}
