import { type Static, Type } from 'typebox'
import { EndpointStatus, FamilyStatus, Kind, Mode, OutputType, ParametersSchema } from '../catalog.ts'
import { Closed, Day, Slug, Timestamp } from '../primitives.ts'
import { about } from './about.ts'

const Surcharge = Closed({
  when: about(
    Closed({ parameter: Type.String(), equals: Type.Union([Type.Boolean(), Type.String(), Type.Number()]) }),
    'The parameter value that triggers the surcharge.',
  ),
  usd: about(Type.Number(), 'The surcharge in US dollars, as the vendor charges it.', 0.015),
  credits: about(Type.Number(), 'The surcharge in credits.', 1.5),
})

export const Pricing = Closed({
  base_credits: about(Type.Number(), 'The price of one unit.', 10),
  quantities: about(Type.Array(Type.String()), 'The parameters whose values multiply the base.', ['num_images']),
  multipliers: about(
    Type.Record(Type.String(), Type.Record(Type.String(), Type.Number())),
    'The factors, by parameter and value.',
    { resolution: { '1K': 1, '2K': 1.5, '4K': 2 } },
  ),
  tokens_per_million: Type.Optional(
    about(
      Closed({ input: Type.Number(), cached_input: Type.Number(), output: Type.Number(), thinking: Type.Number() }),
      [
        'The credits for a million tokens of each kind. The most that a run can use is charged when it is accepted,',
        'and what it did not use is released when it completes.',
      ].join(' '),
      { input: 120, cached_input: 6, output: 600, thinking: 600 },
    ),
  ),
  surcharges: about(Type.Array(Surcharge), 'The surcharges, each added once per run.'),
})
export type Pricing = Static<typeof Pricing>

export const ModelEndpoint = Closed({
  id: about(Slug, 'The family ID and the kind.', 'nano-banana-2-t2i'),
  kind: about(
    Kind,
    [
      'The input and output: `i2v` is image to video. `image_url` in `input` selects an image-to-* kind,',
      '`video_url` a video-to-* kind.',
    ].join(' '),
  ),
  mode: about(
    Mode,
    'The response to a `sync` run usually has the result. The response to an `async` run is 202: poll the run.',
  ),
  status: about(EndpointStatus, 'Only testers see `test` endpoints.'),
  available: about(
    Type.Boolean(),
    [
      'Whether a provider accepts runs of the endpoint now. If not, a sync run gets 503 `unavailable` and costs',
      'nothing, and an async run waits.',
    ].join(' '),
    true,
  ),
  retires_at: Type.Optional(
    about(
      Timestamp,
      'When the last provider of the endpoint turns off the model. Absent if no date is announced.',
      '2027-01-06T00:00:00.000Z',
    ),
  ),
  description: Type.String(),
  parameters_schema: about(ParametersSchema, 'The JSON Schema (2020-12) of `input`, with defaults and examples.'),
  pricing: about(Pricing, 'The price: base × quantities × multipliers + tokens + surcharges.'),
})

export type ModelEndpoint = Static<typeof ModelEndpoint>

export const ModelFamily = Closed({
  id: about(Slug, 'The value for `model` in requests.', 'nano-banana-2'),
  object: Type.Literal('model_family'),
  created: about(
    Type.Literal(0),
    'For clients of OpenAI’s API, which expect a time. When the model was made is unknown.',
  ),
  owned_by: about(Type.Literal('tollgate'), 'For clients of OpenAI’s API, which expect an owner.'),
  shutdown_date: Type.Optional(
    about(Day, 'The day on which the last endpoint retires, in UTC. Absent if no date is announced.', '2027-01-06'),
  ),
  name: about(Type.String(), 'The display name.', 'Nano Banana 2'),
  aliases: about(Type.Array(Slug), 'Other accepted values for `model`.', ['nano']),
  output_type: OutputType,
  status: about(FamilyStatus, '`mixed` if only testers see some of the endpoints.'),
  mode: Type.Optional(about(Mode, 'The mode, if all endpoints share it.')),
  credits_range: about(
    Closed({ min: Type.Number(), max: Type.Number() }),
    'The lowest and the highest price of a run.',
    { min: 10, max: 81.5 },
  ),
  endpoints: Type.Array(ModelEndpoint),
})
export type ModelFamily = Static<typeof ModelFamily>

export const ModelList = Closed({ object: Type.Literal('list'), data: Type.Array(ModelFamily) })
export type ModelList = Static<typeof ModelList>

export const ModelsQuery = Closed({
  output_type: Type.Optional(about(OutputType, 'Only families with this type of output.')),
})

/** A model in a path. */
export const ModelName = about(
  Slug,
  'The ID or an alias of a model family, or the ID of one of its endpoints.',
  'nano-banana-2',
)
