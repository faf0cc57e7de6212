import { type Static, Type } from 'typebox'
import { EndpointStatus, FamilyStatus, Kind, Mode, OutputType, ParametersSchema } from '../catalog.ts'
import { Closed, Slug } from '../primitives.ts'
import { about } from './about.ts'

const Surcharge = Closed({
  when: about(
    Closed({ parameter: Type.String(), equals: Type.Union([Type.Boolean(), Type.String(), Type.Number()]) }),
    'It is charged when the parameter has this value.',
  ),
  usd: about(Type.Number(), 'In US dollars, as the vendor has it.', 0.015),
  credits: about(Type.Number(), 'The same in credits.', 1.5),
})

export const Pricing = Closed({
  base_credits: about(Type.Number(), 'What one unit costs.', 10),
  quantities: about(Type.Array(Type.String()), 'Parameters that count units; the base is multiplied by each.', [
    'num_images',
  ]),
  multipliers: about(
    Type.Record(Type.String(), Type.Record(Type.String(), Type.Number())),
    'Factors, by the parameter and its value.',
    { resolution: { '1K': 1, '2K': 1.5, '4K': 2 } },
  ),
  surcharges: about(Type.Array(Surcharge), 'What is added once a run.'),
})
export type Pricing = Static<typeof Pricing>

export const ModelEndpoint = Closed({
  id: about(Slug, 'The family and the kind.', 'nano-banana-2-t2i'),
  kind: about(Kind, 'What becomes what: `i2v` makes a video of an image. Chosen by whether `input` has `image_url`.'),
  mode: about(
    Mode,
    'A `sync` run is answered with its result as a rule; an `async` one with 202, and is looked at later.',
  ),
  status: about(EndpointStatus, '`test` endpoints are shown to testers alone.'),
  description: Type.String(),
  parameters_schema: about(ParametersSchema, 'The JSON Schema of `input` (2020-12), with defaults and examples.'),
  pricing: about(Pricing, 'base × quantities × multipliers + surcharges.'),
})

export const ModelFamily = Closed({
  id: about(Slug, 'What to ask for as `model`.', 'nano-banana-2'),
  object: Type.Literal('model_family'),
  name: about(Type.String(), 'For people.', 'Nano Banana 2'),
  aliases: about(Type.Array(Slug), 'Other names that `model` may have.', ['nano']),
  output_type: OutputType,
  status: about(FamilyStatus, '`mixed` where some endpoints are for testers alone.'),
  mode: Type.Optional(about(Mode, 'That of all endpoints, where it is one.')),
  credits_range: about(
    Closed({ min: Type.Number(), max: Type.Number() }),
    'What the cheapest and the dearest input cost.',
    { min: 10, max: 81.5 },
  ),
  endpoints: Type.Array(ModelEndpoint),
})
export type ModelFamily = Static<typeof ModelFamily>

export const ModelList = Closed({ object: Type.Literal('list'), data: Type.Array(ModelFamily) })
export type ModelList = Static<typeof ModelList>
