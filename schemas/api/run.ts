import { type Static, Type } from 'typebox'
import { RunError } from '../account-events.ts'
import {
  Closed,
  JsonObject,
  MAX_INPUT_BYTES,
  MAX_METADATA_BYTES,
  OneOf,
  RunId,
  Slug,
  Timestamp,
  Uuid,
} from '../primitives.ts'
import { RunStatus } from '../views.ts'
import { about } from './about.ts'
import { ListOf, PageCursor, PageLimit } from './list.ts'

/** In the document it has the families that are on offer; the catalog also knows aliases of them. */
export const ModelId = about(
  Type.String({ minLength: 1, maxLength: 64 }),
  'A family of the catalog, by its id. Its aliases are understood as well.',
  'nano-banana-2',
)

const Metadata = about(
  JsonObject,
  `Anything of yours, of up to ${MAX_METADATA_BYTES / 1024} KB; it stays with the run.`,
  {
    order: 17,
  },
)

export const RunRequest = Closed({
  model: ModelId,
  input: about(
    JsonObject,
    `What \`parameters_schema\` of the model's endpoint asks for in the list of models (\`GET /v1/models\`, or the tool list_models with the model's id), in up to ${MAX_INPUT_BYTES / 1024} KB. With \`image_url\` an endpoint that takes an image is chosen.`,
    { prompt: 'A lighthouse on a cliff in a storm, oil painting' },
  ),
  webhook_url: Type.Optional(
    about(
      Type.String({ minLength: 1, maxLength: 2048 }),
      'An http(s) address that is told when the run has ended.',
      'https://example.com/hooks/tollgate',
    ),
  ),
  metadata: Type.Optional(Metadata),
})
export type RunRequest = Static<typeof RunRequest>

export const RunQuery = Closed({
  dry_run: Type.Optional(about(OneOf('true', 'false'), 'Asks only what the run would cost.')),
})
export type RunQuery = Static<typeof RunQuery>

/** How a run is named in a path. */
export const RunAddress = Type.Unsafe<string>({
  anyOf: [RunId, Uuid],
  description: 'The run_id, or the same id written as a UUID.',
})

export const RunsQuery = Closed({
  limit: Type.Optional(PageLimit),
  cursor: Type.Optional(PageCursor(RunId)),
  status: Type.Optional(about(RunStatus, 'Only runs that are so')),
  model: Type.Optional(about(Slug, 'Only runs of the family with this id', 'nano-banana-2')),
})
export type RunsQuery = Static<typeof RunsQuery>

const Url = Type.String()

export const RunOutput = Closed({
  urls: Type.Optional(
    about(Type.Array(Url), 'The files, where they are images or several.', [
      'https://api.example.com/cdn/outputs/45d93e63b196ad2f3568870c00051596.png',
    ]),
  ),
  url: Type.Optional(
    about(
      Url,
      'The file, where it is only one. Whoever has the address can read it.',
      'https://api.example.com/cdn/outputs/45d93e63b196ad2f3568870c00051596.png',
    ),
  ),
  text: Type.Optional(about(Type.String(), 'What a text model has written.')),
  will_delete_at: Type.Optional(about(Timestamp, 'When the files are deleted. Copy what you want to keep.')),
  deleted_at: Type.Optional(about(Timestamp, 'When the files were deleted; their addresses are gone.')),
})

export const Run = Closed({
  object: Type.Literal('run'),
  run_id: RunId,
  status: RunStatus,
  model: about(Slug, 'The id of the family, also where an alias was asked for.', 'nano-banana-2'),
  endpoint: about(Slug, 'What of the family was chosen for the input.', 'nano-banana-2-t2i'),
  created_at: about(Timestamp, 'When it was accepted and charged.'),
  started_at: Type.Optional(about(Timestamp, 'When the work began.')),
  completed_at: Type.Optional(about(Timestamp, 'When it ended, well or not.')),
  credits_charged: about(Type.Number(), 'What was debited when it was accepted.', 10),
  credits_refunded: Type.Optional(about(Type.Number(), 'What was given back when it failed: all of it.', 10)),
  output: Type.Optional(about(RunOutput, 'The result of a completed run.')),
  error: Type.Optional(about(RunError, 'Why a run failed.')),
  metadata: Type.Optional(about(JsonObject, 'What the request gave.', { order: 17 })),
})
export type Run = Static<typeof Run>

export const RunList = ListOf(Run, RunId)
export type RunList = Static<typeof RunList>

const LineOf = <Kind extends string, Shape extends Parameters<typeof Closed>[0]>(kind: Kind, shape: Shape) =>
  Closed({ kind: Type.Literal(kind), ...shape })

const Parameter = about(Type.String(), 'A parameter of `input`.', 'num_images')

/** One step of a price, as `pricing` of the endpoint has it. */
export const QuoteLine = Type.Union([
  LineOf('base', { credits: about(Type.Number(), 'What one unit costs.', 10) }),
  LineOf('quantity', { parameter: Parameter, value: about(Type.Number(), 'How many units it asks for.', 2) }),
  LineOf('multiplier', { parameter: Parameter, value: Type.String(), factor: Type.Number() }),
  LineOf('surcharge', {
    parameter: Parameter,
    usd: Type.Number(),
    usd_per_credit: Type.Number(),
    credits: Type.Number(),
  }),
])
export type QuoteLine = Static<typeof QuoteLine>

/** What a run would cost: the answer to a dry run. */
export const Quote = Closed({
  object: Type.Literal('quote'),
  model: Slug,
  endpoint: Slug,
  credits: about(Type.Number(), 'What the run would be charged with.', 31.5),
  lines: about(Type.Array(QuoteLine), 'How that comes about: base × quantities × multipliers + surcharges.'),
})
export type Quote = Static<typeof Quote>

/** What a request for a run is answered with. */
export const RunOrQuote = Type.Union([Run, Quote])

export const RunEvents = about(Type.String(), 'Server-sent events, as HTML has them (text/event-stream).')
