import { type Static, Type } from 'typebox'
import { RunError } from '../account-events.ts'
import { Closed, OneOf, RunId, Slug, Timestamp } from '../primitives.ts'
import { RunStatus } from '../views.ts'
import { ListOf, PageLimit } from './list.ts'

const JsonObject = Type.Record(Type.String(), Type.Unknown())

export const RunRequest = Closed({
  model: Type.String({ minLength: 1, maxLength: 64, description: 'A family id or alias of the catalog' }),
  input: JsonObject,
  webhook_url: Type.Optional(Type.String({ minLength: 1, maxLength: 2048 })),
  metadata: Type.Optional(JsonObject),
})
export type RunRequest = Static<typeof RunRequest>

export const RunQuery = Closed({ dry_run: Type.Optional(OneOf('true', 'false')) })
export type RunQuery = Static<typeof RunQuery>

export const RunsQuery = Closed({
  limit: Type.Optional(PageLimit),
  cursor: Type.Optional(RunId),
  status: Type.Optional(RunStatus),
  model: Type.Optional(Slug),
})
export type RunsQuery = Static<typeof RunsQuery>

export const Run = Closed({
  object: Type.Literal('run'),
  run_id: RunId,
  status: RunStatus,
  model: Slug,
  endpoint: Slug,
  created_at: Timestamp,
  started_at: Type.Optional(Timestamp),
  completed_at: Type.Optional(Timestamp),
  credits_charged: Type.Number(),
  credits_refunded: Type.Optional(Type.Number()),
  output: Type.Optional(
    Closed({
      urls: Type.Optional(Type.Array(Type.String())),
      url: Type.Optional(Type.String()),
      text: Type.Optional(Type.String()),
      will_delete_at: Type.Optional(Timestamp),
      deleted_at: Type.Optional(Timestamp),
    }),
  ),
  error: Type.Optional(RunError),
  metadata: Type.Optional(JsonObject),
})
export type Run = Static<typeof Run>

export const RunList = ListOf(Run, RunId)
export type RunList = Static<typeof RunList>

/** What a run would cost: the answer to a dry run. */
export const Quote = Closed({
  object: Type.Literal('quote'),
  model: Slug,
  endpoint: Slug,
  credits: Type.Number(),
  lines: Type.Array(Type.Record(Type.String(), Type.Unknown())),
})
export type Quote = Static<typeof Quote>
