import { type Static, Type } from 'typebox'
import { Closed, Count, type EventUnion, Sha256 } from './primitives.ts'

/** A calendar month in UTC, such as `2026-11`. */
export const Period = Type.String({ pattern: '^\\d{4}-(0[1-9]|1[0-2])$' })

/** An operator is closing a period. The log is sealed at once, so that a seal covers its current events. */
export const PeriodCloseRequested = Closed({ period: Period })

/** The seal that decides which events belong to a closed period, and the number of events that it covers. */
const ClosingSeal = Closed({ number: Count, link: Sha256, events: Count })
export type ClosingSeal = Static<typeof ClosingSeal>

/** This period and all earlier periods are closed. Events that the seal does not cover belong to later periods. */
export const PeriodClosed = Closed({ period: Period, seal: ClosingSeal })
export type PeriodClosed = Static<typeof PeriodClosed>

/** All events of the stream of periods, by type. */
export const periodEvents = { PeriodCloseRequested, PeriodClosed }
export type PeriodEvent = EventUnion<typeof periodEvents>
