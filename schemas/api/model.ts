import { type Static, Type } from 'typebox'
import { EndpointStatus, FamilyStatus, Kind, Mode, OutputType, ParametersSchema } from '../catalog.ts'
import { Closed, Slug } from '../primitives.ts'

export const Pricing = Closed({
  base_credits: Type.Number(),
  quantities: Type.Array(Type.String()),
  multipliers: Type.Record(Type.String(), Type.Record(Type.String(), Type.Number())),
  surcharges: Type.Array(
    Closed({
      when: Closed({ parameter: Type.String(), equals: Type.Union([Type.Boolean(), Type.String(), Type.Number()]) }),
      usd: Type.Number(),
      credits: Type.Number(),
    }),
  ),
})
export type Pricing = Static<typeof Pricing>

export const ModelEndpoint = Closed({
  id: Slug,
  kind: Kind,
  mode: Mode,
  status: EndpointStatus,
  description: Type.String(),
  parameters_schema: ParametersSchema,
  pricing: Pricing,
})

export const ModelFamily = Closed({
  id: Slug,
  object: Type.Literal('model_family'),
  name: Type.String(),
  aliases: Type.Array(Slug),
  output_type: OutputType,
  status: FamilyStatus,
  mode: Type.Optional(Mode),
  credits_range: Closed({ min: Type.Number(), max: Type.Number() }),
  endpoints: Type.Array(ModelEndpoint),
})
export type ModelFamily = Static<typeof ModelFamily>

export const ModelList = Closed({ object: Type.Literal('list'), data: Type.Array(ModelFamily) })
export type ModelList = Static<typeof ModelList>
