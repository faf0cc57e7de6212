import { type PriceRule, type TokenKind, type TokenUsage, tokenKinds } from '../../../schemas/catalog.ts'

/** The parameter that limits the tokens of an answer, thoughts included. */
export const LONGEST_ANSWER = 'max_output_tokens'

/** What a vendor may add to an input, such as the marks between messages, in tokens. */
const ADDED_TOKENS = 64
const ADDED_TOKENS_PER_MESSAGE = 16

/** No tokenizer makes more than one token of a byte. */
const MIN_BYTES_PER_TOKEN = 1

/** A usual count, for when nobody has counted the tokens. */
const USUAL_BYTES_PER_TOKEN = 4

/** A usual answer, for estimates. */
const USUAL_ANSWER_TOKENS = 1_000

type Input = Record<string, unknown>
type Rates = NonNullable<PriceRule['tokens']>

const NONE: Record<TokenKind, number> = { input: 0, cached_input: 0, output: 0, thinking: 0 }

/** The most tokens that a run can use. The more expensive of answer and thoughts takes all of the answer's limit. */
export const mostTokens = (rates: Rates, input: Input): TokenUsage => ({
  ...NONE,
  input: inputTokens(input, MIN_BYTES_PER_TOKEN),
  [rates.thinking > rates.output ? 'thinking' : 'output']: Number(input[LONGEST_ANSWER]),
})

/** The tokens that a run will probably use. */
export const usualTokens = (input: Input): TokenUsage => ({
  ...NONE,
  input: inputTokens(input, USUAL_BYTES_PER_TOKEN),
  output: Math.min(Number(input[LONGEST_ANSWER]), USUAL_ANSWER_TOKENS),
})

/** The tokens of a run whose provider did not count them. */
export const countTokens = (input: Input, answer: string): TokenUsage => ({
  ...NONE,
  input: inputTokens(input, USUAL_BYTES_PER_TOKEN),
  output: Math.ceil(Buffer.byteLength(answer) / USUAL_BYTES_PER_TOKEN),
  counted: true,
})

const inputTokens = (input: Input, bytesPerToken: number): number => {
  const messages = Array.isArray(input['messages']) ? input['messages'].length : 1
  const bytes = Buffer.byteLength(JSON.stringify(input))
  return Math.ceil(bytes / bytesPerToken) + ADDED_TOKENS + messages * ADDED_TOKENS_PER_MESSAGE
}

/** The kinds of a usage with their counts. */
export const countsOf = (usage: TokenUsage): [TokenKind, number][] => tokenKinds.map(kind => [kind, usage[kind]])
