import { type Static, Type } from 'typebox'
import { C2pa, RunError } from '../account-events.ts'
import { TokenKind } from '../catalog.ts'
import { ToolCall } from '../conversation.ts'
import {
  Closed,
  JsonObject,
  KeyId,
  Label,
  MAX_GRANT_MICROS,
  MAX_INPUT_BYTES,
  MAX_LABEL_LENGTH,
  MAX_METADATA_BYTES,
  MAX_TEXT_BYTES,
  OneOf,
  RunId,
  Sha256,
  Slug,
  Timestamp,
  Url,
  Uuid,
} from '../primitives.ts'
import { RunStatus } from '../views.ts'
import { about } from './about.ts'
import { ListOf, PageCursor, PageLimit } from './list.ts'
import { Moment } from './moment.ts'

/** The OpenAPI document adds an enum. */
export const ModelId = about(
  Type.String({ minLength: 1, maxLength: 64 }),
  'The ID or an alias of a model family, or the ID of an endpoint, which selects that endpoint.',
  'nano-banana-2',
)

const Metadata = about(
  JsonObject,
  `Your own data, up to ${MAX_METADATA_BYTES / 1024} KB of JSON, stored with the run.`,
  {
    order: 17,
  },
)

const RunLabel = about(
  Label,
  [
    `The purpose of the run, such as a project or customer: 1 to ${MAX_LABEL_LENGTH} printable characters.`,
    'The run and its lines in the ledger show it.',
  ].join(' '),
  'spring campaign',
)

export const RunRequest = Closed({
  model: ModelId,
  input: about(
    JsonObject,
    [
      `The input of the model, up to ${MAX_INPUT_BYTES / 1024} KB of JSON. It must match the \`parameters_schema\``,
      'of the endpoint, which `GET /v1/models` and the tool list_models return. `image_url` selects an endpoint that',
      'takes an image, and `video_url` an endpoint that takes a video. A null optional parameter counts as absent.',
    ].join(' '),
    { prompt: 'A lighthouse on a cliff in a storm, oil painting' },
  ),
  webhook_url: Type.Optional(
    about(
      Type.String({ minLength: 1, maxLength: 2048, format: 'uri' }),
      'The http(s) URL that receives a webhook when the run ends.',
      'https://example.com/hooks/tollgate',
    ),
  ),
  metadata: Type.Optional(Metadata),
  label: Type.Optional(RunLabel),
  budget: Type.Optional(
    about(Label, 'The name of the budget that the run spends from: see `POST /v1/budgets`.', 'customer 17'),
  ),
  max_credits: Type.Optional(
    about(
      Type.Number({ minimum: 0, maximum: MAX_GRANT_MICROS / 1_000_000 }),
      'The most that the run may cost. A run that can cost more is refused.',
      12.5,
    ),
  ),
  store: Type.Optional(
    about(
      Type.Literal(false),
      '`false`: nothing is kept after the response, and files stay 10 minutes. Not for async models or webhooks.',
      false,
    ),
  ),
  stream: Type.Optional(
    about(
      Type.Boolean(),
      [
        'For text models: `true` streams the answer as server-sent events. `delta` events hold `{ "text": … }`, the',
        'further text, and a `run` event at the end holds the run. `Accept: text/event-stream` has the same effect.',
      ].join(' '),
      true,
    ),
  ),
})
export type RunRequest = Static<typeof RunRequest>

export const RunQuery = Closed({
  dry_run: Type.Optional(about(Type.Boolean(), '`true` returns the price without running the model.')),
})

/** `store` of OpenAI's API. */
export const OpenAiStore = Type.Optional(
  about(Type.Boolean(), 'Only `false`: the service keeps nothing of the run. Without it, the run is kept.', false),
)

/** The ID of a run in a path. */
export const RunAddress = Type.Unsafe<string>({
  anyOf: [RunId, Uuid],
  description: 'The `run_id`, or the same ID written as a UUID.',
})

/** The page of runs to list. */
export const RunsFilter = Closed({
  limit: Type.Optional(PageLimit),
  cursor: Type.Optional(PageCursor(RunId)),
  status: Type.Optional(about(RunStatus, 'Only runs with this status.')),
  model: Type.Optional(
    about(
      Slug,
      [
        'Only runs of this model: the ID or an alias of a family, or the ID of a single endpoint.',
        'If the model does not exist, the list is empty.',
      ].join(' '),
      'nano-banana-2',
    ),
  ),
  label: Type.Optional(about(Label, 'Only runs with exactly this label.', 'spring campaign')),
  key_id: Type.Optional(about(KeyId, 'Only runs of this API key.')),
  from: Type.Optional(Moment('Returns only runs that were accepted at this time or later.')),
  to: Type.Optional(Moment('Returns only runs that were accepted before this time.')),
})

