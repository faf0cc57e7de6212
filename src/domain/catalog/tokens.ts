import { type PriceRule, type TokenKind, type TokenUsage, tokenKinds } from '../../../schemas/catalog.ts'

/** The parameter that limits the tokens of an answer, thoughts included. */
export const LONGEST_ANSWER = 'max_output_tokens'

/** The most that a vendor adds to an input, such as the marks between messages, in tokens. */
const ADDED_TOKENS = 64
const ADDED_TOKENS_PER_MESSAGE = 16

/** The usual ratio, for runs whose provider reports no tokens, and for estimates. */
const USUAL_BYTES_PER_TOKEN = 4

/** A usual answer, for estimates. */
const USUAL_ANSWER_TOKENS = 1_000

type Input = Record<string, unknown>
type Rates = NonNullable<PriceRule['tokens']>

const NONE: Record<TokenKind, number> = { input: 0, cached_input: 0, output: 0, thinking: 0 }

/**
 * The most tokens that a run can use: no tokenizer makes more than one of a byte. The more expensive of answer and
 * thoughts takes all of the answer's limit.
 */
export const mostTokens = (rates: Rates, input: Input): TokenUsage => ({
  ...NONE,
  input: bytesIn(input) + ADDED_TOKENS + messagesIn(input) * ADDED_TOKENS_PER_MESSAGE,
  [rates.thinking > rates.output ? 'thinking' : 'output']: Number(input[LONGEST_ANSWER]),
})

/** The tokens that a run will probably use. */
export const usualTokens = (input: Input): TokenUsage => ({
  ...NONE,
  input: Math.ceil(bytesIn(input) / USUAL_BYTES_PER_TOKEN),
  output: Math.min(Number(input[LONGEST_ANSWER]), USUAL_ANSWER_TOKENS),
})

/** The tokens of a run whose provider did not count them. */
export const countTokens = (input: Input, answer: string): TokenUsage => ({
  ...NONE,
  input: Math.ceil(bytesIn(input) / USUAL_BYTES_PER_TOKEN),
  output: Math.ceil(Buffer.byteLength(answer) / USUAL_BYTES_PER_TOKEN),
  counted: true,
})

const messagesIn = ({ messages }: Input): number => (Array.isArray(messages) ? messages.length : 1)

/**
 * The bytes of the values of an input, and of all that lies in them. The names of its parameters do not reach a model.
 */
const bytesIn = (input: Input): number => sumOf(Object.values(input).map(bytesOf))

const bytesOf = (value: unknown): number => {
  if (typeof value !== 'object' || value === null) return Buffer.byteLength(String(value))
  if (Array.isArray(value)) return sumOf(value.map(bytesOf))
  return sumOf(Object.entries(value).flat().map(bytesOf))
}

const sumOf = (counts: number[]): number => counts.reduce((sum, count) => sum + count, 0)

/** The kinds of a usage with their counts. */
export const countsOf = (usage: TokenUsage): [TokenKind, number][] => tokenKinds.map(kind => [kind, usage[kind]])
