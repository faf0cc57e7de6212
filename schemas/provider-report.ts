import { type Static, Type } from 'typebox'
import { Closed, Count, OneOf, Slug, Timestamp } from './primitives.ts'

/** Terminals show reports, so they must not contain other characters. */
const Visible = Type.String({ pattern: '^[\\x21-\\x7e]{1,200}$' })

/** An open circuit breaker: why an account at a provider, or one of its models, gets no jobs, and until when. */
const ReportedBreaker = Closed({
  provider: Slug,
  account: Visible,
  model: Type.Optional(Visible),
  kind: OneOf('unauthorized', 'out_of_quota', 'rate_limited', 'overloaded', 'unreachable', 'gone'),
  until: Timestamp,
})
export type ReportedBreaker = Static<typeof ReportedBreaker>

/**
 * Far more than the open breakers of a healthy configuration. An operator needs no more to see that something is wrong.
 */
export const MAX_REPORTED_BREAKERS = 500

/** The report of a process that submits jobs. */
export const ProviderReport = Closed({
  /** Calls in progress by provider, and the most calls per provider. */
  calls: Type.Record(Slug, Count, { additionalProperties: false }),
  maxCalls: Count,
  rests: Type.Array(ReportedBreaker, { maxItems: MAX_REPORTED_BREAKERS }),
})
export type ProviderReport = Static<typeof ProviderReport>
