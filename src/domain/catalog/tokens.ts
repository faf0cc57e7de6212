import { MAX_TOKENS, type PriceRule, type TokenKind, type TokenUsage, tokenKinds } from '../../../schemas/catalog.ts'
import type { ToolCall } from '../../../schemas/conversation.ts'
import { filesIn } from './inputs.ts'

/** The parameter that limits the tokens of an answer, thoughts included. */
export const LONGEST_ANSWER = 'max_output_tokens'

/** The most that a vendor adds to an input, such as the marks between messages, in tokens. */
const ADDED_TOKENS = 64
const ADDED_TOKENS_PER_PART = 16

/** The instructions that a vendor adds if there are tools. */
const ADDED_TOKENS_WITH_TOOLS = 512

/** The usual ratio, for runs whose provider reports no tokens, and for estimates. */
const USUAL_BYTES_PER_TOKEN = 4

/** An image of about a megapixel. */
const USUAL_IMAGE_TOKENS = 1_000

/** A usual answer, for estimates. */
export const USUAL_ANSWER_TOKENS = 400

type Input = Record<string, unknown>
type Rule = Pick<PriceRule, 'tokens' | 'tokenLimits'>

const NONE: Record<TokenKind, number> = { input: 0, cached_input: 0, output: 0, thinking: 0 }

/** The most tokens that a run can use. The more expensive of answer and thoughts takes all of the answer's limit. */
export const mostTokens = ({ tokens, tokenLimits }: Rule, input: Input): TokenUsage => ({
  ...NONE,
  input: Math.min(mostInput(input, tokenLimits), tokenLimits?.input ?? MAX_TOKENS),
  [tokens && tokens.thinking > tokens.output ? 'thinking' : 'output']: Number(input[LONGEST_ANSWER]),
})

/** No tokenizer makes more than one token of a byte. */
const mostInput = (input: Input, limits: PriceRule['tokenLimits']): number => {
  const { messages, tools } = input as { messages?: unknown[]; tools?: unknown[] }
  const parts = (messages?.length ?? 1) + (tools?.length ?? 0)
  const added = ADDED_TOKENS + parts * ADDED_TOKENS_PER_PART + (tools?.length ? ADDED_TOKENS_WITH_TOOLS : 0)
  return bytesIn(input) + added + imagesIn(input).length * (limits?.image ?? 0)
}

/** The tokens that a run will probably use. */
export const usualTokens = ({ tokenLimits }: Rule, input: Input): TokenUsage => ({
  ...NONE,
  input: usualInput(input, tokenLimits?.image ?? 0),
  output: Math.min(Number(input[LONGEST_ANSWER]), USUAL_ANSWER_TOKENS),
})

/** The tokens of a run whose provider did not count them. */
export const countTokens = (input: Input, text: string, toolCalls: readonly ToolCall[] = []): TokenUsage => ({
  ...NONE,
  input: usualInput(input, USUAL_IMAGE_TOKENS),
  output: Math.ceil(sumOf([text, ...toolCalls.map(call => call.function)].map(bytesOf)) / USUAL_BYTES_PER_TOKEN),
  counted: true,
})

const usualInput = (input: Input, imageTokens: number): number =>
  Math.ceil(bytesIn(input) / USUAL_BYTES_PER_TOKEN) + imagesIn(input).length * imageTokens

/**
 * The bytes of the values of an input, and of all that lies in them, except for the addresses of images. The names of
 * its parameters do not reach a model.
 */
const bytesIn = (input: Input): number => sumOf(Object.values(input).map(bytesOf)) - sumOf(imagesIn(input).map(bytesOf))

const imagesIn = (input: Input): string[] =>
  filesIn(input).flatMap(({ place, url }) => (place.startsWith('messages/') ? [url] : []))

const bytesOf = (value: unknown): number => {
  if (typeof value !== 'object' || value === null) return Buffer.byteLength(String(value))
  if (Array.isArray(value)) return sumOf(value.map(bytesOf))
  return sumOf(Object.entries(value).flat().map(bytesOf))
}

const sumOf = (counts: number[]): number => counts.reduce((sum, count) => sum + count, 0)

/** The kinds of a usage with their counts. */
export const countsOf = (usage: TokenUsage): [TokenKind, number][] => tokenKinds.map(kind => [kind, usage[kind]])
