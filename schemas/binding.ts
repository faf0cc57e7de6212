import { type Static, Type } from 'typebox'
import { TokenKind } from './catalog.ts'
import { Closed, OneOf, Slug } from './primitives.ts'

/** The vendors for which Tollgate has an adapter. The sandbox needs no bindings. */
export const providerNames = ['openai', 'anthropic', 'google', 'replicate', 'fal', 'elevenlabs'] as const
export const ProviderName = OneOf(...providerNames)
export type ProviderName = Static<typeof ProviderName>

const ParameterName = Type.String({ minLength: 1, maxLength: 64 })

const Scalar = Type.Union([Type.String(), Type.Number(), Type.Boolean()])

/**
 * Maps parameters of a family to a parameter of the provider. With several names in `from`, the values are joined by a
 * space. A binding cannot serve a request with a value that is not among `values` or is outside the bounds, or with a
 * parameter without a rule.
 */
export const ParameterRule = Closed({
  from: Type.Union([ParameterName, Type.Array(ParameterName, { minItems: 2 })]),
  /** The path in the provider's request, such as `config.imageConfig.aspectRatio`; absent if nothing is sent. */
  to: Type.Optional(Type.String({ minLength: 1 })),
  /** The provider's value, any JSON, for each of the family's values. */
  values: Type.Optional(Type.Record(Type.String(), Type.Unknown())),
  /** The values for which nothing is sent, or that are sent unchanged; all if absent. */
  only: Type.Optional(Type.Array(Scalar)),
  /** The values that are the provider's defaults, so nothing is sent. */
  omit: Type.Optional(Type.Array(Scalar)),
  /** The provider's bounds, if they are narrower than the family's. */
  minLength: Type.Optional(Type.Integer({ minimum: 1 })),
  maxLength: Type.Optional(Type.Integer({ minimum: 1 })),
  maximum: Type.Optional(Type.Number()),
  /** The form of the sent value. `files` is a list of one file, `messages` a conversation whose images are files. */
  as: Type.Optional(OneOf('string', 'list', 'file', 'files', 'messages')),
})
export type ParameterRule = Static<typeof ParameterRule>

const Unit = Type.String({ minLength: 1 })

/**
 * The price of a number of units, in millionths of a currency. The unit is one that the provider reports, a parameter
 * with a number, `outputs` for the generated files, `characters` for the characters of the parameter `text`, or `runs`
 * for the run.
 */
export const UnitPrice = Closed({
  unit: Unit,
  /** Units that are included in this one but have prices of their own. */
  without: Type.Optional(Type.Array(Unit, { minItems: 1 })),
  /** The provider omits the unit from its report if the count is 0. */
  mayBeAbsent: Type.Optional(Type.Literal(true)),
  micros: Type.Integer({ minimum: 0 }),
  per: Type.Integer({ minimum: 1 }),
  /** The kind of token that the unit counts. */
  tokens: Type.Optional(TokenKind),
  /** The price applies to inputs with all these values. */
  when: Type.Optional(Type.Record(ParameterName, Scalar)),
})
export type UnitPrice = Static<typeof UnitPrice>

/** All prices that apply to an input add up. If no price applies to a unit, the cost is unknown. */
export const PriceList = Closed({
  currency: Type.String({ pattern: '^[A-Z]{3}$' }),
  units: Type.Array(UnitPrice, { minItems: 1 }),
})
export type PriceList = Static<typeof PriceList>

const Day = Type.String({ pattern: '^\\d{4}-\\d{2}-\\d{2}$' })

/** The upstream of an endpoint, and how the parameters map to the upstream's. */
export const Binding = Closed({
  endpoint: Slug,
  provider: ProviderName,
  /** The provider's ID of the model. */
  model: Type.String({ minLength: 1, maxLength: 200 }),
  /** The operation of the provider's adapter. */
  operation: Type.String({ minLength: 1 }),
  parameters: Type.Array(ParameterRule),
  /** Sent with each request, by path. */
  constants: Type.Optional(Type.Record(Type.String(), Type.Unknown())),
  /** Combinations of values that the provider refuses. A list stands for any of its values. */
  refuses: Type.Optional(Type.Array(Type.Record(ParameterName, Type.Union([Scalar, Type.Array(Scalar)])))),
  /** The path of file addresses in the result, unless the operation determines it. */
  output: Type.Optional(Type.String()),
  price: Type.Optional(PriceList),
  /** The reason why there is no price list. */
  unpriced: Type.Optional(Type.String({ minLength: 1 })),
  /**
   * Where and when the model and its parameters were looked up. `unconfirmed`: the provider's own description could not
   * be read, so the parameters follow the requests of others.
   */
  source: Closed({ at: Type.String({ minLength: 1 }), on: Day, unconfirmed: Type.Optional(Type.Literal(true)) }),
  /** When the provider turns the model off, and the replacement that it recommends. */
  retiresAt: Type.Optional(Day),
  replacedBy: Type.Optional(Type.String()),
})
export type Binding = Static<typeof Binding>
