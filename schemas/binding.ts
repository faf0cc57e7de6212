import { type Static, Type } from 'typebox'
import { Closed, OneOf, Slug } from './primitives.ts'

/** The vendors that Tollgate has an adapter for. The sandbox needs no bindings. */
export const providerNames = ['openai', 'anthropic', 'google', 'replicate', 'fal', 'elevenlabs'] as const
export const ProviderName = OneOf(...providerNames)
export type ProviderName = Static<typeof ProviderName>

const ParameterName = Type.String({ minLength: 1, maxLength: 64 })

const Scalar = Type.Union([Type.String(), Type.Number(), Type.Boolean()])

/**
 * How parameters of a family become one of the provider's. With several names in `from`, their values are joined by a
 * space. A value that is not among `values` cannot be honoured by the binding, and neither can one that is outside the
 * bounds, nor a parameter that has no rule.
 */
export const ParameterRule = Closed({
  from: Type.Union([ParameterName, Type.Array(ParameterName, { minItems: 2 })]),
  /** The path in the provider's request, such as `config.imageConfig.aspectRatio`; absent if nothing is sent. */
  to: Type.Optional(Type.String({ minLength: 1 })),
  /** The provider's value for each of ours, which may be any JSON. */
  values: Type.Optional(Type.Record(Type.String(), Type.Unknown())),
  /** The values that need nothing to be sent, or that are sent as they are. All, if absent. */
  only: Type.Optional(Type.Array(Scalar)),
  /** The values for which nothing is sent, since the provider does the same without being told. */
  omit: Type.Optional(Type.Array(Scalar)),
  /** The provider's bounds where they are narrower than the family's. */
  minLength: Type.Optional(Type.Integer({ minimum: 1 })),
  maxLength: Type.Optional(Type.Integer({ minimum: 1 })),
  maximum: Type.Optional(Type.Number()),
  /** The form in which the value is sent. `files` is a list of one file. */
  as: Type.Optional(OneOf('string', 'list', 'file', 'files')),
})
export type ParameterRule = Static<typeof ParameterRule>

const Unit = Type.String({ minLength: 1 })

/**
 * The price of a unit, in millionths of a currency for so many units. The unit is one that the provider reports, a
 * parameter whose value is a number, `outputs` for the files that were made, `characters` for those of the parameter
 * `text`, or `runs` for the run itself.
 */
export const UnitPrice = Closed({
  unit: Unit,
  /** Units that this one includes and that have a price of their own. */
  without: Type.Optional(Type.Array(Unit, { minItems: 1 })),
  /** The provider leaves it out of its report if the count is 0. */
  mayBeAbsent: Type.Optional(Type.Literal(true)),
  micros: Type.Integer({ minimum: 0 }),
  per: Type.Integer({ minimum: 1 }),
  /** The price holds for inputs that have all these values. */
  when: Type.Optional(Type.Record(ParameterName, Scalar)),
})
export type UnitPrice = Static<typeof UnitPrice>

/** All prices that hold for an input add up. Each unit needs one that holds, or the cost is unknown. */
export const PriceList = Closed({
  currency: Type.String({ pattern: '^[A-Z]{3}$' }),
  units: Type.Array(UnitPrice, { minItems: 1 }),
})
export type PriceList = Static<typeof PriceList>

const Day = Type.String({ pattern: '^\\d{4}-\\d{2}-\\d{2}$' })

/** Where an endpoint's upstream is, and how its parameters are said there. */
export const Binding = Closed({
  endpoint: Slug,
  provider: ProviderName,
  /** The provider's id of the model. */
  model: Type.String({ minLength: 1, maxLength: 200 }),
  /** The operation of the provider's adapter. */
  operation: Type.String({ minLength: 1 }),
  parameters: Type.Array(ParameterRule),
  /** Sent with each request, by path. */
  constants: Type.Optional(Type.Record(Type.String(), Type.Unknown())),
  /** Combinations of values that the provider refuses. A list means any of its values. */
  refuses: Type.Optional(Type.Array(Type.Record(ParameterName, Type.Union([Scalar, Type.Array(Scalar)])))),
  /** Where the addresses of the files are in the result, if the operation does not fix that. */
  output: Type.Optional(Type.String()),
  price: Type.Optional(PriceList),
  /** Why there is no price list. */
  unpriced: Type.Optional(Type.String({ minLength: 1 })),
  /**
   * Where the model and its parameters were looked up, and when. `unconfirmed` if the provider's own description could
   * not be read, so that the parameters are those that others send.
   */
  source: Closed({ at: Type.String({ minLength: 1 }), on: Day, unconfirmed: Type.Optional(Type.Literal(true)) }),
  /** When the provider turns the model off, and what it recommends instead. */
  retiresAt: Type.Optional(Day),
  replacedBy: Type.Optional(Type.String()),
})
export type Binding = Static<typeof Binding>
