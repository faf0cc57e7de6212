import { SEALS_STREAM } from '../../../schemas/events.ts'
import type { PeriodClosed } from '../../../schemas/period-events.ts'
import type { Position } from '../../../schemas/recorded.ts'
import type { LogSealed, SealKeyAdopted } from '../../../schemas/seal-events.ts'
import type { ReadableLog } from '../../ports/event-log.ts'
import { sealName } from '../../services/seals/seals.ts'
import { monthAfter, startOf } from '../closings.ts'
import type { AuditedEvent, Report } from '../fault.ts'
import { hasName, isForgeable, isOldName, isSigned, type KeptSeal, thumbprintOf } from '../kept-seals.ts'
import { Links, SealedStreams } from './sealed-streams.ts'

/**
 * Each seal covers events that the log has, follows the previous seal, and is signed with the last adopted key
 * (`docs/ledger-format.md`, "Seals").
 */
export class Seals {
  readonly #streams = new SealedStreams()
  /** For each number of events that a seal covers, the log up to that event. */
  readonly #extents = new Map<number, Extent | undefined>()
  readonly #last: number
  readonly #own = new Links()
  #events = 0
  #head: string | undefined
  #key: SealKeyAdopted | undefined
  /** Every seal so far, by its number. */
  readonly #seals = new Map<number, NewestSeal>()
  #newest: NewestSeal | undefined

  /** `covered` are the numbers of events that the log's seals cover. */
  constructor(covered: number[]) {
    for (const events of covered) this.#extents.set(events, undefined)
    // There may be too many of them for the arguments of a call.
    this.#last = covered.reduce((last, events) => Math.max(last, events), 0)
  }

  get newest(): NewestSeal | undefined {
    return this.#newest
  }

  /** A seal that was taken, by its number. */
  find(number: number): NewestSeal | undefined {
    return this.#seals.get(number)
  }

  /** The number of events, without the stream of seals. */
  get events(): number {
    return this.#events
  }

  /** Takes the next event of the log, as recorded, and as decoded if that was possible. */
  take(
    raw: { stream: string; position: Position; metadata: unknown },
    event: AuditedEvent | undefined,
    report: Report,
  ) {
    const { hash: found } = (raw.metadata ?? {}) as { hash?: unknown }
    // The metadata of a damaged event may have any shape.
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
      report('the service generated the seal key beside the log, so the seals prove little', true)
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
      report(`it covers ${streams} streams, but these ${events} events are in ${extent.streams}`)
    if (extent.root !== root) report(`the first ${events} events of the log differ from the events that it covers`)
    if (extent.position !== position) report(`its position is ${position}, and ${extent.position} in this copy`, true)
  }
}

/** The newest seal, and the number of events that it covers. */
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

/** The numbers of events that the seals of a log cover. An event that is not a seal is reported in its own place. */
export const coveredIn = async (log: ReadableLog): Promise<number[]> => {
  const covered: number[] = []
  for await (const page of log.readStream(SEALS_STREAM, 0))
    for (const { type, data } of page) {
      const events = (data as { events?: unknown } | null)?.events
      if (type === 'LogSealed' && typeof events === 'number') covered.push(events)
    }
  return covered
}

/**
 * The log must contain each kept seal. The first missing seal is a fault. The first missing seal that may be forged is
 * a note.
 */
export class KeptSeals {
  /** Whether the log lacks a kept seal that may be forged. */
  isInDoubt = false
  /** Each seal by the names under which it was kept. */
  readonly #kept = new Map<number, Map<string, KeptSeal>>()
  #isReported = false

  constructor(seals: readonly KeptSeal[]) {
    for (const seal of seals)
      this.#kept.set(seal.number, (this.#kept.get(seal.number) ?? new Map()).set(seal.name, seal))
  }

  /** Takes the next event of the stream of seals, as decoded if that was possible. */
  take(number: number, event: AuditedEvent | undefined, report: Report) {
    const kept = this.#kept.get(number)
    if (!kept) return
    this.#kept.delete(number)
    const seal = event?.type === 'LogSealed' && {
      ...{ number, name: sealName(event.data as LogSealed), link: event.metadata.hash },
    }
    const others = [...kept.values()].filter(({ name }) => !seal || !hasName(seal, name))
    this.#report(others, 'it is not', report, seal ? seal.name : undefined)
  }

  end(report: Report) {
    const lost = [...this.#kept.values()].flatMap(names => [...names.values()])
    lost.sort((one, next) => one.number - next.number)
    this.#report(lost, 'the log does not hold', report)
  }

  /** Reports kept seals, with the name of the seal that the log has in their place, if any. */
  #report(seals: KeptSeal[], fault: string, report: Report, found?: string) {
    const missed = seals.find(seal => !isForgeable(seal))
    if (missed && !this.#isReported) {
      this.#isReported = true
      // Only the owner of its key can make a whole seal. A name alone may be made up.
      const condition = missed.signer ? ', so that' : ': if that name is genuine,'
      report(`${fault} seal ${missed.name}, which was kept${condition} the log was cut or rewritten since`)
    }
    const doubtful = seals.find(isForgeable)
    if (doubtful && !this.isInDoubt) {
      this.isInDoubt = true
      const { name } = doubtful
      const isOther = found !== undefined && isOldName(name)
      const what = isOther ? 'its link is not that of' : fault
      report(`${what} seal ${name}, which was kept; ${doubt(doubtful, found)}`, true)
    }
  }
}

const doubt = ({ name, signer }: KeptSeal, found: string | undefined): string =>
  isOldName(name)
    ? [
        'no signature covers such an old name, so it may be forged, and this does not show that the log was changed:',
        'if you kept the whole seal or a proof,',
        found === undefined ? 'give its name instead' : `compare its name with ${found}`,
      ].join(' ')
    : [
        `${signer?.place} says that the key ${signer?.keyId} has signed it, which this log did not adopt;`,
        'the line may be forged, or the log was sealed anew with another key: compare the keys with one that you kept',
      ].join(' ')

/**
 * Months are closed in order, once, after their end, and with an earlier seal of the log that was made after the month
 * (`docs/ledger-format.md`, "Periods").
 */
export class Periods {
  #last: PeriodClosed | undefined

  /** Takes the next event of the stream of periods. `sealAt` finds an earlier seal of the log. */
  take({ type, data }: AuditedEvent, sealAt: (number: number) => NewestSeal | undefined, report: Report) {
    if (type !== 'PeriodClosed') return
    const closed = data as PeriodClosed
    const { period, seal } = closed
    this.#compare(closed, sealAt(seal.number), report)
    if (this.#last && period <= this.#last.period) report(`${period} was closed before, with ${this.#last.period}`)
    else if (this.#last && seal.events < this.#last.seal.events)
      report(`its seal covers ${seal.events} events, and that of ${this.#last.period} ${this.#last.seal.events}`)
    this.#last = closed
  }

  #compare({ period, seal: named }: PeriodClosed, seal: NewestSeal | undefined, report: Report) {
    if (!seal || seal.link !== named.link)
      report(`the log does not hold its seal ${named.number} with the link ${named.link} before it`)
    else if (seal.events !== named.events)
      report(`its seal covers ${seal.events} events, and not the ${named.events} that it names`)
    // The closing's own time follows a clock that may have been set back since.
    if (seal && seal.at < startOf(monthAfter(period)))
      report(`its seal ${seal.number} was made at ${seal.at}, before the end of ${period}`)
  }
}
