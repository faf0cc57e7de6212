import { PERIODS_STREAM, SEALS_STREAM } from '../../../schemas/events.ts'
import type { ClosingSeal, PeriodEvent } from '../../../schemas/period-events.ts'
import type { Position } from '../../../schemas/recorded.ts'
import {
  type Closing,
  endMsOf,
  nextPeriod,
  type PeriodCommand,
  type PeriodsState,
  periodOf,
  periods,
  refuseClosed,
} from '../../domain/periods/periods.ts'
import { type Refusal, refuse } from '../../domain/refusal.ts'
import type { Mailbox } from '../../engine/streams/mailbox.ts'
import type { Clock } from '../../ports/clock.ts'
import { BEFORE_FIRST, type EventLog } from '../../ports/event-log.ts'
import { Damaged } from '../../ports/faults.ts'
import { delay } from '../../time/timers.ts'
import { type Answer, answer } from '../answer.ts'
import { type Caller, causeOf } from '../caller.ts'
import { eventCodec } from '../event-codec.ts'
import { sealIn, sealName } from '../seals/seals.ts'
import { mailboxOf, type StreamDependencies } from '../stream-mailbox.ts'

/** How long closing a month waits for its seal. Sealing takes a moment, unless the process must first read the log. */
const SEAL_WAIT_MS = 30_000

/** How often to look for the seal. */
const LOOK_EVERY_MS = 200

interface Dependencies extends StreamDependencies {
  sealWaitMs?: number
}

/** Months that were closed together: from `from` to `period`. */
export interface ClosedPeriods extends Closing {
  from: string
  sealName: string
}

/** Closes months. The seal of a closing decides which events belong to the months. */
export class Periods {
  readonly #log: EventLog
  readonly #clock: Clock
  readonly #sealWaitMs: number
  readonly #mailbox: Mailbox<PeriodCommand, PeriodsState, PeriodEvent, Refusal>

  readonly permissions = { close: 'operate', list: 'operate' } as const

  constructor({ sealWaitMs = SEAL_WAIT_MS, ...dependencies }: Dependencies) {
    this.#log = dependencies.log
    this.#clock = dependencies.clock
    this.#sealWaitMs = sealWaitMs
    this.#mailbox = mailboxOf(PERIODS_STREAM, periods, dependencies)
  }

  /** All closed months, the earliest first. */
  async list(_caller: Caller): Promise<Answer<ClosedPeriods[]>> {
    const { closings } = await this.#mailbox.currentState()
    const first = (await this.#firstPeriod()) ?? ''
    const names = await Promise.all(closings.map(closing => this.#sealNameOf(closing)))
    return answer(
      closings.map((closing, index) => ({
        ...{ ...closing, from: fromOf(closings.slice(0, index), first), sealName: names[index] as string },
      })),
    )
  }

  /**
   * Closes a month that is over, and all open months before it. Requests a seal of the whole log and waits for it.
   * After a crash, the next attempt continues with the requested seal.
   */
  async close(caller: Caller, period: string): Promise<Answer<ClosedPeriods>> {
    const first = await this.#firstPeriod()
    if (first === undefined || period < first) return refuse('period_before_log', { first: first ?? 'no month yet' })
    const requested = await this.#request(caller, period)
    if ('refuse' in requested) return requested
    const seal = await this.#awaitSeal(requested.value, period)
    if (!seal) return refuse('period_not_sealed', { period, waitedMs: this.#sealWaitMs })
    if (isEarly(seal, period)) return refuse('period_not_over', { period, now: seal.at })
    const { number, link, events } = seal
    const command: PeriodCommand = { type: 'Close', period, seal: { number, link, events } }
    const outcome = await this.#mailbox.execute(command, causeOf(caller))
    if ('refuse' in outcome) return outcome
    const { closings } = await this.#mailbox.state()
    const index = closings.findIndex(closing => closing.period === period)
    return answer({
      ...(closings[index] as Closing),
      from: fromOf(closings.slice(0, index), first),
      sealName: seal.name,
    })
  }

  /** Resolves to the position of the request for the seal, which an earlier attempt may have made. */
  async #request(caller: Caller, period: string): Promise<Answer<Position>> {
    const state = await this.#mailbox.currentState()
    const closed = refuseClosed(period, state)
    if (closed) return closed
    const { request } = state
    const before = request?.period === period && (await this.#log.readEvent(PERIODS_STREAM, request.revision))
    if (before) {
      const seal = await findSeal(this.#log, soughtFor(period, before.position))
      if (!seal || !isEarly(seal, period)) return answer(before.position)
    }
    const outcome = await this.#mailbox.execute({ type: 'RequestClose', period }, causeOf(caller))
    return 'refuse' in outcome ? outcome : answer(outcome.position)
  }

  async #awaitSeal(requested: Position, period: string): Promise<FoundSeal | undefined> {
    const endMs = this.#clock.monotonicMs() + this.#sealWaitMs
    for (;;) {
      const seal = await findSeal(this.#log, soughtFor(period, requested))
      if (seal || this.#clock.monotonicMs() >= endMs) return seal
      await delay(this.#clock, LOOK_EVERY_MS)
    }
  }

  async #sealNameOf({ period, seal: { number, link } }: Closing): Promise<string> {
    const raw = await this.#log.readEvent(SEALS_STREAM, number)
    const seal = raw && sealIn(raw)
    if (seal?.link === link) return seal.name
    throw new Damaged(`the log does not hold seal ${number}, with which ${period} was closed`)
  }

  /** The month of the first event; undefined for an empty log. */
  async #firstPeriod(): Promise<string | undefined> {
    for await (const [event] of this.#log.readAll(BEFORE_FIRST))
      if (event) return periodOf((event.metadata as { at: string }).at)
    return undefined
  }
}

/** The first of the months that are closed together with `period`. */
const fromOf = (before: readonly Closing[], first: string): string => {
  const last = before.at(-1)
  return last ? nextPeriod(last.period) : first
}

const soughtFor = (period: string, after: Position) => ({ after, notBeforeMs: endMsOf(period) })

/** Judged by the clock of the sealing process. */
const isEarly = ({ at }: FoundSeal, period: string): boolean => Date.parse(at) < endMsOf(period)

/** A seal, with its name and time. */
export interface FoundSeal extends ClosingSeal {
  name: string
  at: string
}

interface Sought {
  /** The seal must cover the event at this position. */
  after: Position
  notBeforeMs: number
}

/** The first seal that covers the event and is late enough, or else the last seal that covers the event. */
export const findSeal = async (
  log: Pick<EventLog, 'readAll'>,
  { after, notBeforeMs }: Sought,
): Promise<FoundSeal | undefined> => {
  let early: FoundSeal | undefined
  // A seal from before the event may have a position of another store, from which the log was copied.
  for await (const page of log.readAll(after))
    for (const raw of page) {
      if (raw.stream !== SEALS_STREAM || raw.type !== 'LogSealed') continue
      const event = eventCodec.decode(raw)
      if (event.type !== 'LogSealed') continue
      const { number, events, position, at } = event.data
      if (position < after) continue
      const seal = { number, name: sealName(event.data), link: event.metadata.hash, events, at }
      if (Date.parse(at) >= notBeforeMs) return seal
      early = seal
    }
  return early
}
