import { type Static, Type } from 'typebox'
import { Closed, OneOf, Slug, Timestamp } from './primitives.ts'

const Count = Type.Integer({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER })

/** Reports are shown on terminals, so that nothing else may be in them. */
const Visible = Type.String({ pattern: '^[\\x21-\\x7e]{1,200}$' })

/** Why an account at a provider, or one of its models, gets no jobs, and until when. */
const ReportedRest = Closed({
  provider: Slug,
  account: Visible,
  model: Type.Optional(Visible),
  kind: OneOf('unauthorized', 'out_of_quota', 'rate_limited', 'overloaded', 'unreachable', 'gone'),
  until: Timestamp,
})
export type ReportedRest = Static<typeof ReportedRest>

/** More than a sound configuration has. An operator who sees so many knows enough. */
export const MAX_REPORTED_RESTS = 500

/** What a process that submits jobs says of its providers. */
export const ProviderReport = Closed({
  /** Its calls that are in progress, by provider, and how many may be for each. */
  calls: Type.Record(Slug, Count, { additionalProperties: false }),
  maxCalls: Count,
  rests: Type.Array(ReportedRest, { maxItems: MAX_REPORTED_RESTS }),
})
export type ProviderReport = Static<typeof ProviderReport>
