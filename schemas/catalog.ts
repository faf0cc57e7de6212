import { type Static, type TSchema, Type } from 'typebox'
import { Closed, JsonObject, Micros, OneOf, Slug, Tagged } from './primitives.ts'

export const OutputType = OneOf('image', 'video', 'audio', 'text')
export type OutputType = Static<typeof OutputType>
export const Kind = OneOf('t2i', 'i2i', 't2v', 'i2v', 'v2v', 't2a', 't2t')
export type Kind = Static<typeof Kind>
export const Mode = OneOf('sync', 'async')
export type Mode = Static<typeof Mode>
export const EndpointStatus = OneOf('public', 'test')
export const FamilyStatus = OneOf('public', 'test', 'mixed')
export type FamilyStatus = Static<typeof FamilyStatus>

const Parameter = Type.String({ minLength: 1, maxLength: 64 })

/** A factor in millionths, so that 1.5 is the integer 1,500,000. */
const FactorMicros = Type.Integer({ minimum: 1, maximum: Number.MAX_SAFE_INTEGER })

/** An amount in millionths of a US dollar, added once per request if a parameter has a value. */
export const Surcharge = Closed({
  when: Closed({ parameter: Parameter, equals: Type.Union([Type.Boolean(), Type.String(), Type.Number()]) }),
  usdMicros: Type.Integer({ minimum: 1, maximum: Number.MAX_SAFE_INTEGER }),
})

/**
 * The tokens of a text model. Input tokens that the provider had cached, and tokens that the model only thought, are
 * not among the others.
 */
export const tokenKinds = ['input', 'cached_input', 'output', 'thinking'] as const
export const TokenKind = OneOf(...tokenKinds)
export type TokenKind = Static<typeof TokenKind>

/** Counts or prices by kind of token. */
const byTokenKind = <Shape extends TSchema>(shape: Shape) =>
  Closed({ input: shape, cached_input: shape, output: shape, thinking: shape })

/** No model takes or makes as many for one run. */
export const MAX_TOKENS = 1_000_000_000

/** The tokens that a run has used. `counted`: the service counted them, since the provider did not report them. */
export const TokenUsage = Closed({
  ...byTokenKind(Type.Integer({ minimum: 0, maximum: MAX_TOKENS })).properties,
  counted: Type.Optional(Type.Literal(true)),
})
export type TokenUsage = Static<typeof TokenUsage>

/** The price of a million tokens of each kind. */
const PerMillionMicros = Type.Integer({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER })

/**
 * The price of a request: base × quantities × multipliers + tokens + surcharges. What tokens cost is known when the run
 * ends, so the most that they can cost is debited, and the rest is released.
 */
export const PriceRule = Closed({
  /** 0 only if tokens have a price. */
  baseMicros: Micros,
  quantities: Type.Array(Parameter),
  multipliers: Type.Record(Type.String(), Type.Record(Type.String(), FactorMicros)),
  tokens: Type.Optional(byTokenKind(PerMillionMicros)),
  /** The most tokens of an input, and of an image in it. */
  tokenLimits: Type.Optional(
    Closed({
      input: Type.Integer({ minimum: 1, maximum: MAX_TOKENS }),
      image: Type.Integer({ minimum: 1, maximum: MAX_TOKENS }),
    }),
  ),
  surcharges: Type.Array(Surcharge),
})
export type PriceRule = Static<typeof PriceRule>

/** A JSON Schema 2020-12 document for an endpoint's input. */
export const ParametersSchema = Type.Object({
  type: Type.Literal('object'),
  properties: Type.Record(Type.String(), JsonObject),
  required: Type.Optional(Type.Array(Type.String())),
  /** Parameters of which an input has exactly one. */
  oneOf: Type.Optional(Type.Array(Closed({ required: Type.Array(Type.String(), { minItems: 1, maxItems: 1 }) }))),
  additionalProperties: Type.Literal(false),
  examples: Type.Optional(Type.Array(JsonObject)),
})
export type ParametersSchema = Static<typeof ParametersSchema>

/**
 * How often work is submitted to a provider that does not accept it, and the wait before the second attempt. The wait
 * doubles after each attempt.
 */
export const Retry = Closed({
  attempts: Type.Integer({ minimum: 1, maximum: 10 }),
  backOffMs: Type.Integer({ minimum: 1, maximum: 60_000 }),
})
export type Retry = Static<typeof Retry>

/** `timeoutMs`: the time after which a started run fails and is refunded. */
export const Endpoint = Closed({
  id: Slug,
  kind: Kind,
  mode: Mode,
  status: EndpointStatus,
  description: Type.String(),
  timeoutMs: Type.Integer({ minimum: 1 }),
  retry: Type.Optional(Retry),
  parametersSchema: ParametersSchema,
  pricing: PriceRule,
})
export type Endpoint = Static<typeof Endpoint>

export const Family = Closed({
  id: Slug,
  aliases: Type.Array(Slug),
  name: Type.String(),
  outputType: OutputType,
  endpoints: Type.Array(Endpoint, { minItems: 1 }),
  /** The IDs of withdrawn families that this family replaces. Errors for these families name this one. */
  replaces: Type.Optional(Type.Array(Slug)),
})
export type Family = Static<typeof Family>
export const Families = Type.Array(Family)

/** One step of a price, in order of evaluation. An auditor can recompute the total from the receipt alone. */
export const ReceiptLine = Tagged(
  'kind',
  Closed({ kind: Type.Literal('base'), amountMicros: Micros }),
  Closed({ kind: Type.Literal('quantity'), parameter: Parameter, value: Type.Number() }),
  Closed({ kind: Type.Literal('multiplier'), parameter: Parameter, value: Type.String(), factorMicros: FactorMicros }),
  Closed({
    kind: Type.Literal('tokens'),
    tokens: TokenKind,
    /** The most that the run can use, or what it has used. */
    count: Type.Integer({ minimum: 0 }),
    perMillionMicros: PerMillionMicros,
  }),
  Closed({
    kind: Type.Literal('surcharge'),
    parameter: Parameter,
    /** The value that caused the surcharge; absent in receipts of format 1. */
    equals: Type.Optional(Surcharge.properties.when.properties.equals),
    usdMicros: Micros,
    amountMicros: Micros,
  }),
)
export type ReceiptLine = Static<typeof ReceiptLine>

/**
 * The calculation of a debit, or of what a run with a price for tokens did cost. `catalogRevision` is the revision of
 * the `catalog` event with the price rule.
 */
export const Receipt = Closed({
  catalogRevision: Type.Integer({ minimum: 0 }),
  model: Slug,
  endpoint: Slug,
  lines: Type.Array(ReceiptLine),
  totalMicros: Micros,
  /** The rate for surcharges; absent in receipts of format 1 without a surcharge. */
  usdPerCreditMicros: Type.Optional(Micros),
  /** The service counted the tokens, since the provider did not report them. */
  counted: Type.Optional(Type.Literal(true)),
})
export type Receipt = Static<typeof Receipt>