export const RunsQuery = Closed({
  ...RunsFilter.properties,
  include: Type.Optional(
    about(OneOf('input'), '`input` includes the input of each run. A page with large inputs has fewer runs.'),
  ),
})
export type RunsQuery = Static<typeof RunsQuery>

const Provenance = Closed({
  sha256: about(Sha256, 'The SHA-256 hash of the file. The service stores the file exactly as the provider sent it.'),
  c2pa: Type.Optional(
    about(
      C2pa,
      [
        '`present` if the file has a C2PA manifest, which says how the file was made. The service does not verify the',
        'manifest: verify it before you rely on it. `absent` means only that the file has no manifest. Older runs lack',
        'this field.',
      ].join(' '),
      'present',
    ),
  ),
  provider: Type.Optional(about(Slug, 'The provider that made the file; `sandbox` for samples.', 'fal')),
  model: about(Slug, 'The ID of the model family that made the file.', 'nano-banana-2'),
})

export const RunOutput = Closed({
  urls: Type.Optional(
    about(Type.Array(Url), 'The URLs of the files, for images and for several files.', [
      'https://api.example.com/cdn/outputs/45d93e63b196ad2f3568870c00051596.png',
    ]),
  ),
  url: Type.Optional(
    about(
      Url,
      'The URL of the file, if there is only one file. Anyone with the URL can read the file.',
      'https://api.example.com/cdn/outputs/45d93e63b196ad2f3568870c00051596.png',
    ),
  ),
  text: Type.Optional(
    about(
      Type.String(),
      [
        'The answer of a text model, or the thoughts of an image model that thinks.',
        `A text of more than ${MAX_TEXT_BYTES / 1024} KB as JSON becomes a \`text/plain\` file, whose URL is the last.`,
      ].join(' '),
    ),
  ),
  tool_calls: Type.Optional(
    about(
      Type.Array(ToolCall),
      'The functions that a text model calls. Send the conversation with this answer and the results of the functions.',
      [{ id: 'call_1', type: 'function', function: { name: 'read_tide', arguments: '{"port":"Ostend"}' } }],
    ),
  ),
  provenance: Type.Optional(
    about(
      Type.Array(Provenance),
      'The origin of each file, in the order of the URLs. It remains when the files are deleted.',
    ),
  ),
  will_delete_at: Type.Optional(
    about(Timestamp, 'When the files will be deleted. Copy the files that you want to keep.'),
  ),
  deleted_at: Type.Optional(about(Timestamp, 'When the files were deleted. Their URLs are no longer shown.')),
})

/** The mode of a run. Clients know the name from other APIs. */
export const Livemode = about(
  Type.Boolean(),
  '`false` with a test key: the sandbox does the run, and nothing is charged.',
  true,
)

const LiveCredits = Type.Optional(about(Type.Number(), 'In test mode, the price with a live key.', 10))

export const RunWarning = Closed({
  code: Type.Literal('model_retires'),
  message: about(Type.String(), 'The warning in words.', 'gemini-3-flash-t2t retires at 2027-01-06 00:00 UTC.'),
  retires_at: about(
    Timestamp,
    'When the endpoint retires. The service then refuses its runs.',
    '2027-01-06T00:00:00.000Z',
  ),
  replaced_by: Type.Optional(about(Slug, 'The family that replaces the model.', 'gemini-4-flash')),
})
export type RunWarning = Static<typeof RunWarning>

const Tokens = (description: string, example: number) => about(Type.Integer({ minimum: 0 }), description, example)

const Usage = Closed({
  input_tokens: Tokens('The tokens of the input, with those that the provider had cached.', 46),
  cached_input_tokens: Tokens('The input tokens that the provider had cached.', 0),
  output_tokens: Tokens('The tokens of the answer, with those that the model only thought.', 212),
  thinking_tokens: Tokens('The output tokens that the model only thought, if the provider counts them apart.', 0),
  counted: Type.Optional(
    about(Type.Literal(true), 'The service counted the tokens, since the provider did not report them.'),
  ),
})

export const Run = Closed({
  object: Type.Literal('run'),
  run_id: RunId,
  livemode: Livemode,
  status: RunStatus,
  model: about(Slug, 'The ID of the model family, even if the request used an alias.', 'nano-banana-2'),
  endpoint: about(Slug, 'The endpoint of the family, selected by the input.', 'nano-banana-2-t2i'),
  provider: Type.Optional(
    about(Slug, 'The provider that does or did the work; `sandbox` for samples. Absent before the run starts.', 'fal'),
  ),
  created_at: about(Timestamp, 'When the run was accepted and charged.'),
  started_at: Type.Optional(about(Timestamp, 'When the run started.')),
  completed_at: Type.Optional(about(Timestamp, 'When the run completed or failed.')),
  input: Type.Optional(
    about(
      JsonObject,
      [
        'The input as the service applied it, with defaults and the seed: send this input again to repeat the result.',
        'Lists include it with `include=input`. Webhooks, event streams and MCP tools omit it, and so do all responses',
        'while the log is unavailable. Keys with the scope `read` see the URLs in it without their query.',
      ].join(' '),
      { prompt: 'A quiet mountain lake at sunrise', num_images: 1, seed: 42 },
    ),
  ),
  credits_charged: about(Type.Number(), 'The credits debited when the run was accepted; 0 in test mode.', 10),
  live_credits: LiveCredits,
  credits_refunded: Type.Optional(
    about(
      Type.Number(),
      'The credits refunded: the full charge of a failed run, or the refunds by the operator of a completed run.',
      10,
    ),
  ),
  credits_released: Type.Optional(
    about(
      Type.Number(),
      'For models with a price by the token: what was reserved when the run was accepted, and was not needed.',
      1.25,
    ),
  ),
  usage: Type.Optional(about(Usage, 'The tokens of a completed run of a text model.')),
  finish_reason: Type.Optional(
    about(
      OneOf('length', 'cancelled'),
      'Why the text of a completed run is cut off: at its longest length, or since the run was cancelled.',
      'length',
    ),
  ),
  output: Type.Optional(about(RunOutput, 'The result of a completed run.')),
  error: Type.Optional(about(RunError, 'Why the run failed.')),
  store: Type.Optional(about(Type.Literal(false), '`false` if nothing of the run is kept.', false)),
  metadata: Type.Optional(about(JsonObject, 'The metadata of the request.', { order: 17 })),
  label: Type.Optional(about(Label, 'The label of the request.', 'spring campaign')),
  budget: Type.Optional(about(Label, 'The named budget that the run was charged to.', 'customer 17')),
  warnings: Type.Optional(
    about(
      Type.Array(RunWarning),
      'The announced retirement of the endpoint. Lists, webhooks and event streams omit warnings.',
    ),
  ),
})
export type Run = Static<typeof Run>

export const RunList = ListOf(Run, RunId)
export type RunList = Static<typeof RunList>

const LineOf = <Kind extends string, Shape extends Parameters<typeof Closed>[0]>(kind: Kind, shape: Shape) =>
  Closed({ kind: Type.Literal(kind), ...shape })

const Parameter = about(Type.String(), 'A parameter of `input`.', 'num_images')

/** One step of a price, in the order of the endpoint's `pricing`. */
export const QuoteLine = Type.Union([
  LineOf('base', { credits: about(Type.Number(), 'The price of one unit.', 10) }),
  LineOf('quantity', { parameter: Parameter, value: about(Type.Number(), 'The number of units.', 2) }),
  LineOf('multiplier', { parameter: Parameter, value: Type.String(), factor: Type.Number() }),
  LineOf('tokens', {
    tokens: about(TokenKind, 'The kind of token. Cached input is not part of `input`, nor thoughts of `output`.'),
    count: about(Type.Integer({ minimum: 0 }), 'The most that the run can use, or what it used.', 4096),
    credits_per_million: about(Type.Number(), 'The price of a million tokens.', 600),
  }),
  LineOf('surcharge', {
    parameter: Parameter,
    usd: Type.Number(),
    usd_per_credit: Type.Number(),
    credits: Type.Number(),
  }),
])
export type QuoteLine = Static<typeof QuoteLine>

/** The price of a run: the response to a dry run. */
export const Quote = Closed({
  object: Type.Literal('quote'),
  livemode: Livemode,
  model: Slug,
  endpoint: Slug,
  credits: about(
    Type.Number(),
    'The price of the run, or for models with a price by the token the most that it can cost; 0 in test mode.',
    31.5,
  ),
  likely_credits: Type.Optional(
    about(
      Type.Number(),
      'For models with a price by the token: the price of an input of usual text and of an answer of 400 tokens.',
      0.7,
    ),
  ),
  live_credits: LiveCredits,
  lines: about(Type.Array(QuoteLine), 'The calculation: base × quantities × multipliers + tokens + surcharges.'),
})
export type Quote = Static<typeof Quote>

/** The response to `POST /v1/run`. */
export const RunOrQuote = Type.Union([Run, Quote])

export const RunEvents = about(
  Type.String(),
  'Server-sent events (`text/event-stream`), as the HTML standard defines them.',
)
